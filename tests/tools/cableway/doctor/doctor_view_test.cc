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
  const NcclSettings nccl{{{"NCCL_IB_DISABLE", "1", "environment", {"0 (/etc/nccl.conf:1)"}},
                           {"NCCL_NET", "cableway", "/etc/nccl.conf:2", {}}},
                          {"/etc/nccl.conf"},
                          {}};
  EXPECT_EQ(doctor_text(findings, nccl), R"(error    key: is none [KEY_UNREADABLE]
warning  port eth1: no carrier [CARRIER_MISSING]
         -> plug it in
ok       node: answers [NODE_ANSWERS]

NCCL setting     value     from              remark
NCCL_IB_DISABLE  1         environment       of NCCL's own InfiniBand network: no effect on Cableway; instead of 0 (/etc/nccl.conf:1)
NCCL_NET         cableway  /etc/nccl.conf:2

1 error, 1 warning, 0 infos
)");
  EXPECT_EQ(nlohmann::json::parse(doctor_json(findings, nccl)), nlohmann::json::parse(R"x({
    "schema": 1, "worst": "error", "findings": [
    {"severity": "ok", "code": "NODE_ANSWERS", "about": "node", "what": "answers", "advice": null, "measured": null},
    {"severity": "warning", "code": "CARRIER_MISSING", "about": "port eth1", "what": "no carrier", "advice": "plug it in",
     "measured": null},
    {"severity": "error", "code": "KEY_UNREADABLE", "about": "key", "what": "is none", "advice": null, "measured": null}],
    "nccl_settings": [
    {"name": "NCCL_IB_DISABLE", "value": "1", "source": "environment", "overridden": ["0 (/etc/nccl.conf:1)"],
     "remark": "of NCCL's own InfiniBand network: no effect on Cableway"},
    {"name": "NCCL_NET", "value": "cableway", "source": "/etc/nccl.conf:2", "overridden": [], "remark": null}],
    "nccl_files": ["/etc/nccl.conf"]})x"));
  EXPECT_EQ(worst_of({}), Severity::kOk);
}

TEST(DoctorView, NamesWhereNcclFindsNoSettings) {
  EXPECT_EQ(doctor_text({}, {{}, {"/root/.nccl.conf", "/etc/nccl.conf"}, {}}),
            "\nNCCL settings: none in the environment, /root/.nccl.conf, /etc/nccl.conf\n\n"
            "0 errors, 0 warnings, 0 infos\n");
}

}  // namespace
}  // namespace cableway::cli
