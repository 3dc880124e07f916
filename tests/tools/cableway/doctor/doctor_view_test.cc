#include "tools/cableway/doctor/doctor_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "routing/topology/short_cable_names.h"
#include "tests/routing/sample_topologies.h"

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
NCCL_IB_DISABLE  1         environment       of NCCL's own InfiniBand network: no effect on Cableway; instead of 0
                                             (/etc/nccl.conf:1)
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

TEST(DoctorView, HasShortNamesAndColours) {
  const routing::Topology topology = [] {
    routing::Cable cable = routing::sample_cable(0, 0, 1);
    cable.a.interface = cable.b.interface = "eth1";
    cable.name = "n0.eth1-n1.eth1";
    return routing::make_topology(routing::sample_nodes(2), {cable});
  }();
  const routing::ShortCableNames names(topology);
  const std::vector<Finding> findings = {{Severity::kError, "CODE", "cable n0.eth1-n1.eth1", "is slow", ""}};
  EXPECT_THAT(doctor_text(findings, {}, Look{Paint(true), &names}),
              ::testing::StartsWith("\x1b[1;31merror\x1b[0m    cable n0-n1: is slow [CODE]\n"));
  EXPECT_THAT(doctor_text(findings, {}), ::testing::StartsWith("error    cable n0.eth1-n1.eth1: is slow [CODE]\n"));
  EXPECT_THAT(doctor_json(findings, {}), ::testing::HasSubstr("cable n0.eth1-n1.eth1"));
}

TEST(DoctorView, GoesOnInTheNextLine) {
  std::string what = "does not answer";
  for (int i = 0; i < 20; ++i) what += " and so on";
  const std::vector<Finding> findings = {
      {Severity::kWarning, "CODE", "port eth1", what, what + ": ip link set dev eth1 mtu 9000\nthen again"}};
  const std::string text = doctor_text(findings, {}, Look{.columns = 80});
  std::string longest;
  std::string joined;
  for (const auto each : absl::StrSplit(text, '\n')) {
    const std::string line(each);
    if (line.size() > longest.size()) longest = line;
    joined += " " + line.substr(std::min(line.size(), line.find_first_not_of(' ')));
  }
  EXPECT_LE(longest.size(), 80U) << longest;
  EXPECT_GT(longest.size(), 70U) << longest;
  EXPECT_THAT(joined, ::testing::HasSubstr(what + " [CODE] -> " + what + ": ip link set dev eth1 mtu 9000 then again"));
  EXPECT_THAT(text, ::testing::HasSubstr("ip link set dev eth1 mtu 9000\n            then again\n"));
  EXPECT_THAT(nlohmann::json::parse(doctor_json(findings, {})).at("findings")[0].at("what"), what);
}

TEST(DoctorView, NamesWhereNcclFindsNoSettings) {
  EXPECT_EQ(doctor_text({}, {{}, {"/root/.nccl.conf", "/etc/nccl.conf"}, {}}),
            "\nNCCL settings: none in the environment, /root/.nccl.conf, /etc/nccl.conf\n\n"
            "0 errors, 0 warnings, 0 infos\n");
}

}  // namespace
}  // namespace cableway::cli
