#include "sim/simtest/ground/rdma_hop.h"

#include <utility>

namespace cableway::sim {

RdmaHop::RdmaHop(VirtualClock& clock, StubNetwork& network, const RdmaWire::Facts& facts, Transmitter& out,
                 Transmitter& back, StubQueuePair& offered, const End& source, const End& destination)
    : network_(network),
      source_(source),
      destination_(destination),
      there_(clock, network, facts, out),
      back_(clock, network, facts, back),
      source_pair_(offered) {}

absl::StatusOr<RdmaEndpoint> RdmaHop::join(bool last_hop) {
  last_hop_ = last_hop;
  std::unique_ptr<StubQueuePair> pair = network_.make_queue_pair(*destination_.port.device);
  if (absl::Status status = pair->connect(source_pair_.endpoint()); !status.ok()) return status;
  there_.join(source_pair_, source_.user.completions(), *pair, destination_.user.completions());
  back_.join(*pair, destination_.user.completions(), source_pair_, source_.user.completions());
  const RdmaEndpoint answer = pair->endpoint();
  destination_link_ = std::make_unique<LinkEnd>(
      std::move(pair), source_pair_.endpoint(), destination_,
      RdmaChunkLink::Place{.last_hop = last_hop, .accepted = true, .device = destination_.port.number});
  destination_.user.set_beside(*destination_link_);
  return answer;
}

absl::Status RdmaHop::settle(std::unique_ptr<StubQueuePair> offered, const RdmaEndpoint& answered) {
  if (absl::Status status = offered->connect(answered); !status.ok()) return status;
  source_link_ = std::make_unique<LinkEnd>(
      std::move(offered), answered, source_,
      RdmaChunkLink::Place{.last_hop = last_hop_, .accepted = false, .device = source_.port.number});
  source_.user.set_beside(*source_link_);
  return absl::OkStatus();
}

void RdmaHop::hold(bool there, bool back) {
  there_.hold(there, back);
  back_.hold(back, there);
}

void RdmaHop::complete_late(Duration by) {
  there_.complete_late(by);
  back_.complete_late(by);
}

void RdmaHop::fail_next_send() {
  source_pair_.fail_write(0, "remote operation error");
}

}  // namespace cableway::sim
