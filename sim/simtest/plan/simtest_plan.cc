#include "sim/simtest/plan/simtest_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/simtest/plan/lone_cut.h"
#include "sim/simtest/plan/simtest_random.h"

namespace cableway::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

void add_cable(ShapePlan& shape, std::uint32_t a, std::uint32_t b) {
  shape.cables.push_back(CablePlan{std::min(a, b), std::max(a, b), ""});
}

void make_ring(ShapePlan& shape) {
  for (std::uint32_t i = 0; i < shape.nodes; ++i) add_cable(shape, i, (i + 1) % shape.nodes);
}

void make_line(ShapePlan& shape) {
  for (std::uint32_t i = 0; i + 1 < shape.nodes; ++i) add_cable(shape, i, i + 1);
}

void make_torus(SimtestRandom& random, ShapePlan& shape) {
  const auto rows = static_cast<std::uint32_t>(random.between(3, 4));
  const auto columns = static_cast<std::uint32_t>(random.between(3, shape.nodes > 16 ? 8 : 4));
  shape.nodes = rows * columns;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      add_cable(shape, row * columns + column, row * columns + (column + 1) % columns);
      add_cable(shape, row * columns + column, (row + 1) % rows * columns + column);
    }
  }
}

// A random tree plus random cables: connected, otherwise arbitrary.
void make_random_graph(SimtestRandom& random, ShapePlan& shape) {
  for (std::uint32_t i = 1; i < shape.nodes; ++i) add_cable(shape, static_cast<std::uint32_t>(random.below(i)), i);
  for (std::uint64_t more = random.between(0, shape.nodes); more > 0 && shape.nodes > 1; --more) {
    const auto a = static_cast<std::uint32_t>(random.below(shape.nodes));
    const auto b = static_cast<std::uint32_t>(random.below(shape.nodes));
    if (a != b) add_cable(shape, a, b);
  }
}

ShapePlan make_shape(SimtestRandom& random) {
  ShapePlan shape;
  const bool large = random.happens(8);
  shape.nodes = static_cast<std::uint32_t>(large ? random.between(11, 64) : random.between(3, 10));
  switch (random.below(8)) {
    case 0:
      make_ring(shape);
      break;
    case 1:
      make_line(shape);
      break;
    case 2:
      make_torus(random, shape);
      break;
    default:
      make_random_graph(random, shape);
  }
  if (random.happens(250)) {
    const CablePlan doubled = random.one_of(shape.cables);
    add_cable(shape, doubled.a, doubled.b);
  }
  if (random.happens(100)) {
    for (std::uint32_t node = 0; node < shape.nodes && shape.switch_members.size() < 8; ++node) {
      if (random.happens(500)) shape.switch_members.push_back(node);
    }
    if (shape.switch_members.size() < 2) shape.switch_members.clear();
  }
  if (random.happens(150)) shape.draining.push_back(static_cast<std::uint32_t>(random.below(shape.nodes)));
  return shape;
}

std::uint64_t make_size(SimtestRandom& random, std::uint64_t chunk) {
  const std::vector<std::uint64_t> edges{0, 1, 127, 128, 129, chunk - 1, chunk, chunk + 1, 3 * chunk + 5};
  if (random.happens(700)) return random.one_of(edges);
  if (random.happens(15) && chunk >= 65536) return random.between(1U << 20, 5U << 20);
  return random.below(8 * chunk);
}

FlowPlan make_flow(SimtestRandom& random, const ShapePlan& shape, std::uint32_t slot_bytes) {
  FlowPlan flow;
  flow.source = static_cast<std::uint32_t>(random.below(shape.nodes));
  flow.destination = static_cast<std::uint32_t>(random.below(shape.nodes));
  if (flow.source == flow.destination && !random.happens(100)) flow.destination = (flow.source + 1) % shape.nodes;
  flow.ordinal = random.below(4);
  flow.begins = random.between(Duration(milliseconds(50)), Duration(milliseconds(2500)));
  flow.in_flight = static_cast<std::uint32_t>(random.one_of(std::vector<std::uint64_t>{1, 2, 8, 8, 8, 32}));
  // Relays whose slots hold less reduce it when a circuit is set up.
  const std::vector<std::uint64_t> chunks{128, 256, 4096, slot_bytes, std::uint64_t{4} * slot_bytes};
  flow.chunk_bytes = static_cast<std::uint32_t>(random.one_of(chunks));
  const bool late = random.happens(300);  // a slow receiver
  for (std::uint64_t i = random.between(1, 40); i > 0; --i) {
    MessagePlan message;
    message.bytes = make_size(random, std::min(flow.chunk_bytes, slot_bytes));
    message.capacity = message.bytes + (random.happens(300) ? random.below(4096) : 0);
    if (late && random.happens(200))
      message.destination_waits = random.between(Duration{0}, Duration(milliseconds(400)));
    if (random.happens(50)) message.source_waits = random.between(Duration{0}, Duration(milliseconds(400)));
    flow.messages.push_back(message);
  }
  if (random.happens(20)) {
    MessagePlan& over = flow.messages[random.below(flow.messages.size())];
    over.bytes += 1;
    over.capacity = over.bytes - 1;
  }
  return flow;
}

