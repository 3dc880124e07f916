#include "core/view/status_view.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "routing/text/node_name.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

// n1 of the line n0 - n1 - n2, once all cables are up.
class StatusView : public ::testing::Test {
 protected:
  StatusView() {
    world_.build(3, {{0, 1}, {1, 2}});
    world_.start_all();
    EXPECT_TRUE(world_.settle(std::chrono::seconds(2), [&] { return node().paths().topology().cable_count() == 2; }));
  }
  Node& node() { return world_.node(1); }

  sim::NodeWorld world_{1};
};

FlowsStatus some_flows() {
  FlowsStatus flows{3, 5, 1, {4, 0, 1, 0, 2}, 196608, {}};
  FlowOpened flow;
  flow.flow = 9;
  flow.node = "n2";
  flow.sends = true;
  flow.path = "n1 -> n2";
  flow.port = "eth1";
  flow.transport = {"tcp", "CABLEWAY_TRANSPORT=tcp"};
  flow.open_ms = 60;
  FlowStatus& listed = flows.listed.emplace_back(FlowStatus{4711, flow, {}, 2'500'000, {2'500'000, std::nullopt}, ""});
  listed.counts = {1, 9'000'000, 65536, 2, 31'500, {}};
  listed.counts.retired = {1, 0, 0, 0, 2};
  listed.counts.circuits = {
      {"n1 -> n2", "eth1", flow.transport, 8'000'000, 50, true, CircuitShare::kBundle},
      {"n1 -> n0 -> n2", "", flow.transport, 65536, 10, false, CircuitShare::kAlternate, 20'500, 1'500'000}};
  return flows;
}

TEST_F(StatusView, IsJsonWithEveryField) {
  RelayStatus relay;
  const HopTransport tcp{"tcp", "no RDMA device behind eth1"};
  const HopTransport rdma{"rdma rxe0", "both ends have it"};
  relay.circuits = {{7, "n0 -c0-> n1 -c1-> n2", 11, 12000, 2500, tcp, rdma}, {8, "n2 -c1-> n1 -c0-> n0", 0, 0, 0}};
  relay.circuits_open = 2;
  relay.circuits_opened = 5;
  relay.circuits_broken = 1;
  relay.chunks = 100;
  relay.bytes = 1U << 20;
  relay.setups_refused = 3;
  relay.memory = {.bytes = 1U << 30,
                  .max_circuits = 1024,
                  .floors = 1U << 20,
                  .leases = 64,
                  .leased = 1,
                  .max_leased = 2,
                  .leased_bytes = 8U << 20,
                  .waits = 9};
  relay.rdma_memory = {.registered = 1U << 25,
                       .floors = 65536,
                       .leases = 512,
                       .leased = 15,
                       .max_leased = 30,
                       .leased_bytes = 983040,
                       .waits = 4};
  nlohmann::json view = nlohmann::json::parse(status_view(node(), relay, some_flows(), 4, {}));
  EXPECT_EQ(view.at("events").at("CABLE_UP"), 2);
  EXPECT_EQ(view.at("events").at("CABLE_LOST"), 0);
  EXPECT_EQ(view.at("events").size(), kEventCodes);
  view.erase("events");
  ASSERT_EQ(view.at("neighbours").size(), 2U);
  const nlohmann::json neighbour = view.at("neighbours").at(0);
  view.erase("neighbours");
  EXPECT_EQ(neighbour.at("state"), "up");
  EXPECT_EQ(neighbour.at("cable").get<std::string>().find("n0"), 0U) << "the full name";
  EXPECT_EQ(neighbour.at("draining"), false);
  EXPECT_GT(neighbour.at("known_ms"), 0);
  for (const char* name : {"node", "interface", "neighbour_interface", "rate_mbps", "latency_us"}) {
    EXPECT_TRUE(neighbour.contains(name)) << name;
  }
  EXPECT_EQ(view.at("uptime_ms"), node().now().since_start / std::chrono::milliseconds(1));
  view.erase("uptime_ms");
  const nlohmann::json expected = {
      {"schema", 1},
      {"node", "n1"},
      {"cluster", "test"},
      {"version", nullptr},
      {"started", view.at("started")},
      {"latest_events", nlohmann::json::array()},
      {"draining", false},
      {"draining_cables", nlohmann::json::array()},
      {"addresses", {"10.0.0.2", "10.0.0.5"}},
      {"relay_port", 7470},
      {"keys", nlohmann::json::array()},
      {"nodes", 3},
      {"cables_up", 2},
      {"problems", nlohmann::json::array()},
      {"sessions", 4},
      {"flooding",
       {{"advertisements_received", 4},
        {"advertisements_known", 0},
        {"advertisements_stale", 0},
        {"refused", 0},
        {"originated", 2},
        {"segments_retransmitted", 0}}},
      {"own",
       {{"flows_open", 3},
        {"flows_opened", 5},
        {"flows_failed", 1},
        {"circuits_retired", {{"failed", 4}, {"corrupted", 0}, {"stuck", 1}, {"closed", 0}, {"moved", 2}}},
        {"bytes_sent_again", 196608}}},
      {"relayed",
       {{"bytes", 1048576},
        {"chunks", 100},
        {"circuits_open", 2},
        {"circuits_opened", 5},
        {"circuits_broken", 1},
        {"setups_refused", 3}}},
      {"relay_memory",
       {{"bytes", 1U << 30},
        {"circuits_max", 1024},
        {"floor_bytes", 1U << 20},
        {"leases", 64},
        {"leased", 1},
        {"leased_max", 2},
        {"leased_bytes", 8U << 20},
        {"waits", 9}}},
      {"rdma_memory",
       {{"registered_bytes", 1U << 25},
        {"floor_bytes", 65536},
        {"leases", 512},
        {"leased", 15},
        {"leased_max", 30},
        {"leased_bytes", 983040},
        {"waits", 4}}},
      {"flows",
       {{{"flow", "0000000000000009"},
         {"process", 4711},
         {"node", "n2"},
         {"sends", true},
         {"path", "n1 -> n2"},
         {"port", "eth1"},
         {"transport", "tcp"},
         {"reason", "CABLEWAY_TRANSPORT=tcp"},
         {"open_ms", 60},
         {"bytes", 9000000},
         {"mbps", 20.0},
         {"waits", nullptr},
         {"bytes_sent_again", 65536},
         {"reroutes", 2},
         {"pause_ms", 31.5},
         {"circuits_retired", {{"failed", 1}, {"corrupted", 0}, {"stuck", 0}, {"closed", 0}, {"moved", 2}}},
         {"circuits",
          {{{"path", "n1 -> n2"},
            {"port", "eth1"},
            {"transport", "tcp"},
            {"reason", "CABLEWAY_TRANSPORT=tcp"},
            {"carries", true},
            {"share", "bundle"},
            {"stalled_ms", 0.0},
            {"kept_away_ms", 0.0},
            {"bytes", 8000000},
            {"mbps", 20.0},
            {"open_ms", 50}},
           {{"path", "n1 -> n0 -> n2"},
            {"port", nullptr},
            {"transport", "tcp"},
            {"reason", "CABLEWAY_TRANSPORT=tcp"},
            {"carries", false},
            {"share", "alternate"},
            {"stalled_ms", 20.5},
            {"kept_away_ms", 1500.0},
            {"bytes", 65536},
            {"mbps", nullptr},
            {"open_ms", 10}}}}}}},
      {"circuits",
       {{{"flow", "0000000000000007"},
         {"path", "n0 -c0-> n1 -c1-> n2"},
         {"chunks", 11},
         {"bytes", 12000},
         {"open_ms", 2500},
         {"upstream", {{"transport", "tcp"}, {"reason", "no RDMA device behind eth1"}}},
         {"downstream", {{"transport", "rdma rxe0"}, {"reason", "both ends have it"}}}},
        {{"flow", "0000000000000008"},
         {"path", "n2 -c1-> n1 -c0-> n0"},
         {"chunks", 0},
         {"bytes", 0},
         {"open_ms", 0},
         {"upstream", {{"transport", ""}, {"reason", ""}}},
         {"downstream", {{"transport", ""}, {"reason", ""}}}}}}};
  EXPECT_EQ(view, expected) << view.dump(2);
}

// Its source knows how long a flow stood still.
TEST_F(StatusView, KnowsNoPausesOfAFlowThatIsReceived) {
  FlowsStatus flows = some_flows();
  flows.listed[0].flow.sends = false;
  flows.listed[0].waits = "reset";
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), RelayStatus{}, flows, 0, {}));
  const nlohmann::json& flow = view.at("flows").at(0);
  for (const char* name : {"bytes_sent_again", "reroutes", "pause_ms"}) EXPECT_TRUE(flow.at(name).is_null()) << name;
  EXPECT_EQ(flow.at("waits"), "reset");
}

