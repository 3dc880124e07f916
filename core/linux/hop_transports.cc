#include "core/linux/hop_transports.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/random_value.h"
#include "core/linux/verbs_devices.h"
#include "routing/port_address.h"

namespace cableway::linux_ {
namespace {

absl::Status no_rdma_at(const std::string& address) {
  return absl::FailedPreconditionError(
      absl::StrCat("CABLEWAY_TRANSPORT is verbs, and the port with address ", address, " has no RDMA device"));
}

}  // namespace

VerbsOptions verbs_options(const Settings& settings) {
  return {settings.rdma_service_level, settings.rdma_traffic_class, settings.rdma_timeout, settings.rdma_retries};
}

absl::StatusOr<std::optional<VerbsPort>> HopTransports::find(const std::string& address) {
  if (const auto found = found_.find(address); found != found_.end()) {
    const auto device = VerbsDevices::of_this_process().open(found->second.device);
    if (device.ok() && device->device->check_gid(found->second.gid).ok()) return found->second;
    found_.erase(found);
  }
  const absl::StatusOr<routing::PortAddress> parsed = routing::parse_port_address(address);
  if (!parsed.ok()) return parsed.status();
  absl::StatusOr<std::optional<VerbsPort>> port = verbs_port_of(*parsed, host_);
  if (port.ok() && port->has_value()) found_[address] = **port;
  return port;
}

absl::StatusOr<std::unique_ptr<RdmaHalf>> HopTransports::open(const std::string& address) {
  if (wanted_ == Transport::kTcp) return nullptr;
  // Most hosts have none at all, and are not asked for more.
  if (wanted_ == Transport::kAuto && host_.sysfs.names("class/infiniband", 1).empty()) return nullptr;
  const absl::StatusOr<std::optional<VerbsPort>> port = find(address);
  if (!port.ok()) return port.status();
  if (!port->has_value()) {
    if (wanted_ == Transport::kVerbs) return no_rdma_at(address);
    return nullptr;
  }
  absl::StatusOr<VerbsDevices::Numbered> device = VerbsDevices::of_this_process().open((*port)->device);
  if (!device.ok()) return device.status();
  auto queue_pair = VerbsQueuePair::create(device->device, (*port)->gid, random_packet_sequence(), options_);
  if (!queue_pair.ok()) return queue_pair.status();
  auto half = std::make_unique<RdmaHalf>();
  half->device = std::move(device->device);
  half->device_number = device->number;
  half->queue_pair = *std::move(queue_pair);
  return half;
}

absl::Status HopTransports::settle(const SetupAnswer& answer, std::unique_ptr<RdmaHalf>& offered) const {
  if (offered == nullptr) {
    if (!answer.rdma) return absl::OkStatus();
    return absl::InvalidArgumentError("it answered with a queue pair, and none was offered");
  }
  if (!answer.rdma) {
    offered.reset();
    if (wanted_ != Transport::kVerbs) return absl::OkStatus();
    return absl::FailedPreconditionError("CABLEWAY_TRANSPORT is verbs, and the other end of the cable has no RDMA");
  }
  offered->other = *answer.rdma;
  return offered->queue_pair->connect(offered->other);
}

absl::StatusOr<std::unique_ptr<RdmaHalf>> HopTransports::join(const CircuitSetup& setup,
                                                              const std::string& own_address) {
  if (!setup.rdma) {
    const bool has_cable = !setup.this_hop().routed && setup.this_hop().to_node != setup.this_hop_from();
    if (wanted_ != Transport::kVerbs || !has_cable) return nullptr;
    return absl::FailedPreconditionError("CABLEWAY_TRANSPORT is verbs, and the other end of the cable has no RDMA");
  }
  absl::StatusOr<std::unique_ptr<RdmaHalf>> half = open(own_address);
  if (!half.ok() || *half == nullptr) return half;
  (*half)->other = *setup.rdma;
  if (absl::Status joined = (*half)->queue_pair->connect(*setup.rdma); !joined.ok()) return joined;
  return half;
}

}  // namespace cableway::linux_
