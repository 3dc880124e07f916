#include "sim/simtest/flows/destination_end.h"

#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/simtest/flows/message_content.h"
#include "sim/simtest/ground/process_means.h"

namespace cableway::sim {
namespace {

constexpr std::uint64_t kReceived = 102;  // in the trace

}  // namespace

DestinationEnd::DestinationEnd(const Place& place, std::size_t first)
    : FlowEnd(place, first, receiver_, true),
      first_(first),
      receiver_(kSimtestStriping),
      inquiry_(place_.ground.means[place_.node]->flow_means(), place_.identity, place_.ground.plan.path_wait, *this) {}

void DestinationEnd::circuits_ended(const std::vector<CircuitName>& /*circuits*/, const absl::Status& reason) {
  inquiry_.circuit_ended(reason);
}

void DestinationEnd::takes(const CircuitName& /*circuit*/, const Frame& frame) {
  if (frame.kind == FrameKind::kChunk) record(first_ + frame.message).landed += frame.payload;
}

void DestinationEnd::poll() {
  absl::Status status = receiver_.progress();
  collect();
  if (status.ok()) status = post();
  if (!status.ok() || all_done()) finish(status);
}

void DestinationEnd::answer_after_close(const CircuitSetup& setup, OpenHop last_hop) {
  if (!join_circuit(setup, std::move(last_hop)).ok()) return;
  receiver_.progress().IgnoreError();
  end_circuits(absl::NotFoundError("this end has closed the flow"));
}

absl::Status DestinationEnd::post() {
  while (next_ < place_.plan.messages.size() && posted_.size() < place_.plan.in_flight && receiver_.can_post() &&
         waited(plan_of(next_).destination_waits)) {
    const std::size_t message = next_;
    const std::uint64_t capacity = plan_of(message).capacity;
    Posted& posted = add_posted(capacity);
    record(message).received = MessageState::kPosted;
    const absl::StatusOr<std::uint64_t> sequence =
        receiver_.post(FlowLanding(posted.memory.data(), capacity, &posted.keys));
    if (!sequence.ok()) return sequence.status();
    posted.sequence = *sequence;
  }
  return absl::OkStatus();
}

std::uint32_t DestinationEnd::key_of(Posted& posted, StubDevice& device) {
  return registration(posted, device, [&] { return device.register_writable(posted.memory); }).keys().remote;
}

void DestinationEnd::collect() {
  while (!posted_.empty() && receiver_.done(posted_.front().sequence)) {
    check(posted_.front());
    record(posted_.front().message).received = MessageState::kDone;
    trace(kReceived, posted_.front().message, record(posted_.front().message).hash);
    take_memory_back(posted_.front());
    posted_.pop_front();
  }
  for (const Posted& later : posted_) {
    if (receiver_.done(later.sequence)) {
      place_.ground.rules.broken(1, name(later.message) + " was delivered before its predecessor");
    }
  }
}

void DestinationEnd::check(const Posted& posted) {
  const MessageRecord& of = record(posted.message);
  const std::uint64_t bytes = plan_of(posted.message).bytes;
  RuleBook& rules = place_.ground.rules;
  if (of.received == MessageState::kDone) return rules.broken(1, name(posted.message) + " was delivered twice");
  if (of.sent == MessageState::kUntouched) return rules.broken(1, name(posted.message) + " was never sent");
  if (receiver_.size(posted.sequence) != bytes) {
    return rules.broken(
        1, absl::StrCat(name(posted.message), " arrived with ", receiver_.size(posted.sequence), " bytes"));
  }
  if (bytes > plan_of(posted.message).capacity)
    return rules.broken(1, name(posted.message) + " did not fit its receive");
  if (content_hash(std::span(posted.memory).first(bytes)) != of.hash) {
    return rules.broken(1, name(posted.message) + " was delivered with wrong contents");
  }
  if (!guarded(posted, bytes)) {
    rules.broken(1, name(posted.message) + " was written beyond its end");
  }
}

void DestinationEnd::tend() {
  if (over() || joined() < 2) return;
  if (const std::optional<CircuitName> best = best_circuit(); best.has_value()) receiver_.prefer(*best);
  wake();
}

void DestinationEnd::check_memory() {
  for (const Posted& posted : used_) check_untouched(posted);
}

void DestinationEnd::check_untouched(const Posted& used) {
  if (untouched(used)) return;
  place_.ground.rules.broken(1, name(used.message) + " was written after its memory had been given back");
}

}  // namespace cableway::sim