TEST_F(StatusView, HasAnEmptyListWithoutCircuits) {
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), RelayStatus{}, {}, 0, {}));
  EXPECT_EQ(view.at("circuits"), nlohmann::json::array());
}

TEST_F(StatusView, ShowsWhyNoCircuitCanArrive) {
  const nlohmann::json view =
      nlohmann::json::parse(status_view(node(), RelayStatus{}, {}, 0, {{EventCode::kNotListening, "cannot listen"}}));
  EXPECT_EQ(view.at("problems"), nlohmann::json::parse(R"([
      {"code": "NOT_LISTENING", "interface": "", "neighbour": null, "cable": null, "text": "cannot listen",
       "seconds": null, "since": null}])"));
}

TEST_F(StatusView, ShowsWhichCableAndWhichNeighbourAProblemIsAbout) {
  const nlohmann::json of_cable =
      nlohmann::json::parse(status_view(node(), RelayStatus{}, {}, 0, {{EventCode::kCableLossy, "text", "c7"}}));
  EXPECT_EQ(of_cable.at("problems").at(0).at("cable"), "c7");
  world_.fabric().change_port(1, node().neighbours().ports().front().id, [](PortFacts& port) { port.mtu = 1400; });
  world_.clock().run_for(std::chrono::seconds(3));
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), RelayStatus{}, {}, 0, {}));
  ASSERT_EQ(view.at("problems").size(), 1U) << view.at("problems");
  EXPECT_EQ(view.at("problems").at(0).at("code"), "CABLE_REFUSED");
  EXPECT_EQ(view.at("problems").at(0).at("neighbour"), "n0");
}

