#include "core/settings/port_transport.h"

#include "absl/strings/str_cat.h"

namespace cableway {

const char* name_of(PortTransport::Kind kind) {
  switch (kind) {
    case PortTransport::Kind::kRdma:
      return "rdma";
    case PortTransport::Kind::kTcp:
      return "tcp";
    case PortTransport::Kind::kRefused:
      return "refused";
  }
  return "";
}

PortTransport transport_of(const PortFacts& port, TransportSetting setting) {
  using Kind = PortTransport::Kind;
  if (setting == TransportSetting::kTcp) return {Kind::kTcp, "CABLEWAY_TRANSPORT=tcp"};
  if (port.rdma_device.empty()) {
    const std::string none =
        port.rdma_trouble.empty() ? absl::StrCat("no RDMA device behind ", port.interface) : port.rdma_trouble;
    if (setting == TransportSetting::kAuto) return {Kind::kTcp, none};
    return {Kind::kRefused, absl::StrCat("CABLEWAY_TRANSPORT is verbs: ", none)};
  }
  if (port.gid_index < 0) return {Kind::kRefused, port.rdma_trouble};
  return {Kind::kRdma, absl::StrCat(port.rdma_device, ", RoCE v2, GID ", port.gid_index)};
}

}  // namespace cableway
