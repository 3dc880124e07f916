// What a finding's code determines unless the finding has something more precise: its grade, its text and its advice.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_CODE_DEFAULT_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_CODE_DEFAULT_H_

#include <span>
#include <string>
#include <string_view>

#include "core/event/event_code.h"
#include "tools/cableway/doctor/finding_code.h"

namespace cableway::cli {

// The names are those of EventSeverity, and "ok".
enum class Severity { kOk, kInfo, kWarning, kError };
std::string_view name_of(Severity severity);

// An event's code whose finding does not have the event's severity. docs/findings.md is the same table.
struct GradeDeviation {
  EventCode code;
  Severity grade;
  std::string_view reason;
};
std::span<const GradeDeviation> grade_deviations();

// The event's severity (debug is kInfo), unless the code is one of grade_deviations().
Severity grade_of(EventCode code);
// kWarning if no event has this name: a node of a later version reports it.
Severity grade_of(std::string_view code);

template <typename Code>
std::string meaning_of(Code code) {
  return std::string(kind_of(code).meaning);
}

// Empty if nothing is to be done.
template <typename Code>
std::string advice_of(Code code) {
  const std::string_view advice = kind_of(code).advice;
  return advice == "-" ? "" : std::string(advice);
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_CODE_DEFAULT_H_
