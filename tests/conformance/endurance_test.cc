// Thousands of connections, one after the other: neither memory nor descriptors grow, in the process that opens them or
// in the node that relays them.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "tests/conformance/ranks/process_footprint.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;

// Where everything runs ten to fifty times slower (suite.h) a tenth or less of the rounds shows the same leaks.
constexpr int kLocalCycles = kSlowBuild ? 500 : 10'000;
constexpr int kRelayedCycles = kSlowBuild ? 100 : 1'000;
// After this fraction of them everything that is kept permanently has been allocated.
constexpr int kWarmUp = 10;
// The variation of an allocator. A leak of one descriptor's bookkeeping or of one buffer exceeds it: 9,000 cycles that
// leak 500 bytes each are more.
constexpr std::int64_t kSlackKib = 4096;

struct Footprint {
  explicit Footprint(pid_t process) : resident(resident_kib(process)), descriptors(open_descriptors(process)) {}
  std::int64_t resident;
  std::int64_t descriptors;
};

void expect_flat(const char* where, pid_t process, const Footprint& before) {
  const std::int64_t descriptors = settled_descriptors(process, before.descriptors);
  EXPECT_LE(descriptors, before.descriptors) << where;
  const std::int64_t growth = resident_kib(process) - before.resident;
  std::printf("%s: %+lld KiB resident, %lld descriptors before and %lld after\n", where, static_cast<long long>(growth),
              static_cast<long long>(before.descriptors), static_cast<long long>(descriptors));
  // A sanitizer keeps freed memory, to detect accesses to it.
  if (!kSlowBuild) {
    EXPECT_LE(growth, kSlackKib) << where;
  }
}

void report_rate(const char* what, int cycles, Clock::time_point begin) {
  const auto taken = std::chrono::duration<double>(Clock::now() - begin).count();
  std::printf("%s: %d cycles, %.0f a second\n", what, cycles, cycles / taken);
}

class EnduranceTest : public testing::TestWithParam<int> {
 protected:
  World world_{"a"};
};

TEST_P(EnduranceTest, OpenedAndClosedConnectionsLeakNothing) {
  world_.start("a");
  RankProcess(world_, "a", GetParam(), [](Rank& rank, Line&) {
    const auto cycle = [&rank](int number) {
      auto [sender, receiver] = rank.connect_to_self();
      // Some of them carry data: what a flow allocates for its first message must be freed, too.
      if (number % 10 == 0) {
        EXPECT_TRUE(pass_message(rank, sender, receiver, 4000, 1));
      }
      EXPECT_EQ(rank.net().close_send(sender), abi::kSuccess);
      EXPECT_EQ(rank.net().close_recv(receiver), abi::kSuccess);
    };
    const std::int64_t idle = open_descriptors(::getpid());
    for (int i = 0; i < kLocalCycles / kWarmUp; ++i) cycle(i);
    settled_descriptors(::getpid(), idle);
    const Footprint warm(::getpid());
    EXPECT_EQ(warm.descriptors, idle);
    const auto begin = Clock::now();
    for (int i = kLocalCycles / kWarmUp; i < kLocalCycles; ++i) cycle(i);
    report_rate("within a process", kLocalCycles - kLocalCycles / kWarmUp, begin);
    expect_flat("the rank's process", ::getpid(), warm);
    EXPECT_THAT(warnings(), testing::IsEmpty());
  }).finish(std::chrono::seconds(110));
}

TEST_P(EnduranceTest, ARelayKeepsNothingOfCircuitsThatHaveEnded) {
  for (const char* node : {"a", "b", "c"}) world_.start(node);
  const pid_t relay = world_.process("b");
  RankProcess receiver(world_, "c", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    for (int i = 0; i < kRelayedCycles; ++i) {
      void* comm = rank.accept(listener);
      if (i % 10 == 0) {
        EXPECT_TRUE(receive_message(rank, comm, 4000, 1).done);
      }
      EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
    }
  });
  const Handle handle = receiver.receive_handle();
  const std::int64_t idle = steady_descriptors(relay);
  RankProcess sender(world_, "a", GetParam(), [&](Rank& rank, Line& test) {
    const auto cycle = [&](int number) {
      void* comm = rank.connect(handle);
      if (number % 10 == 0) {
        EXPECT_TRUE(send_message(rank, comm, 4000, 1).done);
      }
      EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
    };
    for (int i = 0; i < kRelayedCycles / kWarmUp; ++i) cycle(i);
    test.send("warm");
    test.receive();
    const auto begin = Clock::now();
    for (int i = kRelayedCycles / kWarmUp; i < kRelayedCycles; ++i) cycle(i);
    report_rate("over a relay", kRelayedCycles - kRelayedCycles / kWarmUp, begin);
    test.send("done");
    test.receive();
  });
  EXPECT_EQ(sender.receive(), "warm");
  settled_descriptors(relay, idle);
  const Footprint warm(relay);
  EXPECT_EQ(warm.descriptors, idle);
  sender.send("continue");
  EXPECT_EQ(sender.receive(), "done");
  expect_flat("the relaying node", relay, warm);
  sender.send("end");
  sender.finish();
  receiver.finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, EnduranceTest, oldest_and_newest_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
