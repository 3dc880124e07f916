#include "tools/cableway/doctor/finding_lines.h"

#include "absl/strings/str_cat.h"

namespace cableway::cli {

std::string finding_lines(const Finding& finding, const Look& look) {
  constexpr std::size_t kSeverityWidth = 9;
  const std::string severity(name_of(finding.severity));
  const std::string lead = look.paint.severity(severity, severity) + std::string(kSeverityWidth - severity.size(), ' ');
  std::string what = look.lines(lead, absl::StrCat(finding.about, ": ", finding.what, " [", finding.code, "]"));
  if (finding.advice.empty()) return what;
  return what + look.lines(std::string(kSeverityWidth, ' ') + "-> ", finding.advice);
}

}  // namespace cableway::cli
