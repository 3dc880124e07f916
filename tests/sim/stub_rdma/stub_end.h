// Ends of stub queue pairs with their own memory, and a connected pair of them.
#ifndef CABLEWAY_TESTS_SIM_STUB_RDMA_STUB_END_H_
#define CABLEWAY_TESTS_SIM_STUB_RDMA_STUB_END_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "sim/stub_rdma/stub_network.h"

namespace cableway::sim {

inline constexpr std::size_t kStubMemoryBytes = 1024;

struct StubEnd {
  explicit StubEnd(StubDevice& on) : device(on), memory(kStubMemoryBytes), registered(on.register_writable(memory)) {}

  // Writes bytes [at, at + bytes) of this end's memory to the same place of the other's.
  RdmaWrite write(const StubEnd& to, std::size_t at, std::size_t bytes) const {
    RdmaWrite write;
    write.data = memory.data() + at;
    write.bytes = static_cast<std::uint32_t>(bytes);
    write.local_key = registered->keys().local;
    write.to = reinterpret_cast<std::uint64_t>(to.memory.data() + at);
    write.remote_key = to.registered->keys().remote;
    return write;
  }
  absl::Status post(const RdmaWrite& write) const { return pair->post({&write, 1}); }

  // Calls poll() until it returns nothing; stores tickets and notices, and returns the final status.
  absl::Status poll() {
    std::array<RdmaCompletion, 3> completions;
    for (;;) {
      const absl::StatusOr<std::size_t> polled = pair->poll(completions);
      if (!polled.ok()) return polled.status();
      if (*polled == 0) return absl::OkStatus();
      for (std::size_t i = 0; i < *polled; ++i) {
        if (completions[i].kind == RdmaCompletion::Kind::kWritten) {
          tickets.push_back(completions[i].ticket);
        } else {
          notices.push_back(completions[i].notice);
        }
      }
    }
  }
  std::string why() {
    const absl::Status status = poll();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }

  StubDevice& device;
  std::vector<std::byte> memory;
  std::optional<StubMemory> registered;
  std::unique_ptr<StubQueuePair> pair;
  std::vector<std::uint64_t> tickets;
  std::vector<std::uint32_t> notices;
};

inline RdmaWrite reporting(RdmaWrite write, std::uint64_t ticket) {
  write.reports = true;
  write.ticket = ticket;
  return write;
}
inline RdmaWrite notifying(RdmaWrite write, std::uint32_t notice) {
  write.notifies = true;
  write.notice = notice;
  return write;
}

class StubPairTest : public testing::Test {
 protected:
  StubPairTest() { join(left_, right_); }
  void join(StubEnd& left, StubEnd& right) {
    std::tie(left.pair, right.pair) = network_.make_pair(left.device, right.device);
    std::fill(left.memory.begin(), left.memory.end(), std::byte{7});
  }
  absl::Status send(std::size_t at, std::size_t bytes) { return left_.post(left_.write(right_, at, bytes)); }

  StubNetwork network_;
  StubEnd left_{network_.add_device()};
  StubEnd right_{network_.add_device()};
};

}  // namespace cableway::sim

#endif  // CABLEWAY_TESTS_SIM_STUB_RDMA_STUB_END_H_
