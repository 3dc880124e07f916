#include "tools/cableway/all_nodes/node_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"
#include "tests/slow_build.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

NodeAnswer shows(const std::string& node, const std::string& document) {
  return {node, NoView::kNone, "", document};
}

std::string status_of(const std::string& node, const std::string& problems = "[]") {
  return "{\"schema\":1,\"node\":\"" + node + R"(","cluster":"c","version":"1.2","uptime_ms":61000,"draining":false,)" +
         R"("draining_cables":[],"nodes":3,"cables_up":2,"neighbours":["a","b"],"has_key":true,"problems":)" +
         problems + R"(,"own":{"flows_open":4},"relayed":{"circuits_open":5}})";
}

TEST(NodeDocumentsTest, SortsWhatHasComeAndWhatHasNot) {
  const NodeDocuments read = read_documents({shows("n10", status_of("n10")),
                                             {"n3", NoView::kTimedOut, "no answer to the set-up", ""},
                                             shows("n2", status_of("n2"))});
  ASSERT_EQ(read.shown.size(), 2U);
  EXPECT_EQ(read.shown[0].node, "n2");
  EXPECT_EQ(read.shown[1].node, "n10");
  ASSERT_EQ(read.missing.size(), 1U);
  EXPECT_EQ(read.missing[0].cause, "timed out");
  EXPECT_THAT(read.missing[0].advice, HasSubstr("restart its cablewayd"));
}

TEST(NodeDocumentsTest, GarbageIsTheFaultOfOneRow) {
  const std::string deep(100'000, '[');
  const NodeDocuments read =
      read_documents({shows("n0", "\x1b[2J{\"node\": [[["), shows("n1", deep), shows("n2", "[]"), shows("n3", "{}"),
                      shows("n4", status_of("n5")), shows("n6", "{\"node\":7}"),
                      shows("n7", "{\"schema\":99,\"node\":\"n7\"}"), shows("n8", status_of("n8"))});
  ASSERT_EQ(read.shown.size(), 1U);
  EXPECT_EQ(read.shown[0].node, "n8");
  ASSERT_EQ(read.missing.size(), 7U);
  for (const MissingNode& each : read.missing) EXPECT_EQ(each.cause, "unreadable") << each.node;
  EXPECT_THAT(read.missing[4].what, HasSubstr("it is of another node, \"n5\""));
  EXPECT_THAT(missing_text(read), Not(HasSubstr("\x1b")));
}

TEST(NodeDocumentsTest, AnObjectWithManyMembersIsUnreadable) {
  std::string members;
  for (int i = 0; i < 14'000; ++i) absl::StrAppend(&members, ",\"m", i, "\":0");
  const NodeDocuments read = read_documents({shows("n0", "{\"node\":\"n0\"" + members + "}")});
  ASSERT_EQ(read.missing.size(), 1U);
  EXPECT_THAT(read.missing[0].what, HasSubstr("an object has too many members; expected at most 64"));
}

TEST(NodeDocumentsTest, DocumentsBeyondTheBoundOfAllAreUnreadable) {
  std::vector<NodeAnswer> answers;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string node = absl::StrCat("n", i);
    std::string document = absl::StrCat("{\"node\":\"", node, "\"}");
    document.resize(kMaxDocumentBytes, ' ');
    answers.push_back(shows(node, document));
  }
  const NodeDocuments read = read_documents(std::move(answers), 7);
  EXPECT_EQ(read.shown.size(), kMaxDocumentsBytes / kMaxDocumentBytes);
  ASSERT_EQ(read.missing.size(), 300 - read.shown.size());
  EXPECT_THAT(read.missing[0].what, HasSubstr("too much"));
  EXPECT_THAT(missing_text(read), HasSubstr("\n7 more nodes had not answered"));
  EXPECT_EQ(documents_json(read).at("unheard"), 7);
}

TEST(NodeDocumentsTest, TextsAreSafeToShow) {
  const std::string problem = R"([{"code":"X\u001b[2J","interface":"","text":"\u001b]0;evil\u0007","seconds":null}])";
  NodeDocuments read = read_documents({shows("n0", status_of("n0", problem))});
  const std::string text = all_status_text(read, nullptr);
  EXPECT_THAT(text, HasSubstr("?]0;evil? [X?[2J]"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(NodeDocumentsTest, StatusHasARowForEachNodeThenProblems) {
  const std::string problem = R"([{"code":"NO_PORTS","interface":"","text":"no port","seconds":61}])";
  NodeDocuments read = read_documents({shows("n0", status_of("n0")),
                                       shows("n1", status_of("n1", problem)),
                                       shows("n2", "{\"node\":\"n2\"}"),
                                       {"n3", NoView::kNoPath, "node n0 has no path to node n3", ""}});
  const std::string text = all_status_text(read, nullptr);
  EXPECT_THAT(text, HasSubstr("node  version"));
  EXPECT_THAT(text, HasSubstr("problems of node n1\n  no port (for 1 min 01 s) [NO_PORTS]\n"));
  EXPECT_THAT(text, HasSubstr("2 nodes have not answered\n"));
  EXPECT_THAT(text, HasSubstr("  n2: unreadable: its answer cannot be read: "));
  EXPECT_THAT(text, HasSubstr("  n3: no path: node n0 has no path to node n3\n    -> see its cables"));
}

TEST(NodeDocumentsTest, ANumberThatIsNoCountIsUnreadable) {
  for (const char* uptime : {"-1", "1.5", "1e30", "true", "\"1\"", "null"}) {
    std::string document = status_of("n0");
    document.replace(document.find("61000"), 5, uptime);
    NodeDocuments read = read_documents({shows("n0", document)});
    EXPECT_THAT(all_status_text(read, nullptr), HasSubstr("n0: unreadable: its answer cannot be read: ")) << uptime;
  }
}

TEST(NodeDocumentsTest, JsonHasEachNodeByName) {
  const Json json = all_status_json(read_documents(
      {shows("n0", status_of("n0")), {"n1", NoView::kOtherVersion, "node n1 runs an earlier version", ""}}));
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("nodes").at("n0").at("version"), "1.2");
  EXPECT_EQ(json.at("nodes").at("n1").at("error").at("cause"), "other version");
}

std::string port(const std::string& interface, const std::string& neighbour, const std::string& its_port,
                 std::uint64_t received) {
  return "{\"interface\":\"" + interface +
         R"(","mtu":9000,"rate_mbps":10000,"carrier":true,"transport":"tcp","received_bytes":)" +
         std::to_string(received) + R"(,"sent_bytes":null,"neighbours":[{"node":")" + neighbour + R"(","interface":")" +
         its_port + R"(","state":"up","latency_us":2.5}]})";
}

