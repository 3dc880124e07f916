// Chooses the circuit for each chunk of a flow that has several.
#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/flow_sender.h"

namespace cableway {
namespace {

// A gap between landings is a stall if it is longer than this and than four times the time that the bytes ending it
// take.
constexpr std::chrono::milliseconds kStall{20};
// The maximum that counts as kept away between two checks of a gate: a longer gap means that there was nothing to
// send.
constexpr std::chrono::milliseconds kAsked{50};

}  // namespace

std::uint8_t FlowSender::stripes(std::uint64_t message, Instant time) {
  if (bundled_ == 0 || at(message).bytes <= striping_.small_message) return 0;
  std::uint8_t announced = 0;
  int usable = 0;
  for (Circuit& circuit : used()) {
    if (!is_usable(circuit, time)) continue;
    ++usable;
    if (is_announced_on(circuit, message)) announced |= static_cast<std::uint8_t>(1U << slot_of(circuit));
  }
  // A circuit with a longer path, on which the message is not announced yet, gets later chunks.
  return usable < 2 ? 0 : announced;
}

bool FlowSender::is_announced_on(const Circuit& circuit, std::uint64_t message) const {
  const Receive& receive = receives_[message % kMaxLandings];
  if ((receive.announced_on & (1U << slot_of(circuit))) != 0) return true;
  const bool by_primary = (receive.by_primary & (1U << primary_)) != 0;
  return by_primary && circuit.announced_from.has_value() && message >= *circuit.announced_from &&
         receive.capacity > striping_.small_message;
}

bool FlowSender::is_usable(Circuit& circuit, Instant time) {
  if ((bundled_ & (1U << slot_of(circuit))) == 0) return false;
  if (competes(circuit)) return true;
  const bool is_idle = !circuit.closed_ahead && circuit.gate.is_open(time);
  const Duration since_asked = time - std::exchange(circuit.gate_seen, time);
  if (is_idle) return true;
  circuit.proven = 0;
  traffic_.kept_away(slot_of(circuit), std::min<Duration>(since_asked, kAsked));
  return false;
}

std::uint64_t FlowSender::window(const Circuit& circuit) const {
  const std::uint64_t least = striping_.least_chunks * striping_.chunk_bytes;
  const std::uint64_t on_its_way = 2 * circuit.rate.bytes_on_its_way();
  if (!competes(circuit)) {
    const std::uint64_t most = std::clamp(on_its_way, least, std::max(least, striping_.most_alternate_bytes));
    return std::min(most, striping_.chunk_bytes + circuit.proven);
  }
  const std::uint64_t ahead = circuit.rate.bytes_in(striping_.ahead);
  return std::clamp(on_its_way + ahead, least, std::max(least, striping_.window_bytes));
}

bool FlowSender::can_take(const Circuit& circuit) const {
  return circuit.can_send() && circuit.given.bytes() < window(circuit);
}

Duration FlowSender::try_again_after(std::uint8_t among) const {
  Duration after = striping_.try_again;
  for (const Circuit& circuit : used()) {
    if ((among & (1U << slot_of(circuit))) == 0) continue;
    after = std::min(after, circuit.rate.time_for(striping_.try_again_chunks * striping_.chunk_bytes));
  }
  return after;
}

// Returns the circuit on which a chunk will land first. Null if that circuit cannot take a chunk now: another one
// would land it later. No chunk waits for an alternate.
FlowSender::Circuit* FlowSender::earliest(std::uint8_t among, Instant time) {
  const auto has_chunks = [](const Circuit& each) { return each.given.size() > 0; };
  const bool is_busy = std::any_of(used().begin(), used().end(), has_chunks);
  const Duration try_again = try_again_after(among);
  Circuit* best = nullptr;
  double least = 0;
  for (Circuit& circuit : used()) {
    if ((among & (1U << slot_of(circuit))) == 0) continue;
    const std::uint64_t given = circuit.given.bytes();
    // It is not known when the circuit can take a chunk, or it is an alternate, for which no chunk waits.
    if (!can_take(circuit) && (given == 0 || !competes(circuit))) continue;
    if (given == 0 && is_busy && time - circuit.rate.since() > try_again) return &circuit;
    const double seconds = circuit.rate.seconds_until_landed(given, striping_.chunk_bytes, time);
    if (best != nullptr && seconds >= least) continue;
    best = &circuit;
    least = seconds;
  }
  return best != nullptr && can_take(*best) ? best : nullptr;
}

// The next chunk goes to a circuit that cannot take one now. Meanwhile another circuit may take a later chunk,
// provided that it lands before the other circuits have sent all data that precedes it.
std::optional<FlowSender::Turn> FlowSender::later_turn(Instant time) {
  for (Circuit& circuit : used()) {
    if (!is_usable(circuit, time) || !can_take(circuit)) continue;
    const double lands = circuit.rate.seconds_until_landed(circuit.given.bytes(), striping_.chunk_bytes, time);
    double per_second = 0;
    std::uint64_t before = 0;
    for (Circuit& other : used()) {
      if (&other == &circuit || !is_usable(other, time)) continue;
      per_second += other.rate.bytes_per_second();
      before += other.given.bytes();
    }
    for (std::uint64_t message = sending_; message < std::min(next_, announced_); ++message) {
      const MessageRange left{message, at(message).sent, at(message).bytes};
      before += left.end - left.begin;
      const bool may_begin = left.begin < left.end && left.end > striping_.small_message &&
                             left.end <= receive_of(message).capacity && is_announced_on(circuit, message);
      if (!may_begin || static_cast<double>(before) <= lands * per_second) continue;
      return Turn{left, &circuit, striping_.chunk_bytes, false};
    }
  }
  return std::nullopt;
}

void FlowSender::choose_bundle() {
  std::uint8_t members = 0;
  for (const Circuit& circuit : used()) {
    if (bundle_ != 0 && circuit.live() && circuit.bundle == bundle_) members |= 1U << slot_of(circuit);
  }
  if (std::popcount(members) < 2) members = 0;
  // Rates measured so far reflect how the application posted, not the circuits.
  const bool begins = bundled_ == 0 && members != 0;
  bundled_ = members;
  if (!begins) return;
  for (Circuit& circuit : used()) {
    circuit.rate = CircuitRate{};
    circuit.rate.resume(now());
  }
}

void FlowSender::measure(Circuit& circuit, std::uint64_t before) {
  const std::uint64_t landed = before - circuit.given.bytes();
  circuit.proven += landed;
  landed_ += landed;
  if (landed > 0) circuit.flow_landed = landed_;
  if (landed == 0 || clock_ == nullptr) return;
  double fastest = 0;
  for (const Circuit& other : used()) {
    const bool is_beside = &other != &circuit && (bundled_ & (1U << slot_of(other))) != 0;
    if (is_beside) fastest = std::max(fastest, other.rate.bytes_per_second());
  }
  const Instant time = now();
  const Duration silent = time - circuit.rate.since();
  const Duration usual = 4 * circuit.rate.time_for(landed);
  if (silent > std::max<Duration>(kStall, usual)) traffic_.stalled(slot_of(circuit), silent);
  circuit.rate.landed(landed, time, fastest);
}

void FlowSender::note_given(Circuit& circuit, std::uint64_t bytes) {
  const Instant time = now();
  if (circuit.given.bytes() == 0) {
    circuit.rate.resume(time);
    circuit.flow_landed = landed_;
  }
  if (!competes(circuit)) return;
  circuit.gate.port().use(time, circuit.rate.time_for(bytes));
  circuit.gate.port().count(bytes);
}

CircuitLoads FlowSender::loads() {
  CircuitLoads loads;
  if (clock_ == nullptr) return loads;
  const Instant time = now();
  for (Circuit& circuit : used()) {
    const EgressPort& port = circuit.gate.port();
    if (!circuit.live() || !port.is_known()) continue;
    const std::size_t slot = slot_of(circuit);
    if (circuit.port_load.is_due(time)) circuit.port_load.measure(time, port.bytes());
    if (circuit.own_load.is_due(time)) circuit.own_load.measure(time, traffic_.bytes_over(slot));
    loads[slot] =
        CircuitLoad{std::max(circuit.port_load.per_second(), circuit.load_ahead), circuit.own_load.per_second()};
  }
  return loads;
}

void FlowSender::end_stuck() {
  if (bundled_ == 0 || clock_ == nullptr) return;
  const Instant time = now();
  for (Circuit& circuit : used()) {
    if (!circuit.live() || circuit.given.bytes() == 0) continue;
    if (landed_ - circuit.flow_landed < striping_.stuck_chunks * striping_.chunk_bytes) continue;
    const Duration silent = time - circuit.rate.since();
    const Duration usual = std::max(8 * circuit.rate.distance(), 4 * circuit.rate.time_for(circuit.given.bytes()));
    if (silent < std::max<Duration>(striping_.stuck, usual)) continue;
    // The stall may be this process's or its application's, so that reports of landed chunks wait unread. They are
    // read now; the circuit ends if nothing has landed by the next call either.
    if (std::exchange(circuit.doubted, circuit.rate.since()) != circuit.rate.since()) {
      poll(circuit);
      continue;
    }
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(silent).count();
    end(circuit,
        absl::UnavailableError(
            absl::StrCat("nothing has landed for ", ms, " ms, while the flow's other circuits carried data")),
        CircuitEndKind::kStuck);
  }
}

}  // namespace cableway
