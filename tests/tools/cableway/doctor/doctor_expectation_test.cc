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

}  // namespace
}  // namespace cableway::cli
