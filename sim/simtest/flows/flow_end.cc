#include "sim/simtest/flows/flow_end.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/simtest/ground/setup_wire.h"

namespace cableway::sim {
namespace {

constexpr std::size_t kGuardBytes = 256;  // around a message's memory
constexpr std::byte kGuard{0xA5};
constexpr std::byte kReused{0xDD};

enum EndTrace : std::uint64_t { kEnded = 103, kStatus };

bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(bytes.begin(), bytes.end(), [value](std::byte each) { return each == value; });
}

}  // namespace

FlowEnd::FlowEnd(const Place& place, std::size_t first, CircuitOwner& owner, bool lands)
    : place_(place),
      next_(first),
      owner_(owner),
      lands_(lands),
      circuits_(owner, *place.ground.hosts[place.node].stamps, *this, lands,
                [this](std::size_t slot, StubDevice* device) {
                  for (Posted& posted : posted_) set_key(posted, slot, device);
                },
                {[this](const CircuitName& circuit, const Frame& chunk) { gives(circuit, chunk); },
                 [this](const CircuitName& circuit, const Frame& frame) { takes(circuit, frame); }}) {}

void FlowEnd::wake() {
  if (over_) return;
  const Duration takes = place_.ground.hosts[place_.node].application_takes;
  if (takes == Duration{0}) return poll_until_idle();
  if (std::exchange(poll_scheduled_, true)) return;
  place_.ground.clock().post_at(clock().now() + takes, [this] {
    poll_scheduled_ = false;
    if (!over_) poll_until_idle();
  });
}

void FlowEnd::wake_soon() {
  place_.ground.clock().post_at(clock().now(), [this] { wake(); });
}

// Polls repeatedly as NCCL does, because one call of a link does a limited amount of work.
void FlowEnd::poll_until_idle() {
  if (joined_ == 0) return;  // NCCL has no comm yet
  for (std::uint64_t before = ~std::uint64_t{0}; !over_ && circuits_.bytes_moved() != before;) {
    before = circuits_.bytes_moved();
    poll();
    note_ended();
  }
}

absl::Status FlowEnd::join_circuit(const CircuitSetup& setup, OpenHop hop) {
  const std::uint32_t chunk_bytes = hop.chunk_bytes;
  PlantHop& taken = take_hop(std::move(hop.connection));
  absl::Status joined = circuits_.join(setup, taken, chunk_bytes, clock().now());
  if (joined.ok()) ++joined_;
  if (breaks_protocol(joined)) {
    place_.ground.rules.broken(7, absl::StrCat("a circuit of flow ", place_.flow, ": ", joined.message()));
  }
  trace(joined);
  note_ended();
  wake_soon();
  return joined;
}

// The process handles the end on another thread.
void FlowEnd::note_ended() {
  if (std::exchange(ended_seen_, owner_.circuits_ended()) == owner_.circuits_ended()) return;
  trace(owner_.last_end());
  if (breaks_protocol(owner_.last_end())) {
    place_.ground.rules.broken(7, absl::StrCat("a circuit of flow ", place_.flow,
                                               " between correct nodes failed: ", owner_.last_end().message()));
  }
  report_failed();
  place_.ground.clock().post_at(clock().now(), [this] { report_ended(); });
}

// Those that have ended since the last call, and that their source has not left by itself. A destination may learn from
// a relay that a connection is closed before it learns that the source has left.
void FlowEnd::report_failed() {
  if (lands_) return;
  for (std::size_t slot = 0; slot < last_seen_.size(); ++slot) {
    const CircuitEnd& end = owner_.end_in(slot);
    if (end.circuit == std::exchange(last_seen_[slot], end.circuit)) continue;
    if (end.kind == CircuitEndKind::kMoved) continue;
    const std::vector<Hop>* const path = circuits_.path_of(end.circuit);
    if (path != nullptr) place_.ground.circuit_failed({place_.flow, *path, end.reason});
  }
}