TEST_F(StatusView, ShowsUnusablePortsAndTheirAge) {
  world_.fabric().set_rejected(1, {{"eth8", "is down", true}});
  world_.clock().run_for(std::chrono::milliseconds(3500));
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), RelayStatus{}, {}, 0, {}));
  nlohmann::json problem = view.at("problems").at(0);
  EXPECT_EQ(problem.at("since").get<std::string>().back(), 'Z');
  problem.erase("since");
  EXPECT_EQ(problem, nlohmann::json::parse(
                         R"({"code": "PORT_UNUSABLE", "interface": "eth8", "neighbour": null,
                             "cable": null, "text": "eth8 is down", "seconds": 3})"));
  EXPECT_EQ(view.at("problems").size(), 1U);
  EXPECT_EQ(view.at("events").at("PORT_UNUSABLE"), 1);
}

TEST_F(StatusView, TellsSinceWhenTheProgramRunsAndWhatItIs) {
  const WallTime now = WallTime{} + std::chrono::hours(24);
  const ProgramRun run{.version = "1.2.3",
                       .started = Instant{node().now().since_start - std::chrono::milliseconds(1500)},
                       .wall_clock = [&] { return now; }};
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), RelayStatus{}, {}, 0, {}, {}, run));
  EXPECT_EQ(view.at("version"), "1.2.3");
  EXPECT_EQ(view.at("uptime_ms"), 1500);
  EXPECT_EQ(view.at("started"), "1970-01-01T23:59:58.500Z");
}

