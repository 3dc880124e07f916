#include "core/linux/hop_link.h"

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "core/linux/data_socket.h"
#include "core/linux/tcp_lifeline.h"
#include "core/rdma_chunk_link.h"

namespace cableway::linux_ {
namespace {

TcpChunkLink::Place tcp_place(HopPlace place) {
  if (place == HopPlace::kRelayUpstream) return TcpChunkLink::Place::kRelayUpstream;
  if (place == HopPlace::kRelayDownstream) return TcpChunkLink::Place::kRelayDownstream;
  return TcpChunkLink::Place::kFlowEnd;
}

class TcpHop final : public HopLink {
 public:
  TcpHop(UniqueFd socket, const HopLinkOptions& options)
      : link_(std::move(socket), tcp_place(options.place), options.slots) {}

  ChunkLink& link() override { return link_; }
  int socket() const override { return link_.socket(); }
  void on_readable(bool ended) override { link_.on_readable(ended); }
  UniqueFd take_socket() override { return link_.take_socket(); }

 private:
  TcpChunkLink link_;
};

absl::Status address_gone(const VerbsDevice& device, const VerbsGid& gid) {
  const absl::Status found = device.check_gid(gid);
  return found.ok() ? found : absl::UnavailableError(found.message());
}

// The upstream end of a hop dials, the downstream end accepts.
RdmaChunkLink::Place rdma_place(const RdmaHalf& half, const HopLinkOptions& options) {
  const bool accepted = options.place == HopPlace::kDestination || options.place == HopPlace::kRelayUpstream;
  return {.last_hop = options.last_hop, .accepted = accepted, .device = half.device_number};
}

class RdmaHop final : public HopLink {
 public:
  RdmaHop(UniqueFd socket, RdmaHalf half, const HopLinkOptions& options)
      : RdmaHop(std::make_unique<TcpLifeline>(std::move(socket)), std::move(half), options) {}

  ChunkLink& link() override { return link_; }
  int socket() const override { return lifeline_.socket(); }
  int completions() const override { return queue_pair_.fd(); }
  void on_readable(bool /*ended*/) override { link_.on_lifeline(); }
  void take_completions() override { queue_pair_.take_events(); }
  absl::Status arm_completions() override { return queue_pair_.arm(); }
  absl::Status check() override {
    if (absl::Status health = queue_pair_.health(); !health.ok()) return health;
    if (const std::uint64_t changes = device_->gid_changes(); std::exchange(gid_changes_, changes) != changes) {
      if (absl::Status gone = address_gone(*device_, queue_pair_.gid()); !gone.ok()) return gone;
    }
    return HopLink::check();
  }
  std::shared_ptr<VerbsDevice> device() const override { return device_; }
  const VerbsQueuePair* queue_pair() const override { return &queue_pair_; }
  UniqueFd take_socket() override {
    link_.fence();
    return lifeline_.take_socket();
  }

 private:
  RdmaHop(std::unique_ptr<TcpLifeline> lifeline, RdmaHalf half, const HopLinkOptions& options)
      : device_(std::move(half.device)),
        queue_pair_(*half.queue_pair),
        lifeline_(*lifeline),
        link_(std::move(half.queue_pair), half.other, std::move(lifeline), rdma_place(half, options)) {}

  const std::shared_ptr<VerbsDevice> device_;
  std::uint64_t gid_changes_ = 0;  // as of the last look
  // The link's own.
  VerbsQueuePair& queue_pair_;
  TcpLifeline& lifeline_;
  RdmaChunkLink link_;
};

}  // namespace

absl::Status HopLink::check() {
  if (!connection_stalled(socket())) return absl::OkStatus();
  return absl::UnavailableError("the cable, or the host behind it, is silent");
}

absl::StatusOr<std::unique_ptr<HopLink>> make_hop_link(HopConnection connection, const HopLinkOptions& options) {
  if (connection.rdma == nullptr) return std::make_unique<TcpHop>(std::move(connection.socket), options);
  auto hop = std::make_unique<RdmaHop>(std::move(connection.socket), std::move(*connection.rdma), options);
  if (hop->completions() < 0) return hop;
  if (absl::Status status = hop->arm_completions(); !status.ok()) return status;
  return hop;
}

}  // namespace cableway::linux_
