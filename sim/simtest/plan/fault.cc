#include "sim/simtest/plan/fault.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace cableway::sim {
namespace {

struct KindFacts {
  const char* name;
  FaultTarget target;
};

// In the order of FaultKind.
constexpr std::array<KindFacts, kFaultKinds> kKinds{
    {{"cut", FaultTarget::kCable},          {"silence", FaultTarget::kCable},      {"large", FaultTarget::kCable},
     {"loss", FaultTarget::kCable},         {"burst", FaultTarget::kCable},        {"delay", FaultTarget::kCable},
     {"jitter", FaultTarget::kCable},       {"double", FaultTarget::kCable},       {"corrupt", FaultTarget::kCable},
     {"corrupt_data", FaultTarget::kCable}, {"queue", FaultTarget::kCable},        {"flap", FaultTarget::kCable},
     {"late_send", FaultTarget::kCable},    {"fail_send", FaultTarget::kCable},    {"partition", FaultTarget::kNone},
     {"crash", FaultTarget::kNode},         {"power", FaultTarget::kNode},         {"leave", FaultTarget::kNode},
     {"drain", FaultTarget::kNode},         {"slow", FaultTarget::kNode},          {"refuse", FaultTarget::kNode},
     {"drift", FaultTarget::kNode},         {"kill", FaultTarget::kFlow},          {"cut_on", FaultTarget::kCable},
     {"stop", FaultTarget::kNode},          {"false_verdict", FaultTarget::kFlow}, {"cut_answer", FaultTarget::kFlow},
     {"flip", FaultTarget::kCable},         {"drain_cable", FaultTarget::kCable},  {"rate", FaultTarget::kCable},
     {"replay", FaultTarget::kCable},       {"hold", FaultTarget::kCable},         {"lie", FaultTarget::kNode}}};

constexpr std::int64_t kNanosecondsPerMs = 1'000'000;

std::string ms_text(Duration time) {
  std::string text = absl::StrCat(time.count() / kNanosecondsPerMs);
  const std::int64_t rest = time.count() % kNanosecondsPerMs;
  if (rest == 0) return text;
  std::string digits = absl::StrCat(kNanosecondsPerMs + rest).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return absl::StrCat(text, ".", digits);
}

bool parse_ms(std::string_view text, Duration& time) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string digits = point == std::string_view::npos ? "0" : std::string(text.substr(point + 1));
  std::uint64_t ms = 0;
  std::uint64_t rest = 0;
  if (digits.empty() || digits.size() > 6 || whole.empty() || whole.size() > 9) return false;
  digits.resize(6, '0');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!std::all_of(whole.begin(), whole.end(), is_digit) || !std::all_of(digits.begin(), digits.end(), is_digit)) {
    return false;
  }
  if (!absl::SimpleAtoi(absl::string_view(whole.data(), whole.size()), &ms) || !absl::SimpleAtoi(digits, &rest)) {
    return false;
  }
  time = Duration(static_cast<Duration::rep>(ms * kNanosecondsPerMs + rest));
  return time <= kMaxFaultTime;
}

absl::StatusOr<Fault> parse_fault(std::string_view entry) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(absl::StrCat("fault \"", absl::string_view(entry.data(), entry.size()),
                                                   "\" is not valid; expected KIND@BEGIN_MS+LENGTH_MS:TARGET:AMOUNT"));
  };
  const std::size_t at = entry.find('@');
  const std::size_t plus = entry.find('+');
  const std::size_t colon = entry.find(':');
  const std::size_t second = entry.rfind(':');
  if (at == std::string_view::npos || plus == std::string_view::npos || colon == std::string_view::npos ||
      second == colon || at > plus || plus > colon) {
    return wrong();
  }
  Fault fault;
  const absl::StatusOr<FaultKind> kind = parse_fault_kind(entry.substr(0, at));
  if (!kind.ok()) return kind.status();
  fault.kind = *kind;
  const std::string target(entry.substr(colon + 1, second - colon - 1));
  const std::string amount(entry.substr(second + 1));
  if (!parse_ms(entry.substr(at + 1, plus - at - 1), fault.at) ||
      !parse_ms(entry.substr(plus + 1, colon - plus - 1), fault.lasts) || !absl::SimpleAtoi(target, &fault.target) ||
      !absl::SimpleAtoi(amount, &fault.amount)) {
    return wrong();
  }
  return fault;
}

}  // namespace

const char* to_text(FaultKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].name;
}

FaultTarget target_of(FaultKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].target;
}

absl::StatusOr<FaultKind> parse_fault_kind(std::string_view text) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (text == kKinds[i].name) return static_cast<FaultKind>(i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::string_view(text.data(), text.size()), "\" is not a kind of fault; expected one of ",
                   absl::StrJoin(kKinds, ", ", [](std::string* out, const KindFacts& each) { *out += each.name; })));
}

Duration longest_stall(std::uint64_t slow) {
  constexpr int kChunks = 10;
  constexpr std::uint64_t kMostUs = 6000;
  return kChunks * Duration(std::chrono::microseconds(static_cast<std::int64_t>(std::min(slow, kMostUs))));
}

std::string to_text(const FaultPlan& plan) {
  if (plan.empty()) return "none";
  return absl::StrJoin(plan, ",", [](std::string* out, const Fault& fault) {
    absl::StrAppend(out, to_text(fault.kind), "@", ms_text(fault.at), "+", ms_text(fault.lasts), ":", fault.target, ":",
                    fault.amount);
  });
}

absl::StatusOr<FaultPlan> parse_fault_plan(std::string_view text) {
  FaultPlan plan;
  if (text == "none") return plan;
  const std::vector<std::string> entries = absl::StrSplit(absl::string_view(text.data(), text.size()), ',');
  if (entries.size() > kMaxFaults) {
    return absl::InvalidArgumentError(
        absl::StrCat("the plan has ", entries.size(), " faults; expected ", kMaxFaults, " at most"));
  }
  plan.reserve(entries.size());
  for (const std::string& entry : entries) {
    absl::StatusOr<Fault> fault = parse_fault(entry);
    if (!fault.ok()) return fault.status();
    plan.push_back(*fault);
  }
  return plan;
}

}  // namespace cableway::sim
