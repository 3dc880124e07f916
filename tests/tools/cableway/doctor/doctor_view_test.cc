#include "tools/cableway/doctor/doctor_view.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace cableway::cli {
namespace {

TEST(DoctorView, PutsTheWorstFirst) {
  const std::vector<Finding> findings = {
      {Severity::kOk, "NODE_ANSWERS", "node", "answers", ""},
      {Severity::kWarning, "CARRIER_MISSING", "port eth1", "no carrier", "plug it in"},
      {Severity::kError, "KEY_UNREADABLE", "key", "is none", ""}};
  EXPECT_EQ(doctor_text(findings), R"(error    key: is none [KEY_UNREADABLE]
warning  port eth1: no carrier [CARRIER_MISSING]
         -> plug it in
ok       node: answers [NODE_ANSWERS]

1 error, 1 warning, 0 infos
)");
  EXPECT_EQ(nlohmann::json::parse(doctor_json(findings)), nlohmann::json::parse(R"({
    "schema": 1, "worst": "error", "findings": [
    {"severity": "ok", "code": "NODE_ANSWERS", "about": "node", "what": "answers", "advice": null},
    {"severity": "warning", "code": "CARRIER_MISSING", "about": "port eth1", "what": "no carrier", "advice": "plug it in"},
    {"severity": "error", "code": "KEY_UNREADABLE", "about": "key", "what": "is none", "advice": null}]})"));
  EXPECT_EQ(worst_of({}), Severity::kOk);
}

}  // namespace
}  // namespace cableway::cli
