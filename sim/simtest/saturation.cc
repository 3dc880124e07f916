#include "sim/simtest/saturation.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/prediction/circuit_world.h"
#include "sim/prediction/path_chooser.h"
#include "sim/simtest/plan/simtest_random.h"
#include "sim/simtest/rules/resource_graph.h"
#include "sim/simtest/rules/trace_hash.h"

namespace cableway::sim {
namespace {

constexpr std::uint32_t kChunk = 4096;
constexpr std::uint64_t kMessageChunks = 3;
constexpr std::size_t kMessages = 2;  // of each flow
constexpr std::chrono::microseconds kLookEvery{200};
constexpr std::chrono::seconds kLimit{120};

routing::Topology random_topology(SimtestRandom& random, std::size_t max_nodes) {
  const auto count = static_cast<std::uint32_t>(random.between(2, max_nodes));
  std::vector<routing::Node> nodes(count);
  for (std::uint32_t i = 0; i < count; ++i) nodes[i].name = absl::StrCat("n", i);
  std::vector<routing::Cable> cables;
  const auto add = [&](std::uint32_t a, std::uint32_t b) {
    routing::Cable cable;
    cable.name = absl::StrCat("c", cables.size());
    cable.a.node = routing::NodeIndex{a};
    cable.b.node = routing::NodeIndex{b};
    const std::size_t subnet = cables.size();
    cable.a.address = absl::StrCat("10.", subnet / 256, ".", subnet % 256, ".1");
    cable.b.address = absl::StrCat("10.", subnet / 256, ".", subnet % 256, ".2");
    cable.rate_mbps = random.between(1, 3) * 1000;
    cables.push_back(std::move(cable));
  };
  // A tree; often a line, which has the longest paths.
  const bool line = random.happens(200);
  for (std::uint32_t i = 1; i < count; ++i) add(line ? i - 1 : static_cast<std::uint32_t>(random.below(i)), i);
  if (line && random.happens(700) && count > 2) add(count - 1, 0);
  for (std::uint64_t more = random.below(count); more > 0; --more) {
    const auto a = static_cast<std::uint32_t>(random.below(count));
    const auto b = static_cast<std::uint32_t>(random.below(count));
    if (a != b) add(a, b);
  }
  return *routing::Topology::create("saturation", std::move(nodes), std::move(cables));
}

// One flow: posts everything as soon as there is room.
class SaturatedFlow {
 public:
  SaturatedFlow(CircuitWorld& world, const routing::Path& path, std::byte* memory, TraceHash& trace)
      : source_(*this),
        destination_(*this),
        memory_(memory),
        world_(world),
        trace_(trace),
        flow_(world.open(path, source_, destination_)) {}

  void start() {
    destination_.wake();
    source_.wake();
  }
  bool done() const { return sent_ == kMessages && flow_.sender().idle() && flow_.receiver().idle(); }
  const absl::Status& status() const { return status_; }

 private:
  class Source final : public LinkUser {
   public:
    explicit Source(SaturatedFlow& flow) : flow_(flow) {}
    void wake() override { flow_.move_source(); }

   private:
    SaturatedFlow& flow_;
  };
  class Destination final : public LinkUser {
   public:
    explicit Destination(SaturatedFlow& flow) : flow_(flow) {}
    void wake() override { flow_.move_destination(); }

   private:
    SaturatedFlow& flow_;
  };

  void note(const absl::Status& status) {
    if (status_.ok()) status_ = status;
    trace_.add(static_cast<std::uint64_t>(world_.now().since_start.count()));
  }
  void move_source() {
    if (!status_.ok()) return;
    note(flow_.sender().progress());
    for (; status_.ok() && sent_ < kMessages; ++sent_) {
      note(flow_.sender().post(SendBuffer{memory_, 0}, kMessageChunks * kChunk).status());
    }
  }
  void move_destination() {
    if (!status_.ok()) return;
    note(flow_.receiver().progress());
    for (; status_.ok() && received_ < kMessages; ++received_) {
      note(flow_.receiver().post(Landing{memory_, kMessageChunks * kChunk, 0}).status());
    }
  }

  Source source_;
  Destination destination_;
  std::byte* memory_;
  CircuitWorld& world_;
  TraceHash& trace_;
  RoutedFlow& flow_;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
  absl::Status status_;
};

CircuitOptions random_options(SimtestRandom& random) {
  CircuitOptions options;
  options.chunk_bytes = kChunk;
  options.wire.buffer_bytes = 0;
  options.wire.window_bytes = random.one_of(std::vector<std::uint64_t>{1, 2ULL * kChunk, 64ULL * kChunk});
  options.relay.leases = static_cast<std::size_t>(random.one_of(std::vector<std::uint64_t>{0, 1, 3, 16}));
  options.relay.leases_per_circuit = static_cast<std::size_t>(random.between(1, 2));
  return options;
}

using Flows = std::vector<std::unique_ptr<SaturatedFlow>>;

Flows open_all_to_all(CircuitWorld& world, PathChooser& paths, std::byte* memory, TraceHash& trace) {
  const auto count = static_cast<std::uint32_t>(world.topology().node_count());
  Flows flows;
  flows.reserve(std::size_t{count} * count);
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = 0; b < count; ++b) {
      if (a == b) continue;
      const routing::Path path = paths.next(routing::NodeIndex{a}, routing::NodeIndex{b});
      flows.push_back(std::make_unique<SaturatedFlow>(world, path, memory, trace));
    }
  }
  return flows;
}

}  // namespace

SimtestResult run_saturation(std::uint64_t seed, std::size_t max_nodes) {
  SimtestRandom random(seed);
  const routing::Topology topology = random_topology(random, max_nodes);
  VirtualClock clock;
  CircuitWorld world(clock, topology, random_options(random));
  PathChooser paths(topology);
  TraceHash trace;
  RuleBook rules(clock);
  std::vector<std::byte> memory(kMessageChunks * kChunk);
  Flows flows = open_all_to_all(world, paths, memory.data(), trace);
  for (const std::unique_ptr<SaturatedFlow>& flow : flows) flow->start();
  const auto done = [&] {
    return std::all_of(flows.begin(), flows.end(), [](const auto& flow) { return flow->done(); });
  };
  ResourceGraph graph;
  add_waits(world, graph);
  for (int looks = 0; !done() && clock.now() < Instant{kLimit}; ++looks) {
    clock.run_for(kLookEvery);
    // Leases change over time; each check costs as much as many chunks.
    if (looks == 1 || looks == 5 || looks == 20) add_waits(world, graph);
  }
  if (const std::vector<std::string> cycle = graph.find_cycle(); !cycle.empty()) {
    rules.broken(5, absl::StrCat("circular wait: ", absl::StrJoin(cycle, ", which needs ")));
  }
  SimtestResult result;
  result.messages = flows.size() * kMessages;
  for (const std::unique_ptr<SaturatedFlow>& flow : flows) {
    if (!flow->status().ok()) rules.broken(1, std::string(flow->status().message()));
    if (!flow->done()) rules.broken(5, "a flow of the saturated world makes no progress");
    result.done += flow->done() ? kMessages : 0;
  }
  result.failed = result.messages - result.done;
  result.circuits = flows.size();
  result.broken = rules.first();
  result.trace = trace.value();
  result.virtual_time = clock.now().since_start;
  result.events = clock.calls();
  result.chunks = world.crossings();
  return result;
}

}  // namespace cableway::sim
