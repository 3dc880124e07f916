// A cause at one end of a cable and what follows from it at the other end: one finding, and none for another cable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/tools/cableway/doctor/wire_port.h"
#include "tools/cableway/all_nodes/all_doctor.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::UnorderedElementsAre;

Json heard(const std::string& node, const std::string& interface, const Json& hears_us) {
  return wire_neighbour(node, interface, "heard", hears_us);
}

Json known(const std::string& code, const std::string& interface, const Json& neighbour = nullptr) {
  return {{"code", code},     {"interface", interface}, {"neighbour", neighbour},
          {"cable", nullptr}, {"text", "what it says"}, {"seconds", 3}};
}

// The cable n0 eth0 to n1 eth1, and others at their ports with other names.
class FarCausesTest : public ::testing::Test {
 protected:
  FarCausesTest() {
    for (const char* node : {"n0", "n1"}) documents_.shown.push_back({node, document_of(node)});
  }

  static Json document_of(const std::string& node) {
    return {{"node", node},          {"draining", false},         {"draining_cables", Json::array()},
            {"has_key", true},       {"problems", Json::array()}, {"lost_cables", Json::object()},
            {"ports", Json::array()}};
  }

  Json& n0() { return documents_.shown[0].document; }
  Json& n1() { return documents_.shown[1].document; }

  static void lose(Json& document, const std::string& port, const std::string& node, const std::string& interface) {
    document["lost_cables"][port] = {{"node", node}, {"interface", interface}};
  }
  static void add_port(Json& document, const std::string& interface, const Json& neighbours = Json::array()) {
    document["ports"].push_back(wire_port(interface, neighbours));
  }
  static void add_problem(Json& document, const Json& problem) { document["problems"].push_back(problem); }

  // n1 hears nothing on its end of the cable, which it had once.
  void silence_n1() {
    add_port(n1(), "eth1");
    lose(n1(), "eth1", "n0", "eth0");
  }
  // Nor is there a carrier at n0's end.
  void take_carrier_of_n0() {
    add_port(n0(), "eth0");
    n0()["ports"].back()["carrier"] = false;
    lose(n0(), "eth0", "n1", "eth1");
  }

  std::vector<ClusterFinding> examine() {
    NodeDocuments documents = documents_;
    std::vector<ClusterFinding> findings = examine_all_nodes(documents, Settings());
    EXPECT_TRUE(documents.missing.empty()) << "a document cannot be read";
    std::erase_if(findings, [](const ClusterFinding& each) { return each.severity <= Severity::kInfo; });
    return findings;
  }
  // With what is missing.
  std::vector<ClusterFinding> wrong() {
    NodeDocuments documents = documents_;
    std::vector<ClusterFinding> findings = examine_all_nodes(documents, Settings());
    std::erase_if(findings, [](const ClusterFinding& each) { return each.severity <= Severity::kInfo; });
    return findings;
  }
  std::vector<std::string> wrong_codes() {
    std::vector<std::string> codes;
    for (const ClusterFinding& each : wrong()) codes.push_back(each.code);
    return codes;
  }
  std::vector<std::string> codes() {
    std::vector<std::string> codes;
    for (const ClusterFinding& each : examine()) codes.push_back(each.code);
    return codes;
  }

  NodeDocuments documents_;
};

TEST_F(FarCausesTest, LossOneWayIsFoundWhereTheOtherEndIsHeard) {
  add_port(n0(), "eth0", Json::array({heard("n1", "eth1", false)}));
  silence_n1();
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "CABLE_ONE_WAY");
  EXPECT_THAT(findings[0].about, ElementsAre("cable n0 eth0 to n1 eth1"));
}

TEST_F(FarCausesTest, LossOneWayExplainsAnEndThatHasNeverHeardTheOther) {
  add_port(n0(), "eth0", Json::array({heard("n1", "eth1", false)}));
  add_port(n1(), "eth1");
  EXPECT_THAT(codes(), ElementsAre("CABLE_ONE_WAY"));
}

TEST_F(FarCausesTest, LossOneWayExplainsNoOtherPortThatIsSilent) {
  add_port(n0(), "eth0", Json::array({heard("n1", "eth1", false)}));
  silence_n1();
  add_port(n1(), "eth2");
  lose(n1(), "eth2", "n0", "eth3");
  EXPECT_THAT(codes(), UnorderedElementsAre("CABLE_ONE_WAY", "NEIGHBOUR_MISSING"));
}