// The range of durations and amounts of a kind of fault.
struct FaultRange {
  FaultKind kind;
  std::uint32_t weight;
  milliseconds shortest;
  milliseconds longest;
  std::uint64_t least;
  std::uint64_t most;
  std::uint32_t for_good_per_mille;
};

const std::vector<FaultRange>& fault_ranges() {
  static const std::vector<FaultRange> ranges{
      {FaultKind::kCut, 10, milliseconds(1), milliseconds(2000), 0, 1, 100},
      {FaultKind::kSilence, 8, milliseconds(20), milliseconds(3000), 1, 3, 30},
      {FaultKind::kLoss, 5, milliseconds(100), milliseconds(3000), 10, 500, 0},
      {FaultKind::kBurst, 4, milliseconds(100), milliseconds(3000), 5, 200, 0},
      {FaultKind::kDelay, 3, milliseconds(100), milliseconds(3000), 100, 60'000, 0},
      {FaultKind::kJitter, 4, milliseconds(100), milliseconds(3000), 100, 250'000, 0},
      {FaultKind::kDouble, 4, milliseconds(100), milliseconds(3000), 10, 800, 0},
      {FaultKind::kCorrupt, 3, milliseconds(100), milliseconds(3000), 10, 500, 0},
      {FaultKind::kCorruptData, 2, milliseconds(1), milliseconds(1), 0, 0, 0},
      {FaultKind::kQueue, 3, milliseconds(100), milliseconds(3000), 1, 6, 0},
      {FaultKind::kFlap, 3, milliseconds(100), milliseconds(2500), 20'000, 150'000, 0},
      {FaultKind::kLateSend, 4, milliseconds(200), milliseconds(4000), 10, 20'000, 0},
      {FaultKind::kFailSend, 2, milliseconds(1), milliseconds(1), 0, 0, 0},
      {FaultKind::kPartition, 3, milliseconds(50), milliseconds(4000), 0, 0, 0},
      {FaultKind::kCrash, 8, milliseconds(1), milliseconds(2000), 0, 0, 50},
      {FaultKind::kPower, 4, milliseconds(10), milliseconds(2500), 0, 0, 80},
      {FaultKind::kLeave, 3, milliseconds(1), milliseconds(1500), 0, 0, 50},
      {FaultKind::kDrain, 4, milliseconds(10), milliseconds(2000), 0, 0, 200},
      {FaultKind::kSlow, 3, milliseconds(100), milliseconds(3000), 1, 3000, 0},
      {FaultKind::kRefuse, 3, milliseconds(100), milliseconds(2000), 0, 0, 0},
      {FaultKind::kDrift, 2, milliseconds(0), milliseconds(0), 950'000, 1'050'000, 0},
      {FaultKind::kKill, 5, milliseconds(1), milliseconds(1500), 0, 1, 100}};
  return ranges;
}

const FaultRange& choose_kind(SimtestRandom& random) {
  std::uint64_t sum = 0;
  for (const FaultRange& range : fault_ranges()) sum += range.weight;
  std::uint64_t chosen = random.below(sum);
  for (const FaultRange& range : fault_ranges()) {
    if (chosen < range.weight) return range;
    chosen -= range.weight;
  }
  return fault_ranges().front();
}

Fault make_fault(SimtestRandom& random, const SimtestPlan& plan, const FaultRange& range) {
  Fault fault;
  fault.kind = range.kind;
  fault.target = static_cast<std::uint32_t>(random.next() & 0xFFFF);
  fault.target %= static_cast<std::uint32_t>(target_count(plan, fault.kind));
  fault.amount = random.between(range.least, range.most);
  if (fault.kind == FaultKind::kPartition) fault.amount = random.next() & ((2ULL << (plan.shape.nodes - 1)) - 1);
  if (fault.kind == FaultKind::kDrift) return fault;
  // Rounded to tenths of a millisecond, for readability.
  const auto rounded = [](Duration time) { return time / 100'000 * 100'000; };
  fault.at = rounded(random.between(Duration(milliseconds(100)), Duration(milliseconds(4000))));
  fault.lasts = rounded(random.between(Duration(range.shortest), Duration(range.longest)));
  if (random.happens(range.for_good_per_mille)) fault.lasts = Duration{0};
  return fault;
}

// Separate random streams, so that a seed's graph, flows and other faults do not depend on the use of RDMA, on the
// relays' capacity, on losses of large packets, on cables that change data, and so on.
constexpr std::uint64_t kRdmaNumbers = 0x5244;
constexpr std::uint64_t kRoomNumbers = 0x726f;
constexpr std::uint64_t kWireNumbers = 0x7769;
constexpr std::uint64_t kLargeNumbers = 0x6c61;
constexpr std::uint64_t kFlowNumbers = 0x666c;
constexpr std::uint64_t kFailoverNumbers = 0x666f;
constexpr std::uint64_t kFlipNumbers = 0x6270;
constexpr std::uint64_t kStripeNumbers = 0x7374;
constexpr std::uint64_t kPulseNumbers = 0x7075;
constexpr std::uint64_t kDrainNumbers = 0x6472;
constexpr std::uint64_t kRateNumbers = 0x7261;
constexpr std::uint64_t kLoneNumbers = 0x6c6f;
constexpr std::uint64_t kReplayNumbers = 0x7265;
constexpr std::uint64_t kLieNumbers = 0x6c79;

// In some worlds relays have room for fewer circuits than are requested.
void add_scarcity(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kRoomNumbers);
  if (!random.happens(150)) return;
  plan.max_circuits = static_cast<std::size_t>(random.one_of(std::vector<std::uint64_t>{1, 2, 3, 5}));
}

// In a quarter of the worlds a flow ends with its last circuit; in half of them flows want several; in six of ten
// they have their bundles, half of those with alternates.
void add_flow_settings(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kFlowNumbers);
  if (random.happens(250)) plan.path_wait = milliseconds(0);
  plan.circuits = static_cast<std::size_t>(random.one_of(std::vector<std::uint64_t>{1, 1, 2, 3}));
  SimtestRandom shares(SimtestRandom::mix(plan.seed) ^ kStripeNumbers);
  if (shares.happens(600)) plan.shares = shares.happens(500) ? CircuitShare::kAlternate : CircuitShare::kBundle;
}

// In most worlds: faults that test how flows outlive their circuits. Most faults of a flow begin together with the
// flow, because most flows are short.
void add_failover_faults(SimtestPlan& plan) {
  static const std::vector<FaultRange> ranges{
      {FaultKind::kCutOn, 0, milliseconds(100), milliseconds(4000), 0, CutOn::kKinds * 30 - 1, 0},
      {FaultKind::kCutOn, 0, milliseconds(100), milliseconds(4000), 0, CutOn::kKinds * 4 - 1, 0},
      {FaultKind::kStop, 0, milliseconds(10), milliseconds(3000), 0, 0, 0},
      {FaultKind::kFalseVerdict, 0, milliseconds(1), milliseconds(500), 0, 2, 0},
      {FaultKind::kFalseVerdict, 0, milliseconds(1), milliseconds(50), 0, 2, 0},
      {FaultKind::kCutAnswer, 0, milliseconds(20), milliseconds(1500), 0, 0, 0}};
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kFailoverNumbers);
  if (!random.happens(700)) return;
  for (std::uint64_t i = random.between(1, 6); i > 0; --i) {
    Fault fault = make_fault(random, plan, random.one_of(ranges));
    if (target_of(fault.kind) == FaultTarget::kFlow && random.happens(700)) {
      fault.at = plan.flows[fault.target].begins / 1'000'000 * 1'000'000;
    }
    plan.faults.push_back(fault);
  }
}

// In some worlds cables drop large packets for a while, or for good: longer than other faults last, as nodes need two
// hold times to notice.
void add_large_loss(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kLargeNumbers);
  if (!random.happens(250)) return;
  const FaultRange range{FaultKind::kLarge, 0, milliseconds(100), milliseconds(6000), 1, 3, 50};
  for (std::uint64_t i = random.between(1, 3); i > 0; --i) plan.faults.push_back(make_fault(random, plan, range));
}

