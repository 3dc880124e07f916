// One end, on this host, of a hop whose set-up is done: its connection and its transport.
#ifndef CABLEWAY_CORE_LINUX_LINK_HOP_CONNECTION_H_
#define CABLEWAY_CORE_LINUX_LINK_HOP_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/circuit/hop_transport.h"
#include "core/linux/link/host_end.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

struct HopConnection {
  UniqueFd socket;
  std::unique_ptr<HostEnd> end;
  std::string why_transport;      // HopTransport::reason
  std::uint32_t chunk_bytes = 0;  // the largest chunk that the rest of the path accepts
};

inline HopTransport transport_of(const HopConnection& connection) {
  return {connection.end->name(), connection.why_transport};
}

// Arms the link's completions(), if it has any, so that the first completion wakes the thread.
inline absl::StatusOr<std::unique_ptr<HopLink>> make_hop_link(HopConnection connection, const HopLinkOptions& options) {
  absl::StatusOr<std::unique_ptr<HopLink>> link = connection.end->make_link(std::move(connection.socket), options);
  if (!link.ok() || (*link)->completions() < 0) return link;
  if (absl::Status armed = (*link)->arm_completions(); !armed.ok()) return armed;
  return link;
}

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_HOP_CONNECTION_H_