TEST_F(FarCausesTest, NeighboursOnOneSegmentAreTwoCables) {
  add_port(n0(), "eth0", Json::array({heard("n1", "eth1", false), heard("n2", "eth1", false)}));
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].about, ElementsAre("cable n0 eth0 to n1 eth1"));
  EXPECT_THAT(findings[1].about, ElementsAre("cable n0 eth0 to n2 eth1"));
}

TEST_F(FarCausesTest, APortThatCannotBeUsedExplainsTheLostCarrier) {
  take_carrier_of_n0();
  lose(n1(), "eth1", "n0", "eth0");
  add_problem(n1(), known("PORT_UNUSABLE", "eth1"));
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "PORT_UNUSABLE");
  EXPECT_THAT(findings[0].about, ElementsAre("cable n0 eth0 to n1 eth1"));
}

TEST_F(FarCausesTest, AnotherPortThatCannotBeUsedExplainsNone) {
  take_carrier_of_n0();
  add_problem(n1(), known("PORT_UNUSABLE", "eth7"));
  EXPECT_THAT(codes(), UnorderedElementsAre("CARRIER_MISSING", "PORT_UNUSABLE"));
}

TEST_F(FarCausesTest, APortThatIsUsedInPartExplainsNoLostCarrier) {
  take_carrier_of_n0();
  add_port(n1(), "eth1");
  n1()["ports"].back()["carrier"] = false;
  lose(n1(), "eth1", "n0", "eth0");
  add_problem(n1(), known("PORT_UNUSABLE", "eth1"));
  EXPECT_THAT(codes(), UnorderedElementsAre("CARRIER_MISSING", "PORT_UNUSABLE"));
}

TEST_F(FarCausesTest, APortThatCannotBeUsedExplainsSilence) {
  silence_n1();
  add_problem(n0(), known("PORT_UNUSABLE", "eth0"));
  EXPECT_THAT(codes(), ElementsAre("PORT_UNUSABLE"));
}

TEST_F(FarCausesTest, ANamesakeExplainsWhyItsCableIsNotUsed) {
  add_port(n1(), "eth1", Json::array({heard("n0", "eth0", true)}));
  add_port(n0(), "eth0", Json::array({heard("n1", "eth1", true)}));
  n0()["ports"].back()["neighbours"][0]["state"] = "unpaired";
  add_problem(n0(), known("NAME_TAKEN", "eth0", "n1"));
  EXPECT_THAT(codes(), ElementsAre("NAME_TAKEN"));
}

TEST_F(FarCausesTest, ANamesakeOnAnotherPortExplainsNone) {
  add_port(n1(), "eth1", Json::array({heard("n0", "eth0", true)}));
  add_problem(n0(), known("NAME_TAKEN", "eth5", "n1"));
  EXPECT_THAT(codes(), UnorderedElementsAre("NAME_TAKEN", "CABLE_UNUSED_THERE"));
}

// Which of the two it uses, only the other end could say.
TEST_F(FarCausesTest, ANamesakeExplainsACableToANodeThatCannotBeAsked) {
  add_port(n1(), "eth1", Json::array({heard("n8", "eth0", true)}));
  EXPECT_THAT(codes(), ElementsAre("CABLE_UNUSED_THERE"));
  add_problem(n0(), known("NAME_TAKEN", "eth5", "n1"));
  EXPECT_THAT(codes(), ElementsAre("NAME_TAKEN"));
}

TEST_F(FarCausesTest, OneNameIsOneCauseWhereverItIsHeard) {
  add_problem(n0(), known("NAME_TAKEN", "eth0", "x"));
  add_problem(n1(), known("NAME_TAKEN", "eth1", "x"));
  add_problem(n1(), known("NAME_TAKEN", "eth1", "y"));
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].nodes, ElementsAre("n0", "n1"));
  EXPECT_THAT(findings[1].nodes, ElementsAre("n1"));
}

TEST_F(FarCausesTest, ANameIsDefendedAsAnotherNodeHasIt) {
  add_problem(n0(), known("NAME_DEFENDED", ""));
  EXPECT_THAT(codes(), ElementsAre("NAME_DEFENDED"));
  add_problem(n1(), known("NAME_TAKEN", "eth1", "n7"));
  EXPECT_THAT(codes(), UnorderedElementsAre("NAME_DEFENDED", "NAME_TAKEN")) << "that is another name";
  add_problem(n1(), known("NAME_TAKEN", "eth1", "n0"));
  EXPECT_THAT(codes(), UnorderedElementsAre("NAME_TAKEN", "NAME_TAKEN"));
}