// In a fifth of the worlds cables change data for a while, not for good: a flow without another path would never end.
void add_flips(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kFlipNumbers);
  if (!random.happens(200)) return;
  const FaultRange range{FaultKind::kFlip, 0, milliseconds(1), milliseconds(3000), 1, 40, 0};
  for (std::uint64_t i = random.between(1, 3); i > 0; --i) plan.faults.push_back(make_fault(random, plan, range));
}

// In a quarter of the worlds nodes have cables of theirs drain.
void add_cable_drains(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kDrainNumbers);
  if (!random.happens(250)) return;
  const FaultRange range{FaultKind::kDrainCable, 0, milliseconds(20), milliseconds(4000), 0, 2, 200};
  for (std::uint64_t i = random.between(1, 3); i > 0; --i) plan.faults.push_back(make_fault(random, plan, range));
}

// In a quarter of the worlds cables carry less, or more, for a while.
void add_rates(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kRateNumbers);
  if (!random.happens(250)) return;
  const FaultRange range{FaultKind::kRate, 0, milliseconds(20), milliseconds(3000), 1, 3, 0};
  const std::vector<std::uint64_t> per_mille{10, 50, 200, 500, 900, 2000, 5000};
  for (std::uint64_t i = random.between(1, 3); i > 0; --i) {
    Fault fault = make_fault(random, plan, range);
    fault.amount = RateChange::amount(random.one_of(per_mille), fault.amount);
    plan.faults.push_back(fault);
  }
}

