#include "tools/cableway/doctor/code_default.h"

#include <algorithm>
#include <array>

namespace cableway::cli {
namespace {

constexpr std::array<GradeDeviation, 4> kDeviations{{
    {EventCode::kKeyMissing, Severity::kInfo,
     "no key is needed where cables reach only trusted hosts: scripts must not see a fault there"},
    {EventCode::kNoPorts, Severity::kError,
     "a host without a port cannot run a job; the event may come while ports still appear"},
    {EventCode::kCableUp, Severity::kOk, "it was examined, and nothing is wrong"},
    {EventCode::kCircuitBroken, Severity::kInfo, "a count since the node's start, not the present state"},
}};

Severity equivalent(EventSeverity severity) {
  switch (severity) {
    case EventSeverity::kDebug:
    case EventSeverity::kInfo:
      return Severity::kInfo;
    case EventSeverity::kWarning:
      return Severity::kWarning;
    case EventSeverity::kError:
      break;
  }
  return Severity::kError;
}

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kOk:
      return "ok";
    case Severity::kInfo:
      return name_of(EventSeverity::kInfo);
    case Severity::kWarning:
      return name_of(EventSeverity::kWarning);
    case Severity::kError:
      break;
  }
  return name_of(EventSeverity::kError);
}

std::span<const GradeDeviation> grade_deviations() {
  return kDeviations;
}

Severity grade_of(EventCode code) {
  const auto* const found = std::find_if(kDeviations.begin(), kDeviations.end(),
                                         [&](const GradeDeviation& each) { return each.code == code; });
  return found == kDeviations.end() ? equivalent(kind_of(code).severity) : found->grade;
}

Severity grade_of(std::string_view code) {
  const EventKind* const kind = find_event_kind(code);
  return kind == nullptr ? Severity::kWarning : grade_of(kind->code);
}

}  // namespace cableway::cli
