#include "sim/simtest/flows/simtest_flow.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/hop_reception.h"
#include "core/flow/frame.h"
#include "sim/simtest/ground/node_process.h"

namespace cableway::sim {
namespace {

constexpr std::chrono::milliseconds kTryAgainAfter{500};
constexpr std::chrono::milliseconds kTriesApart{17};

enum AttemptTrace : std::uint64_t { kOpened = 201, kRefused };

}  // namespace

// One circuit, and its two ends.
class SimtestFlow::Attempt final : public SimtestCircuit::Source {
 public:
  Attempt(SimtestFlow& flow, std::size_t number, std::size_t first)
      : flow_(flow),
        first_(first),
        began_(flow.ground_.clock().now()),
        circuit_(flow.ground_, flow.number_, number, *this) {}

  SimtestCircuit& circuit() { return circuit_; }
  Instant began() const { return began_; }
  SourceEnd* source() { return source_.get(); }
  DestinationEnd* destination() { return destination_.get(); }
  // A relay of the path had no room, which may be temporary.
  bool found_no_room() const { return absl::StrContains(refusal_.message(), kNoRoom); }

  // No end of it is left, and none will be added.
  bool over() const {
    const bool destination_over = destination_ == nullptr || destination_->over();
    return destination_over && (!refusal_.ok() || (source_ != nullptr && source_->over()));
  }

  void arrived(ArrivedSetup setup) {
    if (const absl::Status admitted = flow_.admission_.admit(setup.setup()); !admitted.ok())
      flow_.ground_.rules.broken(7, std::string(admitted.message()));
    if (const absl::Status budget = circuit_.check_budget(setup.setup()); !budget.ok())
      flow_.ground_.rules.broken(5, std::string(budget.message()));
    const bool wanted = flow_.destination_lives_ && refusal_.ok() && destination_ == nullptr;
    const auto prepare = [wanted](const TransportEnd&) -> absl::StatusOr<std::uint32_t> {
      if (!wanted) return absl::NotFoundError("no listener at the destination");
      return kMaxChunkBytes;
    };
    absl::StatusOr<OpenHop> hop = accept_hop(std::move(setup), flow_.ground_.tools.transports, prepare);
    if (!hop.ok()) return;
    const PlantEnd end = take_hop(std::move(hop->connection)).destination_end();
    destination_ = std::make_unique<DestinationEnd>(place(flow_.plan_.destination), first_, end);
    end.user.set(destination_.get());
    destination_->wake();
  }

 private:
  FlowEnd::Place place(std::size_t node) {
    return FlowEnd::Place{flow_.ground_, flow_.plan_, flow_.records_, flow_.number_, node};
  }
  void open(const PlantEnd& end, std::uint32_t chunk_bytes) override {
    trace(kOpened, "");
    source_ = std::make_unique<SourceEnd>(place(flow_.plan_.source), first_, end, chunk_bytes);
    end.user.set(source_.get());
    source_->wake();
  }
  void refused(const absl::Status& reason) override {
    trace(kRefused, std::string(reason.message()));
    refusal_ = reason;
  }
  void trace(std::uint64_t what, const std::string& text) {
    TraceHash& trace = flow_.ground_.trace;
    trace.add(what);
    trace.add(static_cast<std::uint64_t>(flow_.ground_.clock().now().since_start.count()));
    trace.add(flow_.number_);
    trace.add(std::string_view(text));
  }

  SimtestFlow& flow_;
  const std::size_t first_;
  const Instant began_;
  SimtestCircuit circuit_;
  std::unique_ptr<SourceEnd> source_;
  std::unique_ptr<DestinationEnd> destination_;
  absl::Status refusal_;
};

SimtestFlow::SimtestFlow(SimtestGround& ground, const FlowPlan& plan, std::size_t number, Instant calm_at,
                         std::function<bool(std::size_t, std::size_t)> reaches)
    : ground_(ground),
      plan_(plan),
      number_(number),
      calm_at_(calm_at),
      reaches_(std::move(reaches)),
      admission_(SimtestCircuit::cookie_of(number)),
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
  attempts_.push_back(std::make_unique<Attempt>(*this, attempts_.size(), next_message()));
  attempts_.back()->circuit().set_up();
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

void SimtestFlow::tend() {
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

// A message larger than its receive ends its flow at the source; after the faults no other reason is valid.
void SimtestFlow::check_reason(Attempt& attempt) {
  if (attempt.source() == nullptr || attempt.began() < calm_at_ || !destination_lives_) return;
  const absl::Status& reason = attempt.source()->reason();
  if (reason.ok() || absl::IsOutOfRange(reason)) return;
  ground_.rules.broken(1, absl::StrCat("flow ", number_, " fails without a fault: ", reason.message()));
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
  for (const std::unique_ptr<Attempt>& attempt : attempts_) {
    attempt->circuit().abandon(absl::CancelledError("its application has ended"));
    if (attempt->source() != nullptr) attempt->source()->die();
  }
}

void SimtestFlow::kill_destination() {
  destination_lives_ = false;
  for (const std::unique_ptr<Attempt>& attempt : attempts_) {
    if (attempt->destination() != nullptr) attempt->destination()->die();
  }
}

void SimtestFlow::revive_source() {
  source_lives_ = true;
}

void SimtestFlow::revive_destination() {
  destination_lives_ = true;
}

void SimtestFlow::node_ended(std::size_t node) {
  for (const std::unique_ptr<Attempt>& attempt : attempts_) attempt->circuit().node_ended(node);
}

void SimtestFlow::arrived(ArrivedSetup setup) {
  const std::size_t attempt = SimtestCircuit::attempt_of(setup.setup());
  if (attempt < attempts_.size()) return attempts_[attempt]->arrived(std::move(setup));
  ground_.rules.broken(7, absl::StrCat("flow ", number_, " received a set-up that its source did not send"));
}

bool SimtestFlow::over() const {
  if (std::any_of(attempts_.begin(), attempts_.end(), [](const auto& attempt) { return !attempt->over(); }))
    return false;
  return given_up_ || !source_lives_ || (!waits_to_try_ && next_message() == records_.size());
}

std::string SimtestFlow::describe_unfinished() const {
  std::string text = absl::StrCat("flow ", number_, " from ", SimtestGround::name(plan_.source), " to ",
                                  SimtestGround::name(plan_.destination), ", circuit ", attempts_.size());
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
  for (const std::unique_ptr<Attempt>& attempt : attempts_) {
    if (attempt->destination() != nullptr) attempt->destination()->check_memory();
  }
}

std::size_t SimtestFlow::done() const {
  return static_cast<std::size_t>(std::count_if(records_.begin(), records_.end(), [](const MessageRecord& record) {
    return record.sent == MessageState::kDone && record.received == MessageState::kDone;
  }));
}

std::size_t SimtestFlow::failed() const {
  return records_.size() - done();
}

}  // namespace cableway::sim