std::string ports_of(const std::string& node, std::uint64_t uptime_ms, const std::string& ports) {
  return "{\"node\":\"" + node + "\",\"uptime_ms\":" + std::to_string(uptime_ms) + ",\"ports\":[" + ports + "]}";
}

TEST(NodeDocumentsTest, PortsHaveBytesAndThenRates) {
  NodeDocuments before = read_documents({shows("n0", ports_of("n0", 1000, port("eth0", "n1", "eth1", 1000)))});
  NodeDocuments now = read_documents({shows("n0", ports_of("n0", 2000, port("eth0", "n1", "eth1", 126'000)))});
  EXPECT_THAT(all_ports_text(before, nullptr), HasSubstr("1000 bytes"));
  EXPECT_THAT(all_ports_text(now, &before), HasSubstr("1.0"));
  EXPECT_THAT(all_ports_text(now, &before), HasSubstr("in, Mbit/s"));
  EXPECT_THAT(all_ports_text(before, &now), Not(HasSubstr("-1"))) << "it has started again";
}

// The port, with what its RDMA device has counted besides.
std::string with_rdma(std::string port, const std::string& received) {
  return port.insert(1, "\"rdma_sent_bytes\":null,\"rdma_received_bytes\":" + received + ",");
}

TEST(NodeDocumentsTest, BytesOverRdmaAddToThoseOfTheInterface) {
  const auto ports_at = [](std::uint64_t ms, const std::string& interface) {
    return read_documents({shows("n0", ports_of("n0", ms, interface))});
  };
  NodeDocuments before = ports_at(1000, with_rdma(port("eth0", "n1", "eth1", 100), "900"));
  NodeDocuments now = ports_at(2000, with_rdma(port("eth0", "n1", "eth1", 125'100), "250900"));
  EXPECT_THAT(all_ports_text(before, nullptr), HasSubstr("1000 bytes"));
  EXPECT_THAT(all_ports_text(now, &before), HasSubstr(" 3.0 "));
  NodeDocuments unknown = ports_at(1000, with_rdma(port("eth0", "n1", "eth1", 100), "null"));
  EXPECT_THAT(all_ports_text(now, &unknown), HasSubstr(" 1.0 ")) << "the device has not counted all of it since";
  NodeDocuments reset = ports_at(1000, with_rdma(port("eth0", "n1", "eth1", 100), "900000"));
  EXPECT_THAT(all_ports_text(now, &reset), HasSubstr(" 1.0 ")) << "the device was reset";
}

TEST(NodeDocumentsTest, AnEarlierDocumentThatCouldNotBeReadCostsTheNextOneNothing) {
  std::string bad = port("eth0", "n1", "eth1", 1000);
  bad.replace(bad.find("\"received_bytes\":1000"), 21, "\"received_bytes\":\"x\"");
  NodeDocuments before = read_documents({shows("n0", ports_of("n0", 1000, bad))});
  EXPECT_THAT(all_ports_text(before, nullptr), HasSubstr("n0: unreadable"));
  NodeDocuments now = read_documents({shows("n0", ports_of("n0", 2000, port("eth0", "n1", "eth1", 126'000)))});
  EXPECT_THAT(all_ports_text(now, &before), Not(HasSubstr("unreadable")));
}

std::string carried_of(std::uint64_t uptime_ms, const std::string& received, const std::string& ports) {
  std::string document = status_of("n0");
  document.replace(document.find("61000"), 5, std::to_string(uptime_ms));
  document.pop_back();
  return absl::StrCat(document, R"(,"received_bytes":)", received, R"(,"sent_bytes":2048,"counted_ports":)", ports,
                      "}");
}

TEST(NodeDocumentsTest, StatusHasBytesAndThenRates) {
  NodeDocuments before = read_documents({shows("n0", carried_of(1000, "1000", R"(["eth0"])"))});
  NodeDocuments now = read_documents({shows("n0", carried_of(2000, "126000", R"(["eth0"])"))});
  EXPECT_THAT(all_status_text(before, nullptr), AllOf(HasSubstr("received"), HasSubstr("1000 bytes")));
  EXPECT_THAT(all_status_text(now, &before),
              AllOf(HasSubstr("in, Mbit/s"), HasSubstr("  1.0  "), HasSubstr("  0.0  ")));
  EXPECT_THAT(all_status_text(before, &now), Not(HasSubstr("  1.0  "))) << "it has started again";
  NodeDocuments unknown = read_documents({shows("n0", carried_of(2000, "null", R"(["eth0"])"))});
  EXPECT_THAT(all_status_text(unknown, &before), AllOf(Not(HasSubstr("unreadable")), HasSubstr("  0.0  ")));
}

TEST(NodeDocumentsTest, APortThatComesWithItsBytesIsNoRate) {
  const NodeDocuments before = read_documents({shows("n0", carried_of(1000, "1000", R"(["eth0"])"))});
  NodeDocuments now = read_documents({shows("n0", carried_of(2000, "126000", R"(["eth0","eth1"])"))});
  EXPECT_THAT(all_status_text(now, &before), Not(HasSubstr("  1.0  ")));
}

TEST(NodeDocumentsTest, BytesThatAreNoCountAreUnreadable) {
  NodeDocuments read = read_documents({shows("n0", carried_of(1000, "-1", R"(["eth0"])"))});
  EXPECT_THAT(all_status_text(read, nullptr), HasSubstr("n0: unreadable"));
}

std::string flows_of(const std::string& node, const std::string& flows) {
  return "{\"node\":\"" + node + R"(","own":{},"relayed":{"circuits_open":1,"bytes":5},"flows_left_out":0,"flows":[)" +
         flows + "]}";
}

std::string flow(const std::string& peer, bool sends, const std::string& mbps) {
  return R"({"flow":"00000000000000ab","node":")" + peer + "\",\"sends\":" + (sends ? "true" : "false") +
         R"(,"path":"n0 -> n1","port":"eth0","transport":"tcp","open_ms":1000,"bytes":7,"mbps":)" + mbps +
         R"(,"waits":null,"reroutes":null,"pause_ms":null,"circuits":1})";
}

TEST(NodeDocumentsTest, AFlowThatBothEndsReportIsOne) {
  NodeDocuments read = read_documents(
      {shows("n1", flows_of("n1", flow("n0", false, "1.5"))), shows("n0", flows_of("n0", flow("n1", true, "2.5")))});
  const Json json = all_flows_json(read);
  ASSERT_EQ(json.at("flows").size(), 1U);
  const Json& only = json.at("flows").at(0);
  EXPECT_EQ(only.at("from"), "n0");
  EXPECT_EQ(only.at("to"), "n1");
  EXPECT_EQ(only.at("mbps"), 2.5) << "its source knows more";
  EXPECT_EQ(only.at("reported_by"), Json({"n0", "n1"}));
  EXPECT_THAT(all_flows_text(read), HasSubstr("flows between the processes of 2 nodes: 1 open\n"));
}

// Work that grows with the square would take minutes.
TEST(NodeDocumentsTest, ManyFlowsOfManyNodesAreMerged) {
  std::vector<NodeAnswer> answers;
  for (std::size_t i = 0; i < 200; ++i) {
    std::string list;
    for (std::size_t j = 0; j < 50; ++j)
      absl::StrAppend(&list, j == 0 ? "" : ",", flow(absl::StrCat("p", j), true, "1"));
    const std::string node = absl::StrCat("n", i);
    answers.push_back(shows(node, flows_of(node, list)));
  }
  const std::clock_t begin = std::clock();
  EXPECT_EQ(all_flows_json(read_documents(std::move(answers))).at("flows").size(), 200U * 50);
  if (!test::kSlowBuild) {
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 10);
  }
}

TEST(NodeDocumentsTest, FlowsThatWereLeftOutAreCounted) {
  std::string document = flows_of("n0", flow("n1", true, "1"));
  document.replace(document.find("left_out\":0") + 10, 1, "8");
  NodeDocuments read = read_documents({shows("n0", document)});
  EXPECT_THAT(all_flows_text(read), HasSubstr("1 open\nwithout 8 of nodes that"));
}

}  // namespace
}  // namespace cableway::cli
