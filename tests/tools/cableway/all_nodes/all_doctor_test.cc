#include "tools/cableway/all_nodes/all_doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json node_document(const std::string& node) {
  return {{"node", node},          {"draining", false},         {"draining_cables", Json::array()},
          {"has_key", true},       {"problems", Json::array()}, {"lost_cables", Json::object()},
          {"ports", Json::array()}};
}

Json lossy(const std::string& interface) {
  return {{"code", "LARGE_PACKETS_LOST"}, {"interface", interface}, {"text", "large packets are lost"}, {"seconds", 3}};
}

class AllDoctorTest : public ::testing::Test {
 protected:
  std::vector<ClusterFinding> examine() { return examine_all_nodes(documents_, settings_); }
  void show(const std::string& node, Json document) { documents_.shown.push_back({node, std::move(document)}); }

  Settings settings_;
  NodeDocuments documents_;
};

TEST_F(AllDoctorTest, AHealthyClusterHasNoFinding) {
  show("n0", node_document("n0"));
  show("n1", node_document("n1"));
  EXPECT_THAT(examine(), IsEmpty());
  EXPECT_THAT(all_doctor_text({}, documents_), HasSubstr("2 of 2 nodes have answered: 0 errors, 0 warnings, 0 infos"));
}

TEST_F(AllDoctorTest, ACableThatBothEndsReportIsOneFinding) {
  Json one = node_document("n0");
  one["problems"].push_back(lossy("eth0"));
  one["lost_cables"]["eth0"] = {{"node", "n1"}, {"interface", "eth1"}};
  Json other = node_document("n1");
  other["problems"].push_back(lossy("eth1"));
  other["lost_cables"]["eth1"] = {{"node", "n0"}, {"interface", "eth0"}};
  show("n0", one);
  show("n1", other);
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].about, ElementsAre("cable n0 eth0 to n1 eth1"));
  EXPECT_THAT(findings[0].nodes, ElementsAre("n0", "n1"));
}

TEST_F(AllDoctorTest, AProblemInFixedWordsHasItsAdvice) {
  const EventKind& kind = kind_of(EventCode::kKeyUnreadable);
  Json document = node_document("n0");
  document["problems"].push_back(
      {{"code", kind.name}, {"interface", ""}, {"text", kind.meaning}, {"seconds", nullptr}});
  document["problems"].push_back(lossy("eth0"));
  show("n0", document);
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].advice,
            absl::StrCat(std::string(kind.advice), "; cableway doctor on that node has the full text"));
  EXPECT_EQ(findings[1].advice, "") << "it is in the text";
}

TEST_F(AllDoctorTest, TwoCablesAreTwo) {
  Json one = node_document("n0");
  for (const char* interface : {"eth0", "eth1"}) {
    one["problems"].push_back(lossy(interface));
    one["lost_cables"][interface] = {{"node", "n1"}, {"interface", interface}};
  }
  show("n0", one);
  EXPECT_EQ(examine().size(), 2U);
}

TEST_F(AllDoctorTest, WhatManyNodesHaveIsOne) {
  for (const char* name : {"n0", "n1", "n2"}) {
    Json document = node_document(name);
    document["has_key"] = false;
    show(name, document);
  }
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "KEY_MISSING");
  EXPECT_THAT(findings[0].nodes, ElementsAre("n0", "n1", "n2"));
  EXPECT_EQ(worst_of_all(findings), Severity::kInfo);
}

TEST_F(AllDoctorTest, ANodeThatDoesNotAnswerIsAnErrorAndOneOfAnotherVersionAWarning) {
  show("n0", node_document("n0"));
  documents_.missing = {{"n1", "timed out", "no answer", "restart it"}, {"n2", "other version", "old", "install"}};
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_EQ(findings[0].code, "NODE_NOT_ANSWERING");
  EXPECT_THAT(findings[0].about, ElementsAre("node n1"));
  EXPECT_EQ(findings[1].severity, Severity::kWarning);
  const Json json = all_doctor_json(findings, documents_);
  EXPECT_EQ(json.at("worst"), "error");
  EXPECT_EQ(json.at("nodes").at("n1").at("error").at("cause"), "timed out");
}

TEST_F(AllDoctorTest, NodesThatWereNotHeardInTimeAreAnError) {
  show("n0", node_document("n0"));
  documents_.unheard = 3;
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].about, ElementsAre("3 more nodes"));
  EXPECT_THAT(all_doctor_text(findings, documents_), HasSubstr("1 of 4 nodes have answered: 1 error"));
}

TEST_F(AllDoctorTest, WhatCannotBeReadIsAFindingOfThatNode) {
  show("n0", node_document("n0"));
  Json broken = node_document("n1");
  broken["problems"] = {{{"code", 7}}};
  show("n1", broken);
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].about, ElementsAre("node n1"));
  EXPECT_THAT(findings[0].what, HasSubstr("unreadable: its answer cannot be read"));
}

}  // namespace
}  // namespace cableway::cli
