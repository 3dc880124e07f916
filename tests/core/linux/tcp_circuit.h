// A circuit over loopback TCP in one thread: a source's link, relays with real pipes, a destination's link.
#ifndef CABLEWAY_TESTS_CORE_LINUX_TCP_CIRCUIT_H_
#define CABLEWAY_TESTS_CORE_LINUX_TCP_CIRCUIT_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/linux/pipe_slot.h"
#include "core/linux/tcp_chunk_link.h"
#include "core/relay_circuit.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::linux_::test {

class TcpCircuit {
 public:
  TcpCircuit(std::size_t relays, int socket_buffer_bytes, std::uint32_t pipe_bytes) {
    for (std::size_t i = 0; i <= relays; ++i) {
      auto [left, right] = connected_pair(socket_buffer_bytes);
      add_link(std::move(left), i == 0);
      add_link(std::move(right), i == relays);
    }
    for (std::size_t i = 0; i < relays; ++i) {
      auto slots = make_pipe_slots(2, pipe_bytes);
      EXPECT_TRUE(slots.ok()) << slots.status();
      relays_.push_back(std::make_unique<RelayCircuit>(*links_[2 * i + 1], *links_[2 * i + 2], *std::move(slots)));
    }
  }

  TcpChunkLink& source() { return *links_.front(); }
  TcpChunkLink& destination() { return *links_.back(); }
  std::vector<std::unique_ptr<RelayCircuit>>& relays() { return relays_; }
  // The relays' turn. The first failure is kept.
  void relay() {
    // Nobody polls here.
    for (std::size_t i = 1; i + 1 < links_.size(); ++i) links_[i]->on_readable(false);
    for (const auto& relay : relays_) {
      if (status_.ok()) status_ = relay->progress().status();
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  void add_link(UniqueFd socket, bool flow_end) {
    const auto place = flow_end ? TcpChunkLink::Place::kFlowEnd : TcpChunkLink::Place::kRelay;
    links_.push_back(std::make_unique<TcpChunkLink>(std::move(socket), place));
  }

  std::vector<std::unique_ptr<TcpChunkLink>> links_;
  std::vector<std::unique_ptr<RelayCircuit>> relays_;
  absl::Status status_;
};

}  // namespace cableway::linux_::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_TCP_CIRCUIT_H_
