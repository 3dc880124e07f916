#include "core/linux/hop_transports.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/hop_names.h"
#include "core/linux/random_value.h"
#include "core/linux/verbs_devices.h"
#include "routing/port_address.h"

namespace cableway::linux_ {
namespace {

// Reasons, for people.
constexpr char kAtBothEnds[] = "both ends have it";
constexpr char kTcpWanted[] = "CABLEWAY_TRANSPORT=tcp";
constexpr char kNoneThere[] = "the other end offers no RDMA";
constexpr char kWithinNode[] = "both ends are on this node";
constexpr char kRouted[] = "IP routers are in between";

bool crosses_no_cable(const CircuitSetup& setup) {
  return setup.this_hop().to_node == setup.this_hop_from();
}

absl::Status no_rdma_there() {
  return absl::FailedPreconditionError("CABLEWAY_TRANSPORT is verbs, and the other end of the cable has no RDMA");
}

// The other end of the cable is where its queue pair is. Another host's would be joined instead, and the kernel would
// first look for it, for up to a second, on the thread that sets circuits up. `address`: that the connection goes to or
// comes from.
absl::Status check_gid(const RdmaEndpoint& other, const std::string& address) {
  const absl::StatusOr<routing::PortAddress> parsed = routing::parse_port_address(address);
  if (!parsed.ok()) return parsed.status();
  if (other.gid == gid_of(*parsed)) return absl::OkStatus();
  routing::PortAddress named;
  named.is_ipv6 = true;
  std::memcpy(named.bytes.data(), other.gid.data(), other.gid.size());
  return absl::InvalidArgumentError(absl::StrCat("the other end of the cable has the address ", address,
                                                 ", and its queue pair the GID ", to_text(named)));
}

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

absl::StatusOr<HopChoice> HopTransports::open(const std::string& address, const std::string& port) {
  if (wanted_ == Transport::kTcp) return HopChoice{nullptr, kTcpWanted};
  const std::string none = absl::StrCat("no RDMA device behind ", port.empty() ? address : port);
  // Most hosts have none at all, and are not asked for more.
  if (wanted_ == Transport::kAuto && host_.sysfs.names("class/infiniband", 1).empty()) return HopChoice{nullptr, none};
  const absl::StatusOr<std::optional<VerbsPort>> found = find(address);
  if (!found.ok()) return found.status();
  if (!found->has_value()) {
    if (wanted_ == Transport::kVerbs) return no_rdma_at(address);
    return HopChoice{nullptr, none};
  }
  absl::StatusOr<VerbsDevices::Numbered> device = VerbsDevices::of_this_process().open((*found)->device);
  if (!device.ok()) return device.status();
  auto queue_pair = VerbsQueuePair::create(device->device, (*found)->gid, random_packet_sequence(), options_, idle_);
  if (!queue_pair.ok()) return queue_pair.status();
  auto half = std::make_unique<RdmaHalf>();
  half->device = std::move(device->device);
  half->device_number = device->number;
  half->queue_pair = *std::move(queue_pair);
  return HopChoice{std::move(half), kAtBothEnds};
}

absl::StatusOr<HopChoice> HopTransports::offer(const CircuitSetup& setup) {
  if (crosses_no_cable(setup)) return HopChoice{nullptr, kWithinNode};
  // A router need not know RoCE.
  if (setup.this_hop().routed) return HopChoice{nullptr, kRouted};
  return open(setup.this_hop().from_address, dialing_end(setup, setup.hop).port);
}

absl::Status HopTransports::settle(const CircuitSetup& setup, const SetupAnswer& answer, HopChoice& offered) const {
  if (offered.rdma == nullptr) {
    if (!answer.rdma) return absl::OkStatus();
    return absl::InvalidArgumentError("it answered with a queue pair, and none was offered");
  }
  if (!answer.rdma) {
    if (wanted_ == Transport::kVerbs) return no_rdma_there();
    offered = {nullptr, kNoneThere};
    return absl::OkStatus();
  }
  if (absl::Status there = check_gid(*answer.rdma, setup.this_hop().to_address); !there.ok()) return there;
  offered.rdma->other = *answer.rdma;
  return offered.rdma->queue_pair->connect(offered.rdma->other);
}

absl::StatusOr<HopChoice> HopTransports::join(const CircuitSetup& setup, const std::string& own_address) {
  if (crosses_no_cable(setup)) return HopChoice{nullptr, kWithinNode};
  if (setup.this_hop().routed) return HopChoice{nullptr, kRouted};
  if (!setup.rdma) {
    if (wanted_ == Transport::kVerbs) return no_rdma_there();
    return HopChoice{nullptr, wanted_ == Transport::kTcp ? kTcpWanted : kNoneThere};
  }
  if (absl::Status there = check_gid(*setup.rdma, setup.this_hop().from_address); !there.ok()) return there;
  absl::StatusOr<HopChoice> choice = open(own_address, accepting_end(setup, setup.hop).port);
  if (!choice.ok() || choice->rdma == nullptr) return choice;
  choice->rdma->other = *setup.rdma;
  if (absl::Status joined = choice->rdma->queue_pair->connect(*setup.rdma); !joined.ok()) return joined;
  return choice;
}

}  // namespace cableway::linux_
