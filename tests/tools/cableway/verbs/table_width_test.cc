// Tables of every view fit a terminal, however long the names in them are, and JSON has the names in full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "routing/topology/cable_name.h"
#include "tests/routing/sample_topologies.h"
#include "tools/cableway/doctor/doctor_view.h"
#include "tools/cableway/text/text_table.h"
#include "tools/cableway/verbs/events.h"
#include "tools/cableway/verbs/flows.h"
#include "tools/cableway/verbs/path.h"
#include "tools/cableway/verbs/plan/plan_ranks.h"
#include "tools/cableway/verbs/ports.h"
#include "tools/cableway/verbs/routes.h"
#include "tools/cableway/verbs/status.h"
#include "tools/cableway/verbs/topology.h"

namespace cableway::cli {
namespace {

using nlohmann::json;
using routing::NodeIndex;
using ::testing::HasSubstr;

constexpr std::size_t kLongestName = 63;
constexpr std::size_t kLongestInterface = 15;

std::string long_name(char letter) {
  return std::string(kLongestName, letter);
}

std::string long_text() {
  std::string text = "why";
  for (int i = 0; i < 40; ++i) text += " because of something";
  return text;
}

// A ring of four nodes with the longest names, with IPv6 addresses and the names that nodes discover.
const routing::Topology& long_ring() {
  static const routing::Topology topology = [] {
    std::vector<routing::Node> nodes = routing::sample_nodes(4);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].name = long_name(static_cast<char>('a' + i));
    std::vector<routing::Cable> cables;
    for (const auto& [a, b] : routing::ring_pairs(4)) {
      const auto number = static_cast<std::uint32_t>(cables.size());
      routing::Cable cable = routing::sample_cable(number, a, b);
      cable.a.interface = std::string(kLongestInterface, 'x');
      cable.b.interface = std::string(kLongestInterface, 'y');
      cable.a.address = "2001:db8:1111:2222:3333:4444:" + std::to_string(1000 + number) + ":1";
      cable.b.address = "2001:db8:1111:2222:3333:4444:" + std::to_string(1000 + number) + ":2";
      cable.loss_percent = 3;
      cable.name = routing::discovered_cable_name(nodes[a].name, cable.a.interface, nodes[b].name, cable.b.interface);
      cables.push_back(std::move(cable));
    }
    return routing::make_topology(std::move(nodes), std::move(cables));
  }();
  return topology;
}

// The lines from the one that begins with `heading` up to the next empty one.
std::vector<std::string> table_in(const std::string& text, const std::string& heading) {
  std::vector<std::string> table;
  for (const auto each : absl::StrSplit(text, '\n')) {
    const std::string line(each);
    if (!table.empty() && line.empty()) break;
    if (!table.empty() || line.rfind(heading, 0) == 0) table.push_back(line);
  }
  return table;
}

void expect_fitting(const std::string& text, const std::string& heading) {
  const std::vector<std::string> table = table_in(text, heading);
  ASSERT_GT(table.size(), 1U) << "no table " << heading << " in\n" << text;
  std::size_t longest = 0;
  for (const std::string& line : table) {
    EXPECT_LE(line.size(), kTableColumns) << line;
    longest = std::max(longest, line.size());
  }
  EXPECT_GT(longest, 100U) << "the names are not long enough for this test:\n" << text;
}

TEST(TableWidth, OfTopologies) {
  const std::string text = topology_text(long_ring());
  expect_fitting(text, "cable");
  EXPECT_THAT(text, HasSubstr("aa..."));
}

TEST(TableWidth, OfPathsAndRoutes) {
  const PathQuery query{NodeIndex{0}, NodeIndex{2}, {}};
  expect_fitting(*path_text(long_ring(), query), "  hop");
  EXPECT_THAT(*path_json(long_ring(), query), HasSubstr(long_ring().cables().front().name));
  std::ostringstream text;
  write_routes_text(long_ring(), NodeIndex{0}, text);
  expect_fitting(text.str(), "to ");
  std::ostringstream routes;
  write_routes_json(long_ring(), NodeIndex{0}, routes);
  EXPECT_THAT(routes.str(), HasSubstr(long_ring().cables().front().name));
}

TEST(TableWidth, OfRanks) {
  expect_fitting(*rank_plan_text(long_ring(), {NodeIndex{0}, NodeIndex{2}}), "rank");
}

json long_status() {
  const json retired = {{"failed", 1000}, {"corrupted", 0}, {"stuck", 0}, {"closed", 0}, {"moved", 0}};
  const std::string path = long_name('a') + " -> " + long_name('b') + " -> " + long_name('c');
  const json circuit = {{"path", path},
                        {"port", std::string(15, 'x')},
                        {"transport", "rdma " + std::string(60, 'r')},
                        {"reason", long_text()},
                        {"carries", true},
                        {"share", "bundle"},
                        {"stalled_ms", 31234.5},
                        {"kept_away_ms", 99999.9},
                        {"bytes", 1ULL << 62},
                        {"mbps", 199999.9},
                        {"open_ms", 359999999}};
  const json flow = {{"flow", "ffffffffffffffff"},
                     {"process", 4194304},
                     {"node", long_name('c')},
                     {"sends", true},
                     {"path", path},
                     {"port", std::string(15, 'x')},
                     {"transport", "tcp"},
                     {"reason", long_text()},
                     {"open_ms", 359999999},
                     {"bytes", 1ULL << 62},
                     {"mbps", 199999.9},
                     {"waits", nullptr},
                     {"bytes_sent_again", 1ULL << 40},
                     {"reroutes", 12345},
                     {"pause_ms", 123456.7},
                     {"circuits_retired", retired},
                     {"circuits", {circuit, circuit}}};
  const std::string hop = " -" + long_ring().cables().front().name + "-> ";
  const json memory = {{"bytes", 1},  {"circuits_max", 1}, {"floor_bytes", 1},  {"leases", 1}, {"registered_bytes", 0},
                       {"leased", 1}, {"leased_max", 1},   {"leased_bytes", 1}, {"waits", 1}};
  return {{"schema", 1},
          {"version", "1.2.3"},
          {"started", "2026-03-01T12:34:56.789Z"},
          {"uptime_ms", 61000},
          {"node", long_name('a')},
          {"cluster", "lab"},
          {"draining", false},
          {"draining_cables", json::array()},
          {"addresses", json::array()},
          {"relay_port", 7470},
          {"keys", json::array()},
          {"nodes", 4},
          {"cables_up", 2},
          {"problems", json::array()},
          {"sessions", 1},
          {"neighbours",
           {{{"node", long_name('b')},
             {"cable", long_ring().cables().front().name},
             {"interface", std::string(15, 'x')},
             {"neighbour_interface", std::string(15, 'y')},
             {"state", "unpaired"},
             {"draining", true},
             {"rate_mbps", 98300},
             {"latency_us", 1234.567},
             {"known_ms", 359999999}}}},
          {"latest_events",
           {{{"number", 1},
             {"time", "2026-03-01T12:34:56.789Z"},
             {"age_ms", 359999999},
             {"severity", "warning"},
             {"code", "CONTROL_SOCKET_FAILED"},
             {"fields", json::object()},
             {"text", long_text()}}}},
          {"own", {{"flows_open", 1}, {"flows_opened", 1}, {"flows_failed", 0}}},
          {"relayed",
           {{"bytes", 1},
            {"chunks", 1},
            {"circuits_open", 1},
            {"circuits_opened", 1},
            {"circuits_broken", 0},
            {"setups_refused", 0}}},
          {"relay_memory", memory},
          {"rdma_memory", memory},
          {"flows", {flow}},
          {"circuits",
           {{{"flow", "ffffffffffffffff"},
             {"path", long_name('a') + hop + long_name('b')},
             {"chunks", 1ULL << 40},
             {"bytes", 1ULL << 62},
             {"open_ms", 359999999},
             {"upstream", {{"transport", "tcp"}, {"reason", long_text()}}},
             {"downstream", {{"transport", "tcp"}, {"reason", long_text()}}}}}}};
}

TEST(TableWidth, OfStatusAndFlows) {
  const routing::ShortCableNames names(long_ring());
  for (const Look& look : {Look{}, Look{Paint(), &names}}) {
    const std::string status = *status_text(long_status().dump(), look);
    expect_fitting(status, "neighbour");
    expect_fitting(status, "local time");
    const std::string flows = *flows_text(long_status().dump(), look);
    expect_fitting(flows, "flow  ");
    expect_fitting(flows.substr(flows.find("circuits through")), "flow  ");
  }
  const std::string shown = *flows_json(long_status().dump());
  EXPECT_EQ(shown.find("..."), std::string::npos);
  EXPECT_THAT(shown, HasSubstr(long_ring().cables().front().name));
}

TEST(TableWidth, OfEvents) {
  const json view = {{"schema", 1},        {"node", long_name('a')},     {"cluster", "lab"},
                     {"incarnation", "1"}, {"left_out", json::object()}, {"events", long_status().at("latest_events")}};
  const std::string text = *events_text(view.dump(), {});
  expect_fitting(text, "local time");
  std::string words;
  for (const std::string& line : table_in(text, "local time")) words += line;
  EXPECT_EQ(words.find("..."), std::string::npos) << "prose is not cut";
}

TEST(TableWidth, OfUnusedInterfacesAndNcclSettings) {
  const json ports = {{"node", "n0"},
                      {"cluster", "lab"},
                      {"ports", json::array()},
                      {"rejected", {{{"interface", std::string(15, 'x')}, {"reason", long_text()}}}},
                      {"dropped", json::object()}};
  expect_fitting(*ports_text(ports.dump()), "not used");
  const NcclSettings nccl{
      {{"NCCL_NET_PLUGIN", long_text(), "/" + std::string(200, 'f') + ":1", {long_text()}}}, {}, {}};
  expect_fitting(doctor_text({}, nccl), "NCCL setting");
}

}  // namespace
}  // namespace cableway::cli