TEST_F(FarCausesTest, WhatTheOtherEndRefusesExplainsSilence) {
  for (const char* code : {"VERSION_DIFFERS", "CLUSTER_DIFFERS", "KEY_DIFFERS", "CONTROL_SOCKET_FAILED"}) {
    n0()["problems"] = Json::array({known(code, "eth0")});
    n1()["ports"] = Json::array();
    silence_n1();
    EXPECT_THAT(codes(), ElementsAre(code));
    n0()["problems"] = Json::array({known(code, "eth4")});
    EXPECT_THAT(codes(), UnorderedElementsAre(code, "NEIGHBOUR_MISSING")) << "that is another port";
    n0()["problems"] = Json::array({known(code, "eth0", "n7")});
    EXPECT_THAT(codes(), UnorderedElementsAre(code, "NEIGHBOUR_MISSING")) << "that is another node on its segment";
  }
}

// What is refused there is of another node on its segment.
TEST_F(FarCausesTest, ARefusalThatNamesNoNodeIsNotOfOneThatIsHeardThere) {
  for (const char* code : {"VERSION_DIFFERS", "CLUSTER_DIFFERS", "KEY_DIFFERS"}) {
    n0() = document_of("n0");
    n1() = document_of("n1");
    silence_n1();
    add_port(n0(), "eth0", Json::array({heard("n1", "eth1", true)}));
    n0()["ports"].back()["neighbours"][0]["state"] = "unpaired";
    add_problem(n0(), known(code, "eth0"));
    EXPECT_THAT(codes(), UnorderedElementsAre(code, "NEIGHBOUR_MISSING"));
  }
  n0()["problems"] = Json::array({known("CONTROL_SOCKET_FAILED", "eth0")});
  EXPECT_THAT(codes(), ElementsAre("CONTROL_SOCKET_FAILED")) << "nothing is sent there";
}

TEST_F(FarCausesTest, ACrowdedSegmentIsOfThePortAndExplainsThatOneIsIgnored) {
  add_port(n0(), "eth0", Json::array({heard("n5", "eth5", true), heard("n6", "eth6", true)}));
  for (Json& each : n0()["ports"].back()["neighbours"]) each["state"] = "up";
  add_problem(n0(), known("SEGMENT_CROWDED", "eth0"));
  add_port(n1(), "eth1", Json::array({heard("n0", "eth0", false)}));
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "SEGMENT_CROWDED");
  EXPECT_THAT(findings[0].about, ElementsAre("node n0 port eth0"));
}

TEST_F(FarCausesTest, WhatTheOtherEndRefusesExplainsThatItDoesNotAnswer) {
  add_port(n1(), "eth1", Json::array({heard("n0", "eth0", false)}));
  add_problem(n0(), known("CABLE_REFUSED", "eth0", "n1"));
  EXPECT_THAT(codes(), ElementsAre("CABLE_REFUSED"));
  n0()["problems"] = Json::array({known("CABLE_REFUSED", "eth0", "n5")});
  EXPECT_THAT(codes(), UnorderedElementsAre("CABLE_REFUSED", "CABLE_ONE_WAY"));
}

TEST_F(FarCausesTest, ANodeThatIsGoneIsOneCauseWithAllItsCables) {
  add_port(n0(), "eth0");
  lose(n0(), "eth0", "n9", "eth0");
  add_port(n1(), "eth1");
  lose(n1(), "eth1", "n9", "eth1");
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "NEIGHBOUR_MISSING");
  EXPECT_THAT(findings[0].about, ElementsAre("cable n0 eth0 to n9 eth0", "cable n1 eth1 to n9 eth1"));
}

