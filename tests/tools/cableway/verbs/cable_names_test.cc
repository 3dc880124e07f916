// The texts of views call cables as tables do, JSON by their full names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "tests/routing/sample_topologies.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/node/topology_look.h"
#include "tools/cableway/verbs/events.h"

namespace cableway::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kFull[] = "n0.eth1-n1.eth2";

// Two nodes, and the cable with that name.
routing::Topology pair_of_nodes() {
  routing::Cable cable = routing::sample_cable(0, 0, 1);
  cable.a.interface = "eth1";
  cable.b.interface = "eth2";
  cable.name = kFull;
  return routing::make_topology(routing::sample_nodes(2), {cable});
}

std::unique_ptr<const TopologyLook> look() {
  return std::make_unique<const TopologyLook>(Look(), pair_of_nodes());
}

std::string events() {
  return nlohmann::json{{"schema", 1},
                        {"node", "n0"},
                        {"cluster", "lab"},
                        {"incarnation", "1"},
                        {"left_out", nlohmann::json::object()},
                        {"events",
                         {{{"number", 1},
                           {"time", "2026-03-01T12:34:56.789Z"},
                           {"age_ms", 0},
                           {"severity", "warning"},
                           {"code", "CABLE_LOSSY"},
                           {"fields", {{"cable", kFull}}},
                           {"text", std::string("cable ") + kFull + " loses 5 %"}}}}}
      .dump();
}

TEST(CableNames, OfEventsAreThoseOfTables) {
  EXPECT_THAT(*events_text(events(), {}, look()->look()), HasSubstr("  cable n0-n1 loses 5 %\n"));
  EXPECT_THAT(*events_text(events(), {}), HasSubstr("  cable n0.eth1-n1.eth2 loses 5 %\n"));
  EXPECT_THAT(*events_json(events(), {}), HasSubstr("\"cable n0.eth1-n1.eth2 loses 5 %\""));
}

TEST(CableNames, OfEventsToComeAreThoseOfTheTopologyThen) {
  for (const bool json : {false, true}) {
    int answers = 0;
    int asked = 0;
    const EventTail tail{json,
                         {},
                         [&]() -> absl::StatusOr<std::string> {
                           if (++answers > 2) return absl::NotFoundError("gone");
                           return events();
                         },
                         [] {},
                         [&] {
                           ++asked;
                           return look();
                         }};
    std::ostringstream out;
    EXPECT_FALSE(follow_events(tail, out).ok());
    EXPECT_THAT(out.str(), HasSubstr(json ? "cable n0.eth1-n1.eth2 loses 5 %" : "  cable n0-n1 loses 5 %\n"));
    EXPECT_EQ(asked, json ? 0 : 1) << "only where there are new events";
  }
}

TEST(CableNames, OfAllNodesAreThoseOfTables) {
  const Json status = {{"node", "n0"},
                       {"version", "1.2.3"},
                       {"uptime_ms", 0},
                       {"nodes", 2},
                       {"neighbours", {"n1"}},
                       {"cables_up", 1},
                       {"own", {{"flows_open", 0}}},
                       {"relayed", {{"circuits_open", 0}}},
                       {"draining", false},
                       {"draining_cables", Json::array()},
                       {"problems",
                        {{{"code", "CABLE_LOSSY"},
                          {"interface", ""},
                          {"text", std::string("cable ") + kFull + " loses 5 %"},
                          {"seconds", nullptr}}}}};
  NodeDocuments documents;
  documents.shown.push_back({"n0", status});
  EXPECT_THAT(all_status_text(documents, nullptr, look()->look()),
              HasSubstr("  cable n0-n1 loses 5 % [CABLE_LOSSY]\n"));
  EXPECT_THAT(all_status_json(documents).dump(), HasSubstr(kFull));
}

TEST(CableNames, AreFullWithoutATopology) {
  const TopologyLook unnamed(Look(), std::nullopt);
  EXPECT_EQ(unnamed.look().cable(kFull), kFull);
  EXPECT_THAT(unnamed.look().lines("", std::string("cable ") + kFull), Not(HasSubstr("n0-n1")));
}

}  // namespace
}  // namespace cableway::cli