// In a fifth of the worlds a party without the key replays recorded datagrams into one or two cables, and in some of
// these holds datagrams of another one back, or does only that. The world has a key. In a third of these worlds nothing
// else is wrong.
void add_outsiders(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kReplayNumbers);
  if (!random.happens(200)) return;
  const FaultRange range{FaultKind::kReplay, 0, milliseconds(500), milliseconds(4000), 1000, 20'000, 0};
  FaultPlan faults;
  for (std::uint64_t i = random.between(1, 2); i > 0; --i) faults.push_back(make_fault(random, plan, range));
  const bool is_alone = random.happens(330);
  if (random.happens(400)) {
    const FaultRange held{FaultKind::kHold,      0, milliseconds(500), milliseconds(5000), Holding::kWays * 20,
                          Holding::kWays * 3000, 0};
    if (random.happens(500)) faults.clear();
    faults.push_back(make_fault(random, plan, held));
  }
  if (is_alone) plan.faults.clear();
  plan.faults.insert(plan.faults.end(), faults.begin(), faults.end());
}

Fault make_lie(SimtestRandom& random, const SimtestPlan& plan) {
  const FaultRange range{FaultKind::kLie, 0, milliseconds(300), milliseconds(4000), 1, Lies::kKinds - 1, 0};
  Fault fault = make_fault(random, plan, range);
  fault.amount = Lies::amount(fault.amount, random.between(std::uint64_t{2000}, 50'000));
  return fault;
}

// In an eighth of the worlds one or two parties send false information. In a third of those nothing else is wrong. In
// half of them there is a key, which these parties have.
void add_lies(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kLieNumbers);
  if (!random.happens(125)) return;
  if (random.happens(330)) plan.faults.clear();
  plan.sealed = random.happens(500);
  for (std::uint64_t i = random.between(1, 2); i > 0; --i) plan.faults.push_back(make_lie(random, plan));
}

// In four of ten worlds nodes send pulses; in the others hellos and connections find what is silent.
void add_pulses(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kPulseNumbers);
  if (!random.happens(400)) return;
  plan.pulse = milliseconds(random.one_of(std::vector<std::uint64_t>{10, 10, 20, 50}));
}

// In half of the worlds whose last cable joins the same two nodes as an earlier one, the two are one wire.
void add_split_port(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kWireNumbers);
  std::vector<CablePlan>& cables = plan.shape.cables;
  if (cables.empty() || !random.happens(500)) return;
  CablePlan& last = cables.back();
  const auto twin = std::find_if(cables.begin(), cables.end() - 1,
                                 [&](const CablePlan& each) { return each.a == last.a && each.b == last.b; });
  if (twin == cables.end() - 1) return;
  last.plug = twin->plug = "p0";
  last.plug_is_reported = twin->plug_is_reported = random.happens(500);
}

