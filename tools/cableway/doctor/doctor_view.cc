#include "tools/cableway/doctor/doctor_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/json_schema.h"
#include "tools/cableway/doctor/doctor_nccl.h"
#include "tools/cableway/doctor/finding_lines.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

std::string severity_name(Severity severity) {
  return std::string(name_of(severity));
}

std::string count_text(const std::vector<Finding>& findings, Severity severity) {
  const auto count = std::count_if(findings.begin(), findings.end(),
                                   [&](const Finding& finding) { return finding.severity == severity; });
  return absl::StrCat(count, " ", severity_name(severity), count == 1 ? "" : "s");
}

std::string nccl_text(const NcclSettings& nccl) {
  if (nccl.settings.empty()) {
    return absl::StrCat("NCCL settings: none in the environment", nccl.files.empty() ? "" : ", ",
                        absl::StrJoin(nccl.files, ", "), "\n");
  }
  TextTable table({{"NCCL setting"},
                   {"value"},
                   {"from", TextTable::Align::kLeft, TextTable::Fit::kCutMiddle},
                   {"remark", TextTable::Align::kLeft, TextTable::Fit::kWrap}});
  for (const NcclSetting& setting : nccl.settings) {
    const std::string overridden =
        setting.overridden.empty() ? "" : absl::StrCat("instead of ", absl::StrJoin(setting.overridden, ", "));
    const std::string remark = remark_on(setting);
    table.add_row({setting.name, shortened(setting.value), setting.source,
                   absl::StrCat(remark, !remark.empty() && !overridden.empty() ? "; " : "", overridden)});
  }
  return table.text();
}

}  // namespace

Severity worst_of(const std::vector<Finding>& findings) {
  Severity worst = Severity::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

std::string doctor_text(std::vector<Finding> findings, const NcclSettings& nccl, const Look& look) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& left, const Finding& right) { return left.severity > right.severity; });
  std::string lines;
  for (const Finding& finding : findings) lines += finding_lines(finding, look);
  return absl::StrCat(lines, "\n", nccl_text(nccl), "\n", count_text(findings, Severity::kError), ", ",
                      count_text(findings, Severity::kWarning), ", ", count_text(findings, Severity::kInfo), "\n");
}

std::string doctor_json(const std::vector<Finding>& findings, const NcclSettings& nccl) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"severity", severity_name(finding.severity)},
                    {"code", finding.code},
                    {"about", finding.about},
                    {"what", finding.what},
                    {"advice", finding.advice.empty() ? Json(nullptr) : Json(finding.advice)},
                    {"measured", finding.measured}});
  }
  Json settings = Json::array();
  for (const NcclSetting& setting : nccl.settings) {
    const std::string remark = remark_on(setting);
    settings.push_back({{"name", setting.name},
                        {"value", setting.value},
                        {"source", setting.source},
                        {"overridden", setting.overridden},
                        {"remark", remark.empty() ? Json(nullptr) : Json(remark)}});
  }
  const Json view = {{routing::kSchemaMember, routing::kJsonSchema},
                     {"worst", severity_name(worst_of(findings))},
                     {"findings", list},
                     {"nccl_settings", settings},
                     {"nccl_files", nccl.files}};
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cableway::cli