TEST_F(FarCausesTest, WhatIsWrongWithItsOnlyCableIsWhyANodeHasNoPath) {
  add_port(n0(), "eth0");
  lose(n0(), "eth0", "n9", "eth0");
  documents_.missing = {{"n9", "no path", "node n0 has no path to node n9", "see its cables"}};
  std::vector<ClusterFinding> findings = examine_all_nodes(documents_, Settings());
  ASSERT_GE(findings.size(), 2U) << "with RDMA_DEVICE_NONE, an info";
  EXPECT_EQ(findings[0].code, "NEIGHBOUR_MISSING");
  EXPECT_EQ(findings[0].severity, Severity::kError) << "it does not answer";
  EXPECT_THAT(findings[0].about, ElementsAre("cable n0 eth0 to n9 eth0", "node n9"));
  EXPECT_LE(findings[1].severity, Severity::kInfo);
}

// Whether or not its cables have left the topology yet.
TEST_F(FarCausesTest, ANodeWhoseSeveralCablesAreSilentIsTheFinding) {
  for (const char* port : {"eth0", "eth2"}) {
    add_port(n0(), port);
    lose(n0(), port, "n9", port);
  }
  for (const char* cause : {"no path", "refused", "timed out"}) {
    documents_.missing = {{"n9", cause, "node n0 has no path to node n9", "see its cables"}};
    std::vector<ClusterFinding> findings = examine_all_nodes(documents_, Settings());
    ASSERT_GE(findings.size(), 2U);
    EXPECT_EQ(findings[0].code, "NODE_NOT_ANSWERING");
    EXPECT_THAT(findings[0].about, ElementsAre("node n9"));
    EXPECT_LE(findings[1].severity, Severity::kInfo);
  }
}

TEST_F(FarCausesTest, ANodeWhoseOnlyCableIsAtFaultIsPartOfThatFinding) {
  for (const char* cause : {"timed out", "refused", "no path"}) {
    documents_.shown = {{"n0", document_of("n0")}};
    add_port(n0(), "eth0", Json::array({heard("n9", "eth9", false)}));
    documents_.missing = {{"n9", cause, "node n0 cannot reach node n9", "see its cables"}};
    const std::vector<ClusterFinding> findings = wrong();
    ASSERT_EQ(findings.size(), 1U) << cause;
    EXPECT_EQ(findings[0].code, "CABLE_ONE_WAY");
    EXPECT_EQ(findings[0].severity, Severity::kError) << "it does not answer";
    EXPECT_THAT(findings[0].about, ElementsAre("cable n0 eth0 to n9 eth9", "node n9"));
    EXPECT_THAT(findings[0].what, EndsWith("it does not hear this node; so node n9 cannot be asked"));
  }
}

// Its own fault, as it has been reached or could be.
TEST_F(FarCausesTest, ANodeThatACableOfAnotherKindLeadsToIsAFindingItself) {
  add_port(n0(), "eth0", Json::array({heard("n9", "eth9", false)}));
  documents_.missing = {{"n9", "other version", "it runs 0.0.1", "install"}};
  EXPECT_THAT(wrong_codes(), UnorderedElementsAre("NODE_NOT_ANSWERING", "CABLE_ONE_WAY"));
  documents_.missing = {{"n9", "timed out", "no answer", "restart it"}};
  add_port(n1(), "eth1", Json::array({heard("n9", "eth8", true)}));
  n1()["ports"].back()["neighbours"][0]["state"] = "up";
  EXPECT_THAT(wrong_codes(), UnorderedElementsAre("NODE_NOT_ANSWERING", "CABLE_ONE_WAY")) << "a cable to it is up";
}

// That it does not run is why nothing is heard of it.
TEST_F(FarCausesTest, ANodeOfWhichNothingIsHeardIsAFindingItself) {
  for (Json* document : {&n0(), &n1()}) {
    add_port(*document, "eth0");
    lose(*document, "eth0", "n9", "eth9");
  }
  documents_.missing = {{"n9", "timed out", "no answer", "restart it"}};
  const std::vector<ClusterFinding> findings = wrong();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "NODE_NOT_ANSWERING");
}

TEST_F(FarCausesTest, ANodeThatIsHeardOnOneCableIsSilentOnTheOtherByAFaultOfThat) {
  add_port(n0(), "eth0", Json::array({heard("n9", "eth9", false)}));
  add_port(n1(), "eth1");
  lose(n1(), "eth1", "n9", "eth8");
  documents_.missing = {{"n9", "timed out", "no answer", "restart it"}};
  const std::vector<ClusterFinding> findings = wrong();
  ASSERT_EQ(findings.size(), 2U);
  for (const ClusterFinding& each : findings) {
    EXPECT_EQ(each.about.count("node n9"), 1U) << each.code;
    EXPECT_THAT(each.what, EndsWith("; so node n9 cannot be asked"));
  }
}

