// Once a circuit is set up, its data path does not allocate: every operator new in this program is counted.
#include <gtest/gtest.h>
#include <signal.h>

#include <new>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/message_buffers.h"
#include "tests/core/linux/allocation_counter.h"
#include "tests/core/linux/tcp/tcp_circuit.h"

namespace cableway::host {
namespace {

// Moves `rounds` times a full window of messages of `bytes`. Returns whether all arrived.
bool pump(test::TcpCircuit& circuit, FlowSender& sender, FlowReceiver& receiver, std::byte* from, std::byte* to,
          std::size_t bytes, int rounds) {
  constexpr std::uint64_t kWindow = 8;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint64_t i = 0; i < kWindow; ++i) {
      if (!receiver.post(Landing{to, bytes, 0}).ok()) return false;
      if (!sender.post(SendBuffer{from, 0}, bytes).ok()) return false;
    }
    for (std::uint64_t turn = 0; !(sender.idle() && receiver.idle()); ++turn) {
      if (turn > 50'000'000 || !sender.progress().ok() || !receiver.progress().ok()) return false;
      circuit.relay();
      if (turn % 64 == 0) circuit.tick();
      if (!circuit.status().ok()) return false;
    }
  }
  return true;
}

TEST(DataPath, AllocatesNothingAfterSetup) {
  ::signal(SIGPIPE, SIG_IGN);
  for (const std::size_t relays : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    SCOPED_TRACE(relays);
    test::TcpCircuit circuit(relays, 0, 1U << 18);
    FlowSender sender(circuit.source(), 1U << 16);
    FlowReceiver receiver(circuit.destination());
    std::vector<std::byte> from(300000, std::byte{1});
    std::vector<std::byte> to(300000);
    const std::uint64_t before = test::allocations();
    // From the first byte on, since all memory is reserved at set-up. Copied, spliced and empty messages.
    bool moved = true;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{5000}, from.size()}) {
      moved = moved && pump(circuit, sender, receiver, from.data(), to.data(), bytes, 20);
    }
    const std::uint64_t after = test::allocations();
    EXPECT_TRUE(moved);
    EXPECT_EQ(after - before, 0U);
    EXPECT_EQ(from, to);
    EXPECT_EQ(circuit.pool().max_leased() > 0, relays > 0) << "leasing is part of the test";
  }
}

TEST(DataPath, TheCounterCountsAllocations) {
  const std::uint64_t before = test::allocations();
  // Not a new expression: a compiler may omit one whose result is unused.
  ::operator delete(::operator new(16));
  EXPECT_GT(test::allocations(), before);
}

}  // namespace
}  // namespace cableway::host