TEST_F(StatusView, ShowsTheNewestWarningsAndErrors) {
  for (int i = 0; i < 7; ++i) {
    world_.node(1).event_sink().raise(EventCode::kPortUnusable, "event " + std::to_string(i));
    world_.node(1).event_sink().raise(EventCode::kCableUp, "no warning");
  }
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), RelayStatus{}, {}, 0, {}));
  ASSERT_EQ(view.at("latest_events").size(), kStatusEvents);
  EXPECT_EQ(view.at("latest_events").front().at("text"), "event 2") << "the oldest first";
  EXPECT_EQ(view.at("latest_events").back().at("text"), "event 6");
  for (const char* name : {"number", "time", "age_ms", "severity", "code", "fields"}) {
    EXPECT_TRUE(view.at("latest_events").back().contains(name)) << name;
  }
}

// A cable whose latency is not measured yet, or whose rates are not known, has none: no default is shown.
TEST_F(StatusView, HasNoDefaultLatency) {
  sim::NodeWorld world(1);
  world.build(2, {{0, 1}});
  world.start_all();
  const auto neighbours = [&] {
    return nlohmann::json::parse(status_view(world.node(0), RelayStatus{}, {}, 0, {})).at("neighbours");
  };
  ASSERT_TRUE(world.settle(std::chrono::seconds(5), [&] { return !neighbours().empty(); }));
  const nlohmann::json first = neighbours().at(0);
  EXPECT_TRUE(first.at("state") == "up" || first.at("latency_us").is_null());
  ASSERT_TRUE(world.settle(std::chrono::seconds(10), [&] { return !neighbours().at(0).at("latency_us").is_null(); }));
  EXPECT_EQ(neighbours().at(0).at("node"), "n1");
}

// A view must not throw, whatever names it shows.
TEST_F(StatusView, ShowsAPathThatIsNotUtf8) {
  RelayStatus relay;
  relay.circuits = {{7, "n0 -\xff\xfe-> \"n1\"\n", 1, 1, 1}};
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), relay, {}, 0, {}));
  EXPECT_EQ(view.at("circuits").at(0).at("chunks"), 1);
}

// A larger view would not fit into a session message and could not be shown at all.
TEST_F(StatusView, FitsTheLongestFlowsIntoAMessage) {
  FlowsStatus flows;
  FlowOpened flow;
  flow.flow = ~std::uint64_t{0};
  // Quotes take two bytes in JSON.
  flow.node = std::string(routing::kMaxNodeNameBytes, '"');
  flow.path = std::string(kMaxPathText, '"');
  flow.port = std::string(kMaxPortName, '"');
  flow.transport = {std::string(kMaxTransportName, '"'), std::string(kMaxTransportReason, '"')};
  flow.open_ms = kMaxOpenMs;
  const CircuitCounts circuit{flow.path,  flow.port, flow.transport,           kMaxOpenMs,
                              kMaxOpenMs, true,      CircuitShare::kAlternate, kMaxOpenMs,
                              kMaxOpenMs};
  FlowStatus listed{std::numeric_limits<std::int32_t>::max(), flow, {}, 1, {}, std::string(kMaxFlowFailure, '"')};
  listed.counts.circuits.assign(kMaxFlowCircuits, circuit);
  listed.circuit_bytes_per_s.assign(kMaxFlowCircuits, 1);
  flows.listed.assign(FlowLedger::kMaxListed, listed);
  RelayStatus relay;
  relay.circuits.assign(1000, {7, std::string(20000, '"'), 1, 1, 1});
  relay.circuits_open = 1000;
  EXPECT_LT(status_view(node(), relay, flows, 0, {}).size(), kMaxSessionMessageBytes - (1U << 20));
}

// A larger view would not fit into a session message.
TEST_F(StatusView, ListsOnlyAsManyCircuitsAsFit) {
  RelayStatus relay;
  relay.circuits.assign(1000, {7, std::string(20000, 'x'), 1, 1, 1});
  relay.circuits_open = 1000;
  const std::string text = status_view(node(), relay, {}, 0, {});
  EXPECT_LT(text.size(), 8U << 20);
  const nlohmann::json view = nlohmann::json::parse(text);
  EXPECT_EQ(view.at("relayed").at("circuits_open"), 1000);
  EXPECT_EQ(view.at("circuits").size(), 209U);
}

}  // namespace
}  // namespace cableway
