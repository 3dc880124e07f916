#include "sim/simtest/flows/flow_ends.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/simtest/flows/message_content.h"

namespace cableway::sim {
namespace {

constexpr std::size_t kGuardBytes = 256;  // around a message's memory
constexpr std::byte kGuard{0xA5};
constexpr std::byte kReused{0xDD};

enum EndTrace : std::uint64_t { kSent = 101, kReceived, kEnded };

// Correct ends never cause these errors.
bool breaks_protocol(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsInternal(status);
}

bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(bytes.begin(), bytes.end(), [value](std::byte each) { return each == value; });
}

}  // namespace

void FlowEnd::wake() {
  if (over_) return;
  const Duration takes = place_.ground.hosts[place_.node].application_takes;
  if (takes == Duration{0}) return poll_until_idle();
  if (std::exchange(poll_scheduled_, true)) return;
  place_.ground.clock().post_at(place_.ground.clock().now() + takes, [this] {
    poll_scheduled_ = false;
    if (!over_) poll_until_idle();
  });
}

// Polls repeatedly as NCCL does, because one call of a link does a limited amount of work.
void FlowEnd::poll_until_idle() {
  for (std::uint64_t before = ~std::uint64_t{0}; !over_ && link_.bytes_moved() != before;) {
    before = link_.bytes_moved();
    poll();
  }
}

void FlowEnd::die() {
  if (over_) return;
  user_.kill_process();
  finish(absl::CancelledError("its application has ended"));
}

void FlowEnd::finish(const absl::Status& reason) {
  over_ = true;
  reason_ = reason;
  if (breaks_protocol(reason)) {
    place_.ground.rules.broken(7,
                               absl::StrCat("flow ", place_.flow, " between correct nodes failed: ", reason.message()));
  }
  reason.ok() || absl::IsCancelled(reason) ? link_.fence() : link_.fail(reason.message());
  give_up();
  trace(kEnded, next_, static_cast<std::uint64_t>(reason.code()));
  place_.ground.trace.add(std::string_view(reason.message().data(), reason.message().size()));
}

bool FlowEnd::waited(Duration wait) {
  const Instant now = place_.ground.clock().now();
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

void SourceEnd::poll() {
  absl::Status status = sender_.progress();
  // Messages completed before the circuit failed count as completed.
  collect();
  if (status.ok()) status = post();
  if (status.ok()) collect();
  // The other end may close as soon as it has acknowledged everything.
  const bool all_done = next_ == place_.plan.messages.size() && posted_.empty();
  if (all_done && !breaks_protocol(status)) return finish(absl::OkStatus());
  if (!status.ok()) finish(status);
}

absl::Status SourceEnd::post() {
  while (next_ < place_.plan.messages.size() && posted_.size() < place_.plan.in_flight && sender_.can_post() &&
         waited(plan_of(next_).source_waits)) {
    const std::uint64_t bytes = plan_of(next_).bytes;
    Posted posted{next_, 0, std::vector<std::byte>(bytes + kGuardBytes, kGuard), std::nullopt};
    if (device_ != nullptr) posted.registered = device_->register_memory(posted.memory);
    write_content(content_name(place_.ground.plan.seed, place_.flow, next_), std::span(posted.memory).first(bytes));
    record(next_).hash = content_hash(std::span(posted.memory).first(bytes));
    record(next_).sent = MessageState::kPosted;
    ++next_;
    posted_.push_back(std::move(posted));
    const SendBuffer buffer{posted_.back().memory.data(),
                            device_ == nullptr ? 0 : posted_.back().registered->keys().local};
    const absl::StatusOr<std::uint64_t> sequence = sender_.post(buffer, bytes);
    if (!sequence.ok()) return sequence.status();
    posted_.back().sequence = *sequence;
  }
  return absl::OkStatus();
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

void SourceEnd::give_up() {
  for (Posted& posted : posted_) {
    record(posted.message).sent = MessageState::kFailed;
    take_memory_back(posted);
  }
  posted_.clear();
}

void DestinationEnd::poll() {
  absl::Status status = receiver_.progress();
  collect();
  if (status.ok()) status = post();
  if (!status.ok()) return finish(status);
  if (next_ == place_.plan.messages.size() && posted_.empty()) finish(absl::OkStatus());
}

absl::Status DestinationEnd::post() {
  while (next_ < place_.plan.messages.size() && posted_.size() < place_.plan.in_flight && receiver_.can_post() &&
         waited(plan_of(next_).destination_waits)) {
    const std::uint64_t capacity = plan_of(next_).capacity;
    posted_.push_back(Posted{next_, 0, std::vector<std::byte>(capacity + kGuardBytes, kGuard), std::nullopt});
    Posted& posted = posted_.back();
    if (device_ != nullptr) posted.registered = device_->register_writable(posted.memory);
    record(next_).received = MessageState::kPosted;
    ++next_;
    const std::uint32_t key = device_ == nullptr ? 0 : posted.registered->keys().remote;
    const absl::StatusOr<std::uint64_t> sequence = receiver_.post(Landing{posted.memory.data(), capacity, key});
    if (!sequence.ok()) return sequence.status();
    posted.sequence = *sequence;
  }
  return absl::OkStatus();
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
  const std::span<const std::byte> memory(posted.memory);
  if (content_hash(memory.first(bytes)) != of.hash) {
    return rules.broken(1, name(posted.message) + " was delivered with wrong contents");
  }
  if (!all_are(memory.subspan(bytes), kGuard)) {
    rules.broken(1, name(posted.message) + " was written beyond its end");
  }
}

void DestinationEnd::give_up() {
  for (Posted& posted : posted_) {
    record(posted.message).received = MessageState::kFailed;
    take_memory_back(posted);
  }
  posted_.clear();
}

void DestinationEnd::check_memory() {
  for (const Posted& posted : used_) {
    if (!all_are(posted.memory, kReused)) {
      place_.ground.rules.broken(1, name(posted.message) + " was written after its memory had been given back");
    }
  }
}

}  // namespace cableway::sim
