// Peers that no path leads to today: the reason names both ends, the path, and the node that got furthest.
#include <chrono>
#include <thread>

#include "core/circuit_setup.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;

// A connect that goes on while others do.
struct Attempt {
  explicit Attempt(const std::string& node) {
    const auto bytes = encode_listen_handle({Cookie{}, 4000, node});
    std::copy(bytes.begin(), bytes.end(), handle.begin());
  }
  Handle handle{};
  void* comm = nullptr;
  abi::Result result = abi::kSuccess;
};

class UnreachableTest : public testing::TestWithParam<int> {};

TEST_P(UnreachableTest, NodesAreNamedWithTheNearestThatCouldBeReached) {
  // c is down; so is n, right beside a; and s answers nobody.
  LoopbackWorld world({{"a", "b"}, {"b", "c"}, {"c", "d"}, {"a", "n"}, {"n", "m"}, {"a", "s"}, {"s", "t"}}, "a");
  for (const char* node : {"a", "b", "s"}) world.start(node);
  world.stop("s");
  RankProcess connecting(world, "a", GetParam(), [&](Rank& rank, Line&) {
    Attempt attempts[] = {Attempt("d"), Attempt("m"), Attempt("t")};
    // A node may be starting just now, so this takes as long as a set-up may.
    const auto end = Clock::now() + std::chrono::seconds(40);
    bool pending = true;
    while (pending && Clock::now() < end) {
      pending = false;
      for (Attempt& attempt : attempts) {
        if (attempt.result != abi::kSuccess) continue;
        attempt.result = rank.net().connect(0, attempt.handle.data(), &attempt.comm);
        pending = true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (const Attempt& attempt : attempts) {
      EXPECT_EQ(attempt.result, abi::kRemoteError);
      EXPECT_EQ(attempt.comm, nullptr);
    }
    const auto reached = [&](const std::string& from, const std::string& to) {
      const Hop hop = world.hop(from, to);
      return "node " + from + " cannot reach node " + to + " at " + hop.to_address + " port " +
             std::to_string(hop.to_port) + " over cable " + hop.cable + ": ";
    };
    expect_told("no circuit " + world.path({"a", "b", "c", "d"}) + ": " + reached("b", "c") +
                "connection refused (is cablewayd running there?)");
    expect_told("no circuit " + world.path({"a", "n", "m"}) + ": " + reached("a", "n") +
                "connection refused (is cablewayd running there?)");
    expect_told("no circuit " + world.path({"a", "s", "t"}) + ": " + reached("a", "s") + "no answer to the set-up");
  });
  connecting.finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, UnreachableTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
