#include "sim/simtest/flows/source_end.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/simtest/flows/message_content.h"
#include "sim/simtest/ground/process_means.h"

namespace cableway::sim {
namespace {

// For the first circuit. Half of what the plugin allows, so that more set-ups run out of time.
constexpr std::chrono::milliseconds kOpenLimit{5000};

constexpr std::uint64_t kSent = 101;  // in the trace

}  // namespace

SourceEnd::SourceEnd(const Place& place, std::size_t first, CarrierRule::Lives lives)
    : FlowEnd(place, first, sender_, false),
      sender_([this] { return clock().now(); }, kSimtestStriping),
      carriers_(std::move(lives)),
      began_(clock().now()),
      source_circuits_(place_.ground.means[place_.node]->flow_means(), place_.identity,
                       {.open = kOpenLimit,
                        .path_wait = place_.ground.plan.path_wait,
                        .chunk_bytes = place_.plan.chunk_bytes,
                        .shares = place_.ground.plan.shares},
                       *this) {}

void SourceEnd::start() {
  source_circuits_.want(place_.ground.plan.circuits);
  source_circuits_.stripe();
  source_circuits_.start();
}

void SourceEnd::lose_port(const PortLost& lost) {
  if (over()) return;
  source_circuits_.lose_port(lost);
  FlowEnd::lose_port(lost);
}

std::optional<CircuitName> SourceEnd::reserve() {
  if (over()) return std::nullopt;
  const std::optional<CircuitName> name = sender_.reserve();
  if (!name.has_value()) return name;
  // It is dialed now.
  const Instant now = clock().now();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(began_ + kOpenLimit - now);
  const auto budget = joined() > 0 ? kReopenLimit : std::max(left, std::chrono::milliseconds{1});
  dialed_[name->slot] = Dial{name->generation, now, budget};
  ++dials_;
  return name;
}

void SourceEnd::release(const CircuitName& reserved) {
  sender_.release(reserved);
  wake_soon();
}

absl::Status SourceEnd::join(const CircuitSetup& setup, OpenHop first_hop) {
  absl::Status joined = join_circuit(setup, std::move(first_hop));
  if (!joined.ok()) sender_.release(setup.circuit);
  return joined;
}

void SourceEnd::takes(const CircuitName& circuit, const Frame& frame) {
  if (frame.kind == FrameKind::kAnnounce && frame.offset == 0) primary_ = circuit;
}

void SourceEnd::gives(const CircuitName& circuit, const Frame& chunk) {
  const bool competes = circuits().share(circuit) != CircuitShare::kAlternate || circuit == primary_;
  place_.ground.port_shares.source_puts({place_.node, circuits().hop_end(circuit).port}, competes, chunk.payload);
  const std::optional<CircuitName> other = carriers_.give(circuit, chunk);
  if (!other.has_value()) return;
  place_.ground.rules.broken(
      1, absl::StrCat("flow ", place_.flow, " gives bytes from ", chunk.offset, " of message ", chunk.message,
                      " to circuit ", circuit.slot, ".", circuit.generation, " while circuit ", other->slot, ".",
                      other->generation, ", which carries them, is not fenced"));
}

void SourceEnd::circuits_ended(const std::vector<CircuitName>& circuits, const absl::Status& reason) {
  for (const CircuitName& circuit : circuits) source_circuits_.circuit_ended(circuit, reason);
}

absl::Status SourceEnd::check_budget(const CircuitSetup& setup) const {
  const Dial& dial = dialed_[setup.circuit.slot];
  if (dial.generation != setup.circuit.generation) return absl::OkStatus();  // it was given up long ago
  auto most = dial.budget.count();
  for (std::size_t relay = 0; relay < setup.hop; ++relay) most -= most / 10;
  const Duration since = clock().now() - dial.at;
  // The tenths that relays reserve cover the latency of the cables.
  if (setup.hop > 0 && !may_have_been_held(setup, dial.at)) {
    most = std::min(most, (dial.budget - std::chrono::floor<std::chrono::milliseconds>(since)).count());
  }
  // No relay leaves less than a millisecond.
  if (setup.budget_ms <= std::max<std::int64_t>(most, 1)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "set-up ", describe_path(setup), " arrives with ", setup.budget_ms, " ms, ",
      std::chrono::floor<std::chrono::milliseconds>(since).count(),
      " ms after it was dialed, but each relay reserves a tenth and subtracts its wait: expected at most ", most));
}

// Whether a silent cable of the path has held a set-up back since this one was dialed, as TCP does until it
// retransmits. No node can subtract that time.
bool SourceEnd::may_have_been_held(const CircuitSetup& setup, Instant since) const {
  const CablePlant& plant = place_.ground.plant;
  return std::any_of(setup.hops.begin(), setup.hops.end(), [&](const Hop& hop) {
    const std::optional<CablePlant::End> from = plant.find(hop.from_address);
    return from.has_value() && plant.held_setup_since(from->segment, since);
  });
}

void SourceEnd::poll() {
  sender_.end_stuck();
  absl::Status status = sender_.progress();
  // Messages completed before the flow failed count as completed.
  collect();
  if (status.ok()) status = post();
  if (status.ok()) collect();
  // The other end may close as soon as it has acknowledged everything.
  if (all_done() && !breaks_protocol(status)) return finish(absl::OkStatus());
  if (!status.ok()) finish(status);
}

absl::Status SourceEnd::post() {
  while (next_ < place_.plan.messages.size() && posted_.size() < place_.plan.in_flight && sender_.can_post() &&
         waited(plan_of(next_).source_waits)) {
    const std::size_t message = next_;
    const std::uint64_t bytes = plan_of(message).bytes;
    Posted& posted = add_posted(bytes);
    write_content(content_name(place_.ground.plan.seed, place_.flow, message), std::span(posted.memory).first(bytes));
    record(message).hash = content_hash(std::span(posted.memory).first(bytes));
    record(message).sent = MessageState::kPosted;
    const absl::StatusOr<std::uint64_t> sequence = sender_.post(FlowBuffer(posted.memory.data(), &posted.keys), bytes);
    if (!sequence.ok()) return sequence.status();
    posted.sequence = *sequence;
  }
  return absl::OkStatus();
}

std::uint32_t SourceEnd::key_of(Posted& posted, StubDevice& device) {
  return registration(posted, device, [&] { return device.register_memory(posted.memory); }).keys().local;
}

void SourceEnd::collect() {
  while (!posted_.empty() && sender_.done(posted_.front().sequence)) {
    Posted posted = std::move(posted_.front());
    posted_.pop_front();
    MessageRecord& of = record(posted.message);
    if (of.received != MessageState::kDone) {
      place_.ground.rules.broken(1, name(posted.message) + " completed at its source but was not delivered");
    }
    of.sent = MessageState::kDone;
    trace(kSent, posted.message, of.hash);
    take_memory_back(posted);
  }
}

}  // namespace cableway::sim