TEST_F(FarCausesTest, NodesBehindOneThatIsCutOffArePartOfItsFinding) {
  documents_.shown = {{"n0", document_of("n0")}};
  add_port(n0(), "eth0", Json::array({heard("n1", "eth1", false)}));
  documents_.missing = {{"n1", "timed out", "no answer", "restart it"}};
  for (const char* name : {"n2", "n3", "n4", "n5"}) {
    documents_.missing.push_back(
        {name, "no path", std::string("node n0 has no path to node ") + name, "see its cables"});
  }
  const std::vector<ClusterFinding> findings = wrong();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].about.size(), 6U);
  EXPECT_THAT(findings[0].what, EndsWith("; so nodes n1, n2, n3, n4 and 1 more cannot be asked"));
}

TEST_F(FarCausesTest, NodesBehindOneThatIsSilentArePartOfItsFinding) {
  documents_.shown = {{"n0", document_of("n0")}};
  documents_.missing = {{"n1", "timed out", "no answer", "restart it"},
                        {"n2", "no path", "node n0 has no path to node n2", "see its cables"}};
  const std::vector<ClusterFinding> findings = wrong();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].about, ElementsAre("node n1", "node n2"));
  EXPECT_EQ(findings[0].what, "timed out: no answer; so node n2 cannot be asked");
}

// Which of the two they are behind is not known.
TEST_F(FarCausesTest, NodesBehindTwoThatAreSilentAreOneFinding) {
  documents_.missing = {{"n5", "timed out", "no answer of n5", "restart it"},
                        {"n6", "timed out", "no answer of n6", "restart it"},
                        {"n7", "no path", "node n0 has no path to node n7", "see its cables"},
                        {"n8", "no path", "node n0 has no path to node n8", "see its cables"}};
  const std::vector<ClusterFinding> findings = wrong();
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_THAT(findings[0].about, ElementsAre("node n7", "node n8"));
}

TEST_F(FarCausesTest, AHostWhosePortCannotBeUsedHasNoPortAsThatIsIt) {
  add_problem(n0(), known("NO_PORTS", ""));
  EXPECT_THAT(codes(), ElementsAre("NO_PORTS"));
  add_problem(n0(), known("PORT_UNUSABLE", "eth0"));
  EXPECT_THAT(codes(), ElementsAre("PORT_UNUSABLE"));
}

TEST_F(FarCausesTest, ANodeWithoutAPathWhoseCablesNobodyHasIsAFinding) {
  take_carrier_of_n0();
  documents_.missing = {{"n9", "no path", "node n0 has no path to node n9", "see its cables"}};
  std::vector<ClusterFinding> findings = examine_all_nodes(documents_, Settings());
  ASSERT_GE(findings.size(), 2U);
  EXPECT_EQ(findings[0].code, "NODE_NOT_ANSWERING");
  EXPECT_EQ(findings[1].code, "CARRIER_MISSING");
  EXPECT_THAT(findings[1].about, ElementsAre("cable n0 eth0 to n1 eth1"));
}

TEST_F(FarCausesTest, SilentCablesOfNodesThatAnswerAreOneCauseEach) {
  silence_n1();
  add_port(n0(), "eth0");
  lose(n0(), "eth0", "n1", "eth1");
  add_port(n0(), "eth2");
  lose(n0(), "eth2", "n1", "eth3");
  EXPECT_THAT(codes(), ElementsAre("NEIGHBOUR_MISSING", "NEIGHBOUR_MISSING"));
}

TEST_F(FarCausesTest, ACableThatBothEndsNameIsOneCause) {
  for (const char* cable : {"n0.eth0-n1.eth1", "n0.eth2-n1.eth3"}) {
    for (NodeDocument& each : documents_.shown) {
      Json problem = known("CABLE_LOSSY", "");
      problem["cable"] = cable;
      problem["text"] = std::string("what ") + each.node + " says of " + cable;
      add_problem(each.document, problem);
    }
  }
  const std::vector<ClusterFinding> findings = examine();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].about, ElementsAre("cable n0.eth0-n1.eth1"));
  EXPECT_THAT(findings[0].nodes, ElementsAre("n0", "n1"));
}

}  // namespace
}  // namespace cableway::cli
