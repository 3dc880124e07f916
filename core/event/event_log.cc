#include "core/event/event_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/printable.h"

namespace cableway {
namespace {

constexpr std::chrono::seconds kReportAfter{1};

static_assert(EventLog::kKeptOfSeverity[0] + EventLog::kKeptOfSeverity[1] + EventLog::kKeptOfSeverity[2] +
                  EventLog::kKeptOfSeverity[3] ==
              EventLog::kKept);

std::string bounded(const std::string& text, std::size_t max_bytes) {
  constexpr char kCut[] = "..";
  if (text.size() <= max_bytes) return printable(text);
  return absl::StrCat(printable(text.substr(0, max_bytes - 2)), kCut);
}

}  // namespace

EventLog::EventLog(std::uint64_t incarnation, Clock& clock, WallClock wall_clock, Listener listener)
    : incarnation_(incarnation), clock_(clock), wall_clock_(std::move(wall_clock)), listener_(std::move(listener)) {}

void EventLog::raise(EventCode code, std::string text, EventFields fields) {
  ++of(code).count;
  if (!take(code)) return leave_out(code);
  record(code, text, std::move(fields));
}

bool EventLog::take(EventCode code) {
  const bool debug = kind_of(code).severity == EventSeverity::kDebug;
  const Duration price = std::chrono::duration_cast<Duration>(std::chrono::seconds(1)) /
                         static_cast<Duration::rep>(debug ? kDebugPerSecond : kPerSecond);
  const Duration credit = price * static_cast<Duration::rep>(debug ? kDebugBurst : kBurst);
  const Instant now = clock_.now();
  Instant& paid_until = of(code).paid_until;
  const Instant paid = std::max(paid_until, now) + price;
  if (paid - now > credit) return false;
  paid_until = paid;
  return true;
}

void EventLog::leave_out(EventCode code) {
  OfCode& entry = of(code);
  ++entry.left_out;
  ++entry.to_report;
  if (entry.report != nullptr) return;
  entry.report = clock_.call_after(kReportAfter, [this, code] { report_left_out(code); });
}

void EventLog::report_left_out() {
  for (const EventKind& kind : event_kinds()) {
    if (of(kind.code).to_report > 0) report_left_out(kind.code);
  }
}

void EventLog::report_left_out(EventCode code) {
  OfCode& entry = of(code);
  entry.report.reset();
  const std::string number = absl::StrCat(std::exchange(entry.to_report, 0));
  record(code, absl::StrCat(number, " more of these events were left out"), {{"left_out", number}});
}

void EventLog::record(EventCode code, const std::string& text, EventFields fields) {
  Event event{++last_, clock_.now(), wall_clock_(), code, std::move(fields), bounded(text, kMaxTextBytes)};
  if (event.fields.size() > kMaxFields) event.fields.resize(kMaxFields);
  for (EventField& field : event.fields) field.value = bounded(field.value, kMaxFieldBytes);
  std::deque<Event>& kept = of(code).kept;
  kept.push_back(std::move(event));
  ++kept_[static_cast<std::size_t>(kind_of(code).severity)];
  make_room(kind_of(code).severity);
  listener_(kept.back());
}

// Never evicts the newest event of a code: the code with the most has two or more.
void EventLog::make_room(EventSeverity severity) {
  std::size_t& kept = kept_[static_cast<std::size_t>(severity)];
  if (kept <= kKeptOfSeverity[static_cast<std::size_t>(severity)]) return;
  OfCode* most = nullptr;
  for (const EventKind& kind : event_kinds()) {
    OfCode& entry = of(kind.code);
    if (kind.severity == severity && (most == nullptr || entry.kept.size() > most->kept.size())) most = &entry;
  }
  most->kept.pop_front();
  --kept;
}

std::vector<Event> EventLog::events() const {
  std::vector<Event> events;
  for (const OfCode& entry : codes_) events.insert(events.end(), entry.kept.begin(), entry.kept.end());
  std::sort(events.begin(), events.end(),
            [](const Event& left, const Event& right) { return left.number < right.number; });
  return events;
}

std::size_t EventLog::size() const {
  std::size_t size = 0;
  for (const std::size_t kept : kept_) size += kept;
  return size;
}

}  // namespace cableway
