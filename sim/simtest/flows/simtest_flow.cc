#include "sim/simtest/flows/simtest_flow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/simtest/plan/fault_reach.h"

namespace cableway::sim {
namespace {

constexpr std::chrono::milliseconds kTryAgainAfter{500};
constexpr std::chrono::milliseconds kTriesApart{17};

// After the faults; longer than any node, and any pause of a flow, needs to find a path.
constexpr std::chrono::seconds kFindsPathWithin{12};

// The cookie of the destination's listener, which the source has received.
Cookie cookie_of(std::size_t flow) {
  Cookie cookie{};
  for (std::size_t i = 0; i < cookie.size(); ++i) cookie[i] = static_cast<std::byte>(flow * 31 + i);
  return cookie;
}

}  // namespace

SimtestFlow::SimtestFlow(SimtestGround& ground, const FlowPlan& plan, std::size_t number, Instant calm_at,
                         std::function<bool(std::size_t, std::size_t)> reaches)
    : ground_(ground),
      plan_(plan),
      number_(number),
      calm_at_(calm_at),
      reaches_(std::move(reaches)),
      admission_(cookie_of(number)),
      records_(plan.messages.size()) {}

SimtestFlow::~SimtestFlow() = default;

void SimtestFlow::start() {
  waits_to_try_ = true;
  ground_.clock().post_at(Instant{plan_.begins}, [this] {
    waits_to_try_ = false;
    try_now();
  });
}

std::size_t SimtestFlow::next_message() const {
  const auto next = std::find_if(records_.begin(), records_.end(), [](const MessageRecord& record) {
    return record.sent == MessageState::kUntouched && record.received == MessageState::kUntouched;
  });
  return static_cast<std::size_t>(next - records_.begin());
}

void SimtestFlow::try_now() {
  if (!source_lives_ || next_message() == records_.size()) return;
  const FlowAttempt::Applications applications{
      ground_, plan_, number_, records_, admission_, destination_lives_, answers_are_lost_};
  attempts_.push_back(std::make_unique<FlowAttempt>(applications, attempts_.size(), next_message()));
  attempts_.back()->start();
}

void SimtestFlow::try_later() {
  if (std::exchange(waits_to_try_, true)) return;
  // Each flow has its own delay: two that need the last place in each other's relays would collide without end.
  const Duration apart = number_ * Duration(kTriesApart);
  ground_.clock().post_at(ground_.clock().now() + kTryAgainAfter + apart, [this] {
    waits_to_try_ = false;
    try_now();
  });
}

void SimtestFlow::paths_changed(std::size_t node) {
  if (node == plan_.source && !attempts_.empty()) attempts_.back()->paths_changed(kFollowAfter);
}

void SimtestFlow::lose_port(std::size_t node, const PortLost& lost) {
  if (node != plan_.source && node != plan_.destination) return;
  for (const std::unique_ptr<FlowAttempt>& attempt : attempts_) attempt->lose_port(node, lost);
}

bool SimtestFlow::is_live_over(std::size_t node, const PortLost& cable) const {
  return std::any_of(attempts_.begin(), attempts_.end(),
                     [&](const auto& attempt) { return attempt->is_live_over(node, cable); });
}

const std::vector<Hop>* SimtestFlow::live_path_over(const std::string& cable) const {
  return attempts_.empty() ? nullptr : attempts_.back()->source().live_path_over(cable);
}

void SimtestFlow::tend() {
  if (!attempts_.empty()) attempts_.back()->tend();
  const bool idle = attempts_.empty() || attempts_.back()->over();
  if (!idle || waits_to_try_ || given_up_ || !source_lives_) return;
  attempt_ended();
}

// Both ends report how far they came; a message that only one of them has begun is lost.
void SimtestFlow::attempt_ended() {
  for (MessageRecord& record : records_) {
    const bool begun = record.sent != MessageState::kUntouched || record.received != MessageState::kUntouched;
    if (!begun) break;
    if (record.sent == MessageState::kUntouched) record.sent = MessageState::kFailed;
    if (record.received == MessageState::kUntouched) record.received = MessageState::kFailed;
  }
  // Its source was down when it was to start.
  if (attempts_.empty()) return try_later();
  check_reason(*attempts_.back());
  if (next_message() == records_.size()) return;
  const bool counts = attempts_.back()->began() >= calm_at_ && !attempts_.back()->found_no_room();
  if (counts && ++tries_in_calm_ >= plan_.attempts) return fail_rest();
  try_later();
}

// An insider that uses the name of an end of the flow, and refuses what it is asked there, ends it as that end would.
bool SimtestFlow::is_impersonated(const FlowAttempt& attempt) const {
  const FaultPlan& faults = ground_.plan.faults;
  return std::any_of(faults.begin(), faults.end(), [&](const Fault& fault) {
    const std::optional<std::size_t> namesake = namesake_of(ground_.plan, fault);
    if (namesake != plan_.source && namesake != plan_.destination) return false;
    return is_at_work(fault, attempt.began(), ground_.clock().now());
  });
}

// Only these end a flow: a message larger than its receive, an application that dies, and no path for too long. Where
// flows wait for no path, any fault may end them.
void SimtestFlow::check_reason(const FlowAttempt& attempt) {
  const absl::Status& reason = attempt.source().reason();
  if (!attempt.opened() || reason.ok() || absl::IsOutOfRange(reason) || attempt.lost_an_application()) return;
  if (!absl::IsDataLoss(reason) && is_impersonated(attempt)) return;
  const bool waits = ground_.plan.path_wait > Duration{0};
  if (!waits && attempt.began() < calm_at_) return;
  if (waits && attempt.found_no_path()) {
    const bool has_path = ground_.clock().now() >= calm_at_ + kFindsPathWithin && !attempt.found_no_room() &&
                          reaches_(plan_.source, plan_.destination);
    if (!has_path) return;
  }
  ground_.rules.broken(1,
                       absl::StrCat("flow ", number_, " fails without a fault that explains it: ", reason.message()));
}

void SimtestFlow::fail_rest() {
  given_up_ = true;
  if (destination_lives_ && reaches_(plan_.source, plan_.destination)) {
    ground_.rules.broken(
        5, absl::StrCat("flow ", number_, " gives up after all faults have ended: ", describe_unfinished()));
  }
}

void SimtestFlow::kill_source() {
  source_lives_ = false;
  for (const std::unique_ptr<FlowAttempt>& attempt : attempts_) attempt->kill_source();
}

void SimtestFlow::kill_destination() {
  destination_lives_ = false;
  for (const std::unique_ptr<FlowAttempt>& attempt : attempts_) attempt->kill_destination();
}

void SimtestFlow::revive_source() {
  source_lives_ = true;
}

void SimtestFlow::revive_destination() {
  destination_lives_ = true;
}

void SimtestFlow::misjudge(std::uint64_t by) {
  if (!attempts_.empty()) attempts_.back()->misjudge(by);
}

void SimtestFlow::arrived(ArrivedSetup setup) {
  const FlowNonce& nonce = setup.setup().nonce;
  const std::size_t attempt = static_cast<std::size_t>(nonce[0]) | static_cast<std::size_t>(nonce[1]) << 8;
  if (attempt < attempts_.size()) return attempts_[attempt]->arrived(std::move(setup));
  ground_.rules.broken(7, absl::StrCat("flow ", number_, " received a set-up that its source did not send"));
}

bool SimtestFlow::over() const {
  if (std::any_of(attempts_.begin(), attempts_.end(), [](const auto& attempt) { return !attempt->over(); }))
    return false;
  return given_up_ || !source_lives_ || (!waits_to_try_ && next_message() == records_.size());
}

std::string SimtestFlow::describe_unfinished() const {
  std::string text =
      absl::StrCat("flow ", number_, " from ", SimtestGround::name(plan_.source), " to ",
                   SimtestGround::name(plan_.destination), ", attempt ", attempts_.size(), ", circuit ", circuits());
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const MessageRecord& record = records_[i];
    const bool over = record.sent >= MessageState::kDone && record.received >= MessageState::kDone;
    if (over) continue;
    const auto word = [](MessageState state) { return state == MessageState::kPosted ? "posted" : "not posted"; };
    return absl::StrCat(text, ": message ", i, " of ", records_.size(), " (", plan_.messages[i].bytes, " bytes) is ",
                        record.sent >= MessageState::kDone ? "over" : word(record.sent), " at its source and ",
                        record.received >= MessageState::kDone ? "over" : word(record.received), " at its destination");
  }
  return text;
}

void SimtestFlow::check_memory() {
  for (const std::unique_ptr<FlowAttempt>& attempt : attempts_) attempt->check_memory();
}

std::size_t SimtestFlow::circuits() const {
  std::size_t sum = 0;
  for (const std::unique_ptr<FlowAttempt>& attempt : attempts_) sum += attempt->source().dials();
  return sum;
}

std::size_t SimtestFlow::done() const {
  return static_cast<std::size_t>(std::count_if(records_.begin(), records_.end(), [](const MessageRecord& record) {
    return record.sent == MessageState::kDone && record.received == MessageState::kDone;
  }));
}

std::uint64_t SimtestFlow::bytes_done() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const bool done = records_[i].sent == MessageState::kDone && records_[i].received == MessageState::kDone;
    if (done) sum += plan_.messages[i].bytes;
  }
  return sum;
}

std::size_t SimtestFlow::failed() const {
  return records_.size() - done();
}

}  // namespace cableway::sim
