// A circuit over loopback TCP in one thread: the source's link, relays with real pipes, the destination's link.
#ifndef CABLEWAY_TESTS_CORE_LINUX_TCP_TCP_CIRCUIT_H_
#define CABLEWAY_TESTS_CORE_LINUX_TCP_TCP_CIRCUIT_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/linux/tcp/pipe_slot.h"
#include "core/linux/tcp/tcp_chunk_link.h"
#include "core/relay/relay_circuit.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host::test {

class TcpCircuit {
 public:
  TcpCircuit(std::size_t relays, int socket_buffer_bytes, std::uint32_t pipe_bytes) {
    for (std::size_t i = 0; i <= relays; ++i) {
      auto [left, right] = connected_pair(socket_buffer_bytes);
      add_link(std::move(left), i == 0);
      add_link(std::move(right), i == relays);
    }
    auto leases = make_pipe_slots(relays, pipe_bytes);
    EXPECT_TRUE(leases.ok()) << leases.status();
    pool_ = std::make_unique<SlotPool>(*std::move(leases), 1);
    for (std::size_t i = 0; i < relays; ++i) {
      auto floor = PipeSlot::create(pipe_bytes);
      EXPECT_TRUE(floor.ok()) << floor.status();
      relays_.push_back(
          std::make_unique<RelayCircuit>(*links_[2 * i + 1], *links_[2 * i + 2], *std::move(floor), *pool_));
    }
  }

  TcpChunkLink& source() { return *links_.front(); }
  TcpChunkLink& destination() { return *links_.back(); }
  std::vector<std::unique_ptr<RelayCircuit>>& relays() { return relays_; }
  // Lets every relay make progress. Keeps the first failure.
  void relay() {
    // No poller runs here.
    for (std::size_t i = 1; i + 1 < links_.size(); ++i) links_[i]->on_readable(false);
    for (const auto& relay : relays_) {
      if (status_.ok()) status_ = relay->progress().status();
    }
  }
  void tick() {
    for (const auto& relay : relays_) relay->tick();
  }
  SlotPool& pool() { return *pool_; }
  const absl::Status& status() const { return status_; }

 private:
  void add_link(UniqueFd socket, bool flow_end) {
    const bool brings_data = links_.size() % 2 == 1;
    const auto at_relay = brings_data ? TcpChunkLink::Place::kRelayUpstream : TcpChunkLink::Place::kRelayDownstream;
    const auto place = flow_end ? TcpChunkLink::Place::kFlowEnd : at_relay;
    links_.push_back(std::make_unique<TcpChunkLink>(std::move(socket), place));
  }

  std::vector<std::unique_ptr<TcpChunkLink>> links_;
  std::unique_ptr<SlotPool> pool_;
  std::vector<std::unique_ptr<RelayCircuit>> relays_;
  absl::Status status_;
};

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_TCP_TCP_CIRCUIT_H_
