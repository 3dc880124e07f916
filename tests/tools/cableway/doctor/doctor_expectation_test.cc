// Doctor's findings about the difference from the expected topology.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/tools/cableway/expectation/wired.h"
#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/finding_code.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kTriangle = {"n0 a n1 b", "n1 a n2 b", "n2 a n0 b"};

// "severity code about" of each finding about the expectation.
std::vector<std::string> findings(std::optional<absl::StatusOr<ExpectedTopology>> expected,
                                  std::optional<routing::Topology> found) {
  Examined examined;
  examined.node = absl::NotFoundError("none");
  examined.expected = std::move(expected);
  examined.topology = std::move(found);
  std::vector<std::string> texts;
  for (const Finding& each : examine(examined)) {
    const auto kinds = finding_kinds();
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const FindingKind& known) { return known.name == each.code; });
    if (kind == kinds.end() || kind->code < FindingCode::kTopologyAsExpected) continue;
    EXPECT_EQ(each.advice.empty(), each.severity == Severity::kOk);
    texts.push_back(absl::StrCat(std::string(name_of(each.severity)), " ", each.code, " ", each.about));
  }
  return texts;
}

ExpectedTopology triangle() {
  return {"ring.toml", wired(kTriangle)};
}

TEST(DoctorExpectation, SaysThatAllIsAsExpected) {
  EXPECT_THAT(findings(triangle(), wired(kTriangle)), ElementsAre("ok TOPOLOGY_AS_EXPECTED topology"));
  EXPECT_THAT(findings(std::nullopt, wired(kTriangle)), IsEmpty());
  EXPECT_THAT(findings(triangle(), std::nullopt), IsEmpty());
}

TEST(DoctorExpectation, HasOneFindingForEachDifference) {
  EXPECT_THAT(findings(triangle(), wired({"n0 a n1 b"})), ElementsAre("warning EXPECTED_NODE_MISSING node n2"));
  EXPECT_THAT(findings(triangle(), wired({"n0 a n1 b", "n1 a n2 b"})),
              ElementsAre("warning EXPECTED_CABLE_MISSING cable n0 - n2"));
  EXPECT_THAT(findings(triangle(), wired({"n0 a n1 b", "n1 a n2 b", "n2 a n0 b", "n0 c n1 c"})),
              ElementsAre("warning CABLE_NOT_EXPECTED cable n0 - n1"));
  EXPECT_THAT(findings(triangle(), wired({"n0 a n1 a", "n1 b n2 b", "n2 a n0 b"})),
              ElementsAre("warning CABLES_SWAPPED cables of n0, n1, n2"));
  EXPECT_THAT(findings(triangle(), wired({"n0 a n1 b", "n1 a n2 c", "n2 a n0 b"})),
              ElementsAre("warning CABLE_IN_WRONG_PLUG cable n1 - n2"));
  EXPECT_THAT(findings(triangle(), wired({"n0 a m b", "m a n2 b", "n2 a n0 b"})),
              ElementsAre("warning NODE_NAMED_OTHERWISE node m"));
  EXPECT_THAT(findings(triangle(), wired({"n0 a n1 b", "n1 a n2 b", "n2 a n0 b", "n0 c m c"})),
              ElementsAre("warning NODE_NOT_EXPECTED node m"));
  EXPECT_THAT(findings(ExpectedTopology{"twins.toml", wired({"n0 p/a n1 p/a", "n0 p/b n1 p/b"})}, wired({"n0 a n1 a"})),
              ElementsAre("warning CABLE_FUNCTIONS_DIFFER cable n0 - n1"));
}

TEST(DoctorExpectation, AnUnreadableFileIsAnError) {
  EXPECT_THAT(findings(absl::InvalidArgumentError("e.toml:1: no"), wired(kTriangle)),
              ElementsAre("error EXPECTATION_UNREADABLE topology"));
}

// A node of the triangle, with these problems.
std::vector<std::string> wrong_at(const std::string& node, const routing::Topology& found, const Json& problems) {
  Examined examined;
  examined.status = Json::parse(R"({"draining": false, "draining_cables": [],
    "relayed": {"circuits_broken": 0, "setups_refused": 0}})");
  (*examined.status)["node"] = node;
  (*examined.status)["cluster"] = "lab";
  (*examined.status)["problems"] = problems;
  examined.ports = Json{{"ports", Json::array()}, {"rejected", Json::array()}};
  examined.expected = triangle();
  examined.topology = found;
  std::vector<std::string> codes;
  for (const Finding& each : examine(examined)) {
    if (each.severity >= Severity::kWarning && each.code != "NO_PORTS" && each.code != "PLUGIN_MISSING") {
      codes.push_back(each.code);
    }
  }
  return codes;
}

Json problem(const std::string& code, const std::string& interface, const Json& neighbour = nullptr) {
  return {{"code", code},     {"interface", interface}, {"neighbour", neighbour},
          {"cable", nullptr}, {"text", "text"},         {"seconds", 1}};
}

TEST(DoctorExpectation, ExchangedCablesExplainTheirAddresses) {
  const routing::Topology swapped = wired({"n0 a n1 a", "n1 b n2 b", "n2 a n0 b"});
  const Json problems = Json::array({problem("LINK_LOCAL_USED", "a"), problem("LINK_LOCAL_USED", "b")});
  EXPECT_THAT(wrong_at("n1", swapped, problems), ElementsAre("CABLES_SWAPPED"));
  EXPECT_THAT(wrong_at("n0", swapped, Json::array({problem("LINK_LOCAL_USED", "a")})), ElementsAre("CABLES_SWAPPED"));
  EXPECT_THAT(wrong_at("n0", swapped, Json::array({problem("LINK_LOCAL_USED", "b")})),
              ElementsAre("LINK_LOCAL_USED", "CABLES_SWAPPED"))
      << "of the third cable, which is right";
  EXPECT_THAT(wrong_at("n1", swapped, Json::array({problem("CABLE_REFUSED", "a")})),
              ElementsAre("CABLE_REFUSED", "CABLES_SWAPPED"))
      << "as for the MTU";
}

TEST(DoctorExpectation, ATopologyInPartsIsToldUnlessMoreIsKnown) {
  EXPECT_THAT(wrong_at("n0", wired({"n0 a n1 b"}, {"n2"}), Json::array()), ElementsAre("EXPECTED_NODE_MISSING"));
  EXPECT_THAT(wrong_at("n0", wired({"n0 a n1 b", "n1 a n2 b", "n2 a n0 b", "m a k a"}), Json::array()),
              ElementsAre("TOPOLOGY_IN_PARTS", "NODE_NOT_EXPECTED", "NODE_NOT_EXPECTED"));
}

TEST(DoctorExpectation, NothingIsComparedWhileTwoNodesHaveOneName) {
  const routing::Topology found = wired({"n0 a n1 b"});
  EXPECT_THAT(wrong_at("n0", found, Json::array()), ElementsAre("EXPECTED_NODE_MISSING"));
  EXPECT_THAT(wrong_at("n0", found, Json::array({problem("NAME_TAKEN", "b", "n1")})), ElementsAre("NAME_TAKEN"));
}

}  // namespace
}  // namespace cableway::cli
