// A flow whose large messages are striped over circuits, each as fast as the test says, in virtual time.
#ifndef CABLEWAY_TESTS_CORE_FLOW_STRIPED_FLOW_H_
#define CABLEWAY_TESTS_CORE_FLOW_STRIPED_FLOW_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "sim/virtual_clock.h"
#include "tests/core/flow/flow_script.h"
#include "tests/core/flow/loose_hop.h"

namespace cableway::test {

inline constexpr std::uint64_t kKiB = 1U << 10;
inline constexpr std::uint64_t kLarge = 256 * kKiB;  // a message
inline constexpr std::uint32_t kOneBundle = 1;
// A quarter of what flows have.
inline constexpr Striping kQuarter{.small_message = 16 * kKiB,
                                   .chunk_bytes = 32 * kKiB,
                                   .window_bytes = 512 * kKiB,
                                   .most_alternate_bytes = 256 * kKiB};

// Every step is 1 ms, in which each circuit carries as many bytes as it is fast.
class StripedFlow {
 public:
  StripedFlow(const std::vector<std::size_t>& sizes, std::vector<std::uint64_t> bytes_per_ms,
              const std::vector<std::uint32_t>& bundles)
      : script_(sender_, receiver_, sizes, 1), bytes_per_ms_(std::move(bytes_per_ms)), credit_(bytes_per_ms_.size()) {
    for (const std::uint32_t bundle : bundles) join(bundle);
  }

  CircuitName join(std::uint32_t bundle, CircuitShare share = CircuitShare::kBundle) {
    LooseHop& hop = *hops_.emplace_back(std::make_unique<LooseHop>());
    hop.source.max_chunks = GivenChunks::kMax;
    const CircuitName name = *sender_.reserve();
    EXPECT_TRUE(receiver_.join(name, hop.destination, "").ok());
    receiver_.stripe(name, bundle, share);
    EXPECT_TRUE(sender_.join(name, hop.source, "", kMaxChunkBytes).ok());
    sender_.stripe(name, bundle, share);
    return names_.emplace_back(name);
  }

  // The chunks that were given to each circuit meanwhile.
  std::vector<std::vector<Frame>> run(int steps) {
    std::vector<std::vector<Frame>> given(hops_.size());
    for (int i = 0; i < steps; ++i) {
      step();
      for (std::size_t c = 0; c < hops_.size(); ++c) {
        const std::vector<Frame> chunks = hops_[c]->source.new_chunks();
        given[c].insert(given[c].end(), chunks.begin(), chunks.end());
      }
    }
    return given;
  }
  std::vector<std::vector<Frame>> run_to_the_end() {
    std::vector<std::vector<Frame>> given(hops_.size());
    for (int i = 0; i < 100'000 && !script_.finished(); ++i) {
      const auto more = run(1);
      for (std::size_t c = 0; c < more.size(); ++c) given[c].insert(given[c].end(), more[c].begin(), more[c].end());
    }
    EXPECT_TRUE(script_.finished()) << script_.receives_done() << " messages are done";
    return given;
  }
  void set_speed(std::size_t circuit, std::uint64_t bytes_per_ms) { bytes_per_ms_[circuit] = bytes_per_ms; }
  double now_ms() const { return std::chrono::duration<double, std::milli>(clock_.now().since_start).count(); }
  std::uint64_t in_flight(std::size_t circuit) const {
    std::uint64_t bytes = 0;
    for (const auto& each : hops_[circuit]->source.out()) {
      if (each.frame.kind == FrameKind::kChunk) bytes += each.frame.payload;
    }
    return bytes;
  }

  sim::VirtualClock clock_;
  FlowSender sender_{[this] { return clock_.now(); }, kQuarter};
  FlowReceiver receiver_{kQuarter};
  test::FlowScript script_;
  std::vector<std::unique_ptr<LooseHop>> hops_;
  std::vector<CircuitName> names_;
  std::map<std::size_t, std::uint64_t> announced_as_;  // by circuit: the offset of its last announcement

 private:
  void step() {
    clock_.run_for(std::chrono::milliseconds(1));
    while (script_.post_receive()) {
    }
    while (script_.post_send()) {
    }
    turn();
    for (std::size_t c = 0; c < hops_.size(); ++c) {
      credit_[c] += bytes_per_ms_[c];
      carry(c);
    }
    turn();
    script_.notice_done();
    script_.check_order();
  }
  void turn() {
    EXPECT_TRUE(receiver_.progress().ok());
    for (std::size_t c = 0; c < hops_.size(); ++c) {
      for (const auto& each : hops_[c]->destination.out()) {
        if (each.frame.kind == FrameKind::kAnnounce) announced_as_[c] = each.frame.offset;
      }
      while (hops_[c]->deliver_up()) {
      }
    }
    EXPECT_TRUE(sender_.progress().ok());
  }
  void carry(std::size_t circuit) {
    LooseHop& hop = *hops_[circuit];
    while (!hop.source.out().empty() && hop.source.out().front().frame.payload <= credit_[circuit]) {
      credit_[circuit] -= hop.source.out().front().frame.payload;
      hop.deliver_down();
    }
    if (hop.source.out().empty()) credit_[circuit] = 0;  // what is not used is lost
  }

  std::vector<std::uint64_t> bytes_per_ms_;
  std::vector<std::uint64_t> credit_;
};

inline std::uint64_t bytes_of(const std::vector<Frame>& chunks) {
  std::uint64_t bytes = 0;
  for (const Frame& chunk : chunks) bytes += chunk.payload;
  return bytes;
}

inline std::vector<std::uint64_t> payloads(const std::vector<Frame>& chunks) {
  std::vector<std::uint64_t> payloads;
  for (const Frame& chunk : chunks) payloads.push_back(chunk.payload);
  return payloads;
}

inline std::vector<std::size_t> messages(std::size_t count, std::size_t bytes) {
  return std::vector<std::size_t>(count, bytes);
}

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_FLOW_STRIPED_FLOW_H_
