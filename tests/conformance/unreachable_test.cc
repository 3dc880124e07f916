// Peers without a path: the reason names both ends, the path, and the last node that was reached.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "core/circuit/circuit_setup.h"
#include "core/settings/settings.h"
#include "tests/conformance/suite.h"
#include "tools/cableway/node/topology_source.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;

// As this rank gives it: another one would be refused before any path is looked for.
TunerMark mark_of(Rank& rank) {
  auto [handle, listener] = rank.listen();
  const absl::StatusOr<ListenHandle> parsed = decode_listen_handle(handle);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
  return parsed.ok() ? parsed->tuner : TunerMark{};
}

// A connect that is in progress at the same time as others.
struct Attempt {
  Attempt(const std::string& node, const TunerMark& mark) {
    const auto bytes = encode_listen_handle({Cookie{}, 4000, node, 0, mark});
    std::copy(bytes.begin(), bytes.end(), handle.begin());
  }
  Handle handle{};
  void* comm = nullptr;
  abi::Result result = abi::kSuccess;
};

class UnreachableTest : public testing::TestWithParam<int> {};

// Polls all attempts until each has a result.
void finish(Rank& rank, std::vector<Attempt>& attempts) {
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
}

bool joins(const routing::Topology& topology, const std::string& one, const std::string& other) {
  return std::any_of(topology.cables().begin(), topology.cables().end(), [&](const routing::Cable& cable) {
    const std::string& a = topology.node(cable.a.node).name;
    const std::string& b = topology.node(cable.b.node).name;
    return (a == one && b == other) || (a == other && b == one);
  });
}

// Waits until node a has the advertisement that b has lost c. On a slow machine a may have lost b as well for a while.
void wait_until_c_is_lost(const World& world) {
  Settings settings;
  settings.runtime_dir = world.runtime_dir("a");
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (Clock::now() < end) {
    const auto known = cli::find_topology(settings, "", std::chrono::seconds(20));
    ASSERT_TRUE(known.ok()) << known.status();
    if (joins(known->topology, "a", "b") && !joins(known->topology, "b", "c")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ADD_FAILURE() << "node a does not notice that c is gone";
}

TEST_P(UnreachableTest, NodesAreNamedWithTheNearestThatCanBeReached) {
  // Nodes n and m, beyond n, are not started.
  World world({{"a", "b"}, {"b", "c"}, {"c", "d"}, {"a", "n"}, {"n", "m"}}, "a");
  for (const char* node : {"a", "b", "c", "d"}) world.start(node);
  RankProcess connecting(world, "a", GetParam(), [&](Rank& rank, Line&) {
    const TunerMark mark = mark_of(rank);
    std::vector<Attempt> reached = {Attempt("d", mark)};
    finish(rank, reached);
    expect_warning("no circuit " + world.path({"a", "b", "c", "d"}) + ": node c does not connect to TCP port 4000 of " +
                   "node d, which has not announced a process that accepts circuits there");
    world.stop("c");
    wait_until_c_is_lost(world);
    std::vector<Attempt> lost = {Attempt("d", mark), Attempt("m", mark)};
    finish(rank, lost);
    expect_warning("connect: node a has lost its path to node d; the nearest to it that can be reached is node b");
    expect_warning("connect: node a knows of no node \"m\" in its cluster; known nodes: a, b");
  });
  connecting.finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, UnreachableTest, oldest_and_newest_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
