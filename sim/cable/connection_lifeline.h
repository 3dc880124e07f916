// The lifeline of an RDMA hop (core/rdma/rdma_chunk_link.h) on a simulated connection: the connection on which the hop
// was set up.
#ifndef CABLEWAY_SIM_CABLE_CONNECTION_LIFELINE_H_
#define CABLEWAY_SIM_CABLE_CONNECTION_LIFELINE_H_

#include <deque>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/rdma/rdma_chunk_link.h"
#include "sim/cable/cable_hop.h"

namespace cableway::sim {

class ConnectionLifeline final : public HopLifeline, private ChunkLink::Sink {
 public:
  // One end of the connection, which has no other user and outlives this.
  explicit ConnectionLifeline(CableLink& connection) : connection_(connection) {}

  absl::StatusOr<std::optional<Frame>> look() override;
  void leave(std::span<const Frame> last, const std::optional<Failure>& failure) override;

  // The process is killed: the kernel closes the connection without a last frame.
  void kill_process() { killed_ = true; }

 private:
  absl::Status on_landed(const Frame&) override;
  absl::Status on_chunk(const Frame&, Slot&) override;
  absl::Status on_control(const Frame& control) override;
  void on_sent(Slot*) override {}

  CableLink& connection_;
  std::deque<Frame> received_;  // not yet returned by look()
  absl::Status end_;
  bool killed_ = false;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_CONNECTION_LIFELINE_H_
