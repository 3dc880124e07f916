#include "core/linux/rdma/rdma_transport.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/hop_names.h"
#include "core/linux/os/random_value.h"
#include "core/linux/rdma/right_neighbour.h"
#include "core/linux/rdma/verbs_devices.h"
#include "core/rdma/rdma_endpoint.h"
#include "routing/topology/port_address.h"

namespace cableway::host {
namespace {

// Reasons in messages.
constexpr char kTcpWanted[] = "CABLEWAY_TRANSPORT=tcp";
constexpr char kNoneThere[] = "the other end offers no RDMA";

// The GID must belong to the other end of the cable. Otherwise another host's queue pair would be joined, and the
// kernel would first resolve it, for up to a second, on the thread that sets up circuits. `address` is the connection's
// remote address.
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

class RdmaEnd final : public HostEnd {
 public:
  explicit RdmaEnd(RdmaHalf half) : half_(std::move(half)) {}

  std::string name() const override { return absl::StrCat("rdma ", half_.device->name()); }
  std::vector<std::byte> parameters() const override { return encode_rdma_endpoint(half_.endpoint()); }
  std::uint32_t max_chunk_bytes() const override { return RdmaChunkLink::kChunkBytes; }
  absl::StatusOr<std::unique_ptr<HopLink>> make_link(UniqueFd connection, const HopLinkOptions& options) override {
    return std::make_unique<RdmaHop>(std::move(connection), std::move(half_), options);
  }
  SlotKind slots() const override { return SlotKind::kRegistered; }
  SlotDevice slot_device() const override { return {half_.device, half_.device_number}; }

  RdmaHalf& half() { return half_; }

 private:
  RdmaHalf half_;
};

TransportChoice choice_of(RdmaTransport::Opened opened) {
  if (!opened.half) return {nullptr, std::move(opened.why)};
  return {make_rdma_end(*std::move(opened.half)), kAtBothEnds};
}

}  // namespace

std::unique_ptr<HostEnd> make_rdma_end(RdmaHalf half) {
  return std::make_unique<RdmaEnd>(std::move(half));
}

absl::StatusOr<std::optional<VerbsPort>> RdmaTransport::find(const std::string& address) {
  if (const auto found = found_.find(address); found != found_.end()) {
    const auto device = host_.open_device(found->second.device);
    if (device.ok() && device->device->find_gid(found->second.gid).ok()) return found->second;
    found_.erase(found);
  }
  const absl::StatusOr<routing::PortAddress> parsed = routing::parse_port_address(address);
  if (!parsed.ok()) return parsed.status();
  absl::StatusOr<std::optional<VerbsPort>> port = verbs_port_of(*parsed, host_);
  if (port.ok() && port->has_value()) found_[address] = **port;
  return port;
}

absl::StatusOr<RdmaTransport::Opened> RdmaTransport::open(const std::string& address, const std::string& port) {
  if (wanted_ == TransportSetting::kTcp) return Opened{{}, kTcpWanted};
  const std::string none = absl::StrCat("no RDMA device behind ", port.empty() ? address : port);
  // Most hosts have no device, so nothing else is read on them.
  if (wanted_ == TransportSetting::kAuto && host_.sysfs.names("class/infiniband", 1).empty()) return Opened{{}, none};
  const absl::StatusOr<std::optional<VerbsPort>> found = find(address);
  if (!found.ok()) return found.status();
  if (!found->has_value()) {
    if (wanted_ == TransportSetting::kVerbs) return no_rdma_at(address);
    return Opened{{}, none};
  }
  absl::StatusOr<PortInterface> interface = read_port_interface(host_.sysfs, (*found)->interface);
  if (!interface.ok()) return interface.status();
  absl::StatusOr<VerbsDevices::Numbered> device = host_.open_device((*found)->device);
  if (!device.ok()) return device.status();
  auto queue_pair = VerbsQueuePair::create(device->device, (*found)->gid, random_packet_sequence(), options_, idle_);
  if (!queue_pair.ok()) return queue_pair.status();
  Opened opened;
  opened.half.emplace(
      RdmaHalf{std::move(device->device), device->number, *std::move(queue_pair), {}, *std::move(interface)});
  return opened;
}

absl::Status RdmaTransport::join(RdmaHalf& half, const RdmaEndpoint& other, const std::string& address) {
  if (absl::Status there = check_gid(other, address); !there.ok()) return there;
  if (other.ethernet.is_zero() != half.interface.ethernet.is_zero()) {
    return absl::InvalidArgumentError(absl::StrCat("set-up: the Ethernet address ", to_text(other.ethernet),
                                                   " does not fit interface ", half.interface.name));
  }
  // A hop between two processes over the loopback interface has no neighbour to check.
  if (other.ethernet.is_zero()) {
    half.other = other;
    return half.queue_pair->connect(other);
  }
  const CableNeighbour neighbour{half.interface.name, half.interface.index, *routing::parse_port_address(address),
                                 other.ethernet};
  if (absl::Status right = direct_to_neighbour(*host_.neighbours, neighbour); !right.ok()) return right;
  half.other = other;
  if (absl::Status joined = half.queue_pair->connect(other); !joined.ok()) return joined;
  return confirm_neighbour(*host_.neighbours, neighbour);
}

absl::StatusOr<TransportChoice> RdmaTransport::offer(const CircuitSetup& setup) {
  absl::StatusOr<Opened> opened = open(setup.this_hop().from_address, dialing_end(setup, setup.hop).port);
  if (!opened.ok()) return opened.status();
  return choice_of(*std::move(opened));
}

absl::Status RdmaTransport::settle(const CircuitSetup& setup, const SetupConnection& /*connection*/,
                                   TransportEnd& offered, std::span<const std::byte> parameters) {
  const absl::StatusOr<RdmaEndpoint> other = decode_rdma_endpoint(parameters);
  if (!other.ok()) return other.status();
  return join(static_cast<RdmaEnd&>(offered).half(), *other, setup.this_hop().to_address);
}

absl::StatusOr<TransportChoice> RdmaTransport::join(const CircuitSetup& setup, const SetupConnection& connection,
                                                    std::span<const std::byte> parameters) {
  const absl::StatusOr<RdmaEndpoint> other = decode_rdma_endpoint(parameters);
  if (!other.ok()) return other.status();
  const std::string& address = setup.this_hop().from_address;
  // Checked first, so that no device is opened for an invalid offer.
  if (absl::Status there = check_gid(*other, address); !there.ok()) return there;
  absl::StatusOr<Opened> opened = open(connection.own_address(), accepting_end(setup, setup.hop).port);
  if (!opened.ok()) return opened.status();
  if (opened->half) {
    if (absl::Status joined = join(*opened->half, *other, address); !joined.ok()) return joined;
  }
  return choice_of(*std::move(opened));
}

absl::StatusOr<std::string> RdmaTransport::missing_there() const {
  if (wanted_ == TransportSetting::kVerbs) {
    return absl::FailedPreconditionError("CABLEWAY_TRANSPORT is verbs, and the other end of the cable has no RDMA");
  }
  return wanted_ == TransportSetting::kTcp ? kTcpWanted : kNoneThere;
}

}  // namespace cableway::host