// In half of the worlds ports have RDMA devices: all ports, or most of them.
void add_rdma(SimtestPlan& plan) {
  SimtestRandom random(SimtestRandom::mix(plan.seed) ^ kRdmaNumbers);
  if (!random.happens(500)) return;
  const std::uint32_t per_mille = random.happens(600) ? 1000 : 750;
  for (CablePlan& cable : plan.shape.cables) {
    cable.rdma_at_a = random.happens(per_mille);
    cable.rdma_at_b = random.happens(per_mille);
  }
  plan.shape.rdma_at_switch = random.happens(per_mille);
  // The time of eight tries: of 67 ms each (CABLEWAY_RDMA_TIMEOUT at 14, CABLEWAY_RDMA_RETRIES at 7), of 134 ms, or of
  // 537 ms.
  plan.rdma.gives_up_after = milliseconds(random.one_of(std::vector<std::uint64_t>{537, 1074, 4295}));
  plan.rdma.max_lag = microseconds(random.one_of(std::vector<std::uint64_t>{0, 100, 2000, 20'000}));
  plan.rdma.max_late_writes = static_cast<std::size_t>(random.one_of(std::vector<std::uint64_t>{0, 2, 64}));
  plan.rdma.leases = static_cast<std::size_t>(random.one_of(std::vector<std::uint64_t>{0, 1, 3, 16, 32}));
  plan.rdma.leases_per_circuit = static_cast<std::size_t>(random.one_of(std::vector<std::uint64_t>{1, 2, 15}));
}

}  // namespace

std::uint64_t target_count(const SimtestPlan& plan, FaultKind kind) {
  std::uint64_t count = 1;
  switch (target_of(kind)) {
    case FaultTarget::kCable:
      count = plan.shape.segments();
      break;
    case FaultTarget::kNode:
      count = plan.shape.nodes;
      break;
    case FaultTarget::kFlow:
      count = plan.flows.size();
      break;
    case FaultTarget::kNone:
      break;
  }
  return std::max<std::uint64_t>(count, 1);
}

absl::Status check_targets(const SimtestPlan& plan) {
  for (const Fault& fault : plan.faults) {
    const std::uint64_t count = target_count(plan, fault.kind);
    if (fault.target < count) continue;
    constexpr std::array<const char*, 4> kNames = {"cable", "node", "flow", "target"};  // in the order of FaultTarget
    const char* name = kNames[static_cast<std::size_t>(target_of(fault.kind))];
    return absl::InvalidArgumentError(absl::StrCat("fault \"", to_text(FaultPlan{fault}), "\": there is no ", name, " ",
                                                   fault.target, "; expected a ", name, " from 0 to ", count - 1));
  }
  return absl::OkStatus();
}

SimtestPlan make_simtest_plan(std::uint64_t seed) {
  SimtestRandom random(seed);
  SimtestPlan plan;
  plan.seed = seed;
  plan.shape = make_shape(random);
  if (random.happens(300)) {
    plan.hello = milliseconds(50);
    plan.hold = milliseconds(300);
  }
  plan.bytes_per_second = random.one_of(std::vector<std::uint64_t>{20'000'000, 125'000'000, 1'250'000'000});
  plan.window_bytes = random.one_of(std::vector<std::uint64_t>{1, 4096, 65536, 512U << 10});
  plan.leases = static_cast<std::size_t>(random.one_of(std::vector<std::uint64_t>{0, 1, 2, 16}));
  plan.slot_bytes = static_cast<std::uint32_t>(random.one_of(std::vector<std::uint64_t>{4096, 65536}));
  const bool large = plan.shape.nodes > 10;
  for (std::uint64_t i = random.between(1, large ? 16 : 8); i > 0; --i) {
    plan.flows.push_back(make_flow(random, plan.shape, plan.slot_bytes));
  }
  for (std::uint64_t i = random.below(13); i > 0; --i) {
    plan.faults.push_back(make_fault(random, plan, choose_kind(random)));
  }
  SimtestRandom lone(SimtestRandom::mix(seed) ^ kLoneNumbers);
  const bool is_lone_cut = lone.happens(60);
  if (is_lone_cut) {
    make_lone_cut(lone, plan);
  } else {
    add_large_loss(plan);
    add_failover_faults(plan);
    add_flips(plan);
    add_cable_drains(plan);
    add_rates(plan);
    add_outsiders(plan);
    add_lies(plan);
  }
  std::stable_sort(plan.faults.begin(), plan.faults.end(),
                   [](const Fault& left, const Fault& right) { return left.at < right.at; });
  plan.sealed = plan.sealed || std::any_of(plan.faults.begin(), plan.faults.end(),
                                           [](const Fault& fault) { return needs_key(fault.kind); });
  add_rdma(plan);
  add_flow_settings(plan);
  if (is_lone_cut) {
    plan.circuits = std::max<std::size_t>(plan.circuits, 2);
  } else {
    add_scarcity(plan);
  }
  add_split_port(plan);
  add_pulses(plan);
  return plan;
}

}  // namespace cableway::sim