void FlowEnd::report_ended() {
  if (over_) return;
  const std::vector<CircuitName> ended = circuits_.take_ended();
  if (!ended.empty()) circuits_ended(ended, owner_.last_end());
}

void FlowEnd::misjudge() {
  const std::optional<CircuitName> circuit = circuits_.first_live();
  if (over_ || !circuit.has_value()) return;
  owner_.end_circuit(*circuit, absl::UnavailableError("it was wrongly found to be dead"));
  note_ended();
  wake_soon();
}

void FlowEnd::lose_port(const PortLost& lost) {
  if (over_) return;
  circuits_.lose_port(lost);
  note_ended();
  wake_soon();
}

void FlowEnd::die() {
  if (over_) return;
  circuits_.kill_process();
  finish(absl::CancelledError("its application has ended"));
}

void FlowEnd::finish(const absl::Status& reason) {
  if (std::exchange(over_, true)) return;
  reason_ = reason;
  if (breaks_protocol(reason)) {
    place_.ground.rules.broken(7,
                               absl::StrCat("flow ", place_.flow, " between correct nodes failed: ", reason.message()));
  }
  stop_circuits();
  circuits_.end_all(reason);
  for (Posted& posted : posted_) {
    messages_failed(posted);
    take_memory_back(posted);
  }
  posted_.clear();
  trace(kEnded, next_, static_cast<std::uint64_t>(reason.code()));
  trace(reason);
}

FlowEnd::Posted& FlowEnd::add_posted(std::uint64_t bytes) {
  posted_.push_back(Posted{next_, 0, std::vector<std::byte>(bytes + kGuardBytes, kGuard), {}, {}});
  Posted& posted = posted_.back();
  const auto devices = circuits_.devices();
  for (std::size_t slot = 0; slot < devices.size(); ++slot) set_key(posted, slot, devices[slot]);
  ++next_;
  return posted;
}

void FlowEnd::set_key(Posted& posted, std::size_t slot, StubDevice* device) {
  posted.keys[slot] = device == nullptr ? 0 : key_of(posted, *device);
}

bool FlowEnd::waited(Duration wait) {
  const Instant now = clock().now();
  if (waits_for_ != next_) {
    waits_for_ = next_;
    wait_ends_ = now + wait;
    if (wait > Duration{0}) place_.ground.clock().post_at(wait_ends_, [this] { wake(); });
  }
  return now >= wait_ends_;
}

void FlowEnd::take_memory_back(Posted& posted) {
  std::fill(posted.memory.begin(), posted.memory.end(), kReused);
  used_.push_back(std::move(posted));
  if (used_.size() <= place_.ground.plan.kept_messages) return;
  forget(used_.front());
  used_.pop_front();
}

std::string FlowEnd::name(std::size_t message) const {
  return absl::StrCat("message ", message, " of flow ", place_.flow, " (", SimtestGround::name(place_.plan.source),
                      " to ", SimtestGround::name(place_.plan.destination), ", ", plan_of(message).bytes, " bytes)");
}

void FlowEnd::trace(std::uint64_t what, std::size_t message, std::uint64_t value) {
  TraceHash& trace = place_.ground.trace;
  trace.add(what);
  trace.add(static_cast<std::uint64_t>(place_.ground.clock().now().since_start.count()));
  trace.add(place_.flow);
  trace.add(message);
  trace.add(value);
}

bool FlowEnd::untouched(const Posted& used) {
  return all_are(used.memory, kReused);
}

bool FlowEnd::guarded(const Posted& posted, std::uint64_t bytes) {
  return all_are(std::span(posted.memory).subspan(bytes), kGuard);
}

void FlowEnd::trace(const absl::Status& reason) {
  trace(kStatus, next_, static_cast<std::uint64_t>(reason.code()));
  place_.ground.trace.add(std::string_view(reason.message().data(), reason.message().size()));
}

}  // namespace cableway::sim
