// Whole flows over loopback TCP, from end to end and through relays with real pipes.
#include <gtest/gtest.h>
#include <signal.h>

#include <random>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/flow_script.h"
#include "tests/core/linux/tcp/tcp_circuit.h"

namespace cableway::host {
namespace {

struct FlowShape {
  const char* name;
  std::size_t relays;
  int socket_buffer_bytes;
  std::uint32_t pipe_bytes;
  std::uint32_t chunk_bytes;
};

// Prints the name of a shape for gtest.
void PrintTo(const FlowShape& shape, std::ostream* out) {
  *out << shape.name;
}

class FlowOverTcp : public testing::TestWithParam<FlowShape> {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }

  void run(const std::vector<std::size_t>& sizes, std::uint32_t seed) {
    test::TcpCircuit circuit(GetParam().relays, GetParam().socket_buffer_bytes, GetParam().pipe_bytes);
    FlowSender sender(circuit.source(), GetParam().chunk_bytes);
    FlowReceiver receiver(circuit.destination());
    cableway::test::FlowScript script(sender, receiver, sizes, seed);
    std::mt19937 random(seed);
    absl::Status status;
    const bool finished = test::run_until([&] { return script.finished() || !status.ok(); },
                                          [&] {
                                            if (random() % 2 == 0) script.post_send();
                                            if (random() % 2 == 0) script.post_receive();
                                            if (random() % 4 != 0) status.Update(sender.progress());
                                            if (random() % 4 != 0) circuit.relay();
                                            if (random() % 4 != 0) status.Update(receiver.progress());
                                            status.Update(circuit.status());
                                            script.notice_done();
                                            script.check_order();
                                          });
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(finished) << "stalled after " << script.receives_done() << " of " << sizes.size() << " messages";
    circuit.relay();
    for (const auto& relay : circuit.relays()) EXPECT_EQ(relay->slots_in_use(), 0U);
    EXPECT_TRUE(script.no_late_writes());
  }
};

INSTANTIATE_TEST_SUITE_P(
    Shapes, FlowOverTcp,
    testing::Values(FlowShape{"direct", 0, 0, 0, 1U << 20}, FlowShape{"direct_through_small_buffers", 0, 4096, 0, 1024},
                    FlowShape{"one_relay", 1, 0, 1U << 20, 1U << 20},
                    FlowShape{"one_relay_through_small_buffers", 1, 4096, 4096, 16384},
                    // Chunks on both sides of the size at which a relay copies instead of splicing.
                    FlowShape{"one_relay_at_the_copying_edge", 1, 0, 65536, PipeSlot::kHeadBytes},
                    FlowShape{"one_relay_past_the_copying_edge", 1, 0, 65536, PipeSlot::kHeadBytes + 128},
                    FlowShape{"two_relays", 2, 65536, 65536, 1U << 18}),
    [](const testing::TestParamInfo<FlowShape>& shape) { return std::string(shape.param.name); });

TEST_P(FlowOverTcp, DeliversSizesAtEveryBoundary) {
  std::mt19937 random(7);
  const std::size_t chunk = std::min<std::size_t>(GetParam().chunk_bytes, 1U << 16);
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    run(cableway::test::random_sizes(random, 40, chunk), seed);
    if (HasFailure()) return;
  }
}

TEST_P(FlowOverTcp, DeliversMegabytes) {
  // As much as the smallest buffers carry in a unit test's time.
  const std::size_t scale = GetParam().socket_buffer_bytes == 4096 ? 8 : 1;
  run({(3U << 20) / scale + 5, 1, (1U << 20) / scale, 0, (2U << 20) / scale - 1}, 1);
}

}  // namespace
}  // namespace cableway::host
