#include "core/view/ports_view.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class PortsView : public ::testing::Test {
 protected:
  PortsView() {
    segments_ = world_.build(3, {{0, 1}, {1, 2}});
    world_.start_all();
    EXPECT_TRUE(world_.settle(2s, [&] { return world_.node(1).paths().topology().cable_count() == 2; }));
  }
  json view(const std::vector<RejectedPort>& rejected = {}, const ControlCounters& counters = {}) {
    return json::parse(ports_view(world_.node(1), TransportSetting::kAuto, rejected, counters));
  }

  sim::NodeWorld world_{1};
  std::vector<sim::CableFabric::SegmentNumber> segments_;
};

TEST_F(PortsView, HasEveryPortWithItsNeighbour) {
  const PortFacts port = world_.node(1).neighbours().ports().front();
  json ports = view().at("ports");
  ASSERT_EQ(ports.size(), 2U);
  json& neighbour = ports[0].at("neighbours").at(0);
  EXPECT_LE(neighbour.at("heard_ms").get<int>(), 200);
  EXPECT_GE(neighbour.at("known_ms").get<int>(), neighbour.at("heard_ms").get<int>());
  neighbour.erase("heard_ms");
  neighbour.erase("known_ms");
  const std::string n0_port = world_.node(0).neighbours().ports().front().interface;
  const json expected = {{"interface", port.interface},
                         {"addresses", {"10.0.0.2/30"}},
                         {"mtu", port.mtu},
                         {"rate_mbps", port.rate_mbps},
                         {"link_mbps", port.link_mbps},
                         {"carrier", true},
                         {"rdma_device", nullptr},
                         {"rdma_usable", nullptr},
                         {"gid_index", nullptr},
                         {"roce_version", nullptr},
                         {"rdma_mtu", nullptr},
                         {"rdma_trouble", nullptr},
                         {"transport", "tcp"},
                         {"transport_reason", "no RDMA device behind " + port.interface},
                         {"plug", nullptr},
                         {"root", nullptr},
                         {"root_mbps", nullptr},
                         {"neighbours",
                          {{{"node", "n0"},
                            {"interface", n0_port},
                            {"state", "up"},
                            {"hears_us", true},
                            {"large_lost", nullptr},
                            {"our_address", "10.0.0.2"},
                            {"address", "10.0.0.1"},
                            {"rate_mbps", port.rate_mbps},
                            {"link_mbps", port.link_mbps},
                            {"latency_us", nullptr}}}},
                         {"control", nullptr},
                         {"received_bytes", nullptr},
                         {"sent_bytes", nullptr},
                         {"rdma_received_bytes", nullptr},
                         {"rdma_sent_bytes", nullptr}};
  EXPECT_EQ(ports[0], expected) << ports.dump(2);
}

TEST_F(PortsView, HasWhatPortsHaveCarried) {
  const std::string interface = world_.node(1).neighbours().ports().front().interface;
  const auto bytes = [&] { return std::map<std::string, PortBytes>{{interface, {1, 2, 3, std::nullopt}}}; };
  const json ports = json::parse(ports_view(world_.node(1), TransportSetting::kAuto, {}, {}, bytes)).at("ports");
  EXPECT_EQ(ports[0].at("received_bytes"), 1);
  EXPECT_EQ(ports[0].at("sent_bytes"), 2);
  EXPECT_EQ(ports[0].at("rdma_received_bytes"), 3);
  EXPECT_EQ(ports[0].at("rdma_sent_bytes"), nullptr);
  EXPECT_EQ(ports[1].at("sent_bytes"), nullptr);
}

TEST_F(PortsView, HasTheNeighboursLatencyWhileItIsUp) {
  world_.clock().run_for(3s);
  const auto latency = [&] { return view().at("ports").at(0).at("neighbours").at(0).at("latency_us"); };
  EXPECT_EQ(latency(), 5) << "the fabric's own";
  world_.fabric().set_mute(segments_[0], 1, true);
  world_.clock().run_for(1500ms);
  world_.fabric().set_mute(segments_[0], 1, false);
  world_.clock().run_for(150ms);
  EXPECT_EQ(latency(), nullptr);
}

TEST_F(PortsView, NamesTheDirectionInWhichLargePacketsAreLost) {
  const auto neighbour = [&] { return view().at("ports").at(0).at("neighbours").at(0); };
  world_.fabric().set_largest_packet(segments_[0], 0, 1000);
  world_.clock().run_for(3s);
  EXPECT_EQ(neighbour().at("state"), "heard");
  EXPECT_EQ(neighbour().at("large_lost"), "from");
  world_.fabric().set_largest_packet(segments_[0], 1, 1000);
  world_.clock().run_for(3s);
  EXPECT_EQ(neighbour().at("large_lost"), "both");
  world_.fabric().set_largest_packet(segments_[0], 0, SIZE_MAX);
  world_.clock().run_for(1s);
  EXPECT_EQ(neighbour().at("large_lost"), "to");
}

TEST_F(PortsView, HasNoRateOfANeighbourWhoseLinkIsUnknown) {
  const PortId far = world_.node(0).neighbours().ports().front().id;
  world_.fabric().change_port(0, far, [](PortFacts& facts) {
    facts.rate_mbps = facts.link_mbps = 0;
    facts.root = "0000:00:01.0";
    facts.root_mbps = 2'500;
  });
  world_.clock().run_for(3s);
  const json neighbour = view().at("ports").at(0).at("neighbours").at(0);
  EXPECT_EQ(neighbour.at("rate_mbps"), nullptr);
  EXPECT_EQ(neighbour.at("link_mbps"), nullptr);
  EXPECT_EQ(world_.node(1).paths().topology().cables()[0].rate_mbps, 2'500U) << "no more than its PCIe link carries";
}

TEST_F(PortsView, APortIsWrittenTheSameWithoutANode) {
  const PortFacts port = world_.node(1).neighbours().ports().front();
  json shown = view().at("ports").at(0);
  shown["neighbours"] = nullptr;
  EXPECT_EQ(json(port_json(port, TransportSetting::kAuto)), shown);
}

TEST_F(PortsView, HasThePortsLinkAndRoot) {
  PortFacts port = world_.node(1).neighbours().ports().front();
  port.link_mbps = 200'000;
  port.rate_mbps = port.root_mbps = 98'300;
  port.plug = "p0";
  port.root = "0000:00:00.0";
  const json shown = port_json(port, TransportSetting::kAuto);
  EXPECT_EQ(shown.at("link_mbps"), 200'000);
  EXPECT_EQ(shown.at("rate_mbps"), 98'300);
  EXPECT_EQ(shown.at("plug"), "p0");
  EXPECT_EQ(shown.at("root"), "0000:00:00.0");
  EXPECT_EQ(shown.at("root_mbps"), 98'300);
}

TEST_F(PortsView, HasThePortsRdmaDevice) {
  PortFacts port = world_.node(1).neighbours().ports().front();
  port.rdma_device = "mlx5_0";
  port.gid_index = 3;
  port.rdma_mtu = 4096;
  const json usable = port_json(port, TransportSetting::kAuto);
  EXPECT_EQ(usable.at("rdma_device"), "mlx5_0");
  EXPECT_EQ(usable.at("rdma_usable"), true);
  EXPECT_EQ(usable.at("gid_index"), 3);
  EXPECT_EQ(usable.at("roce_version"), 2);
  EXPECT_EQ(usable.at("rdma_mtu"), 4096);
  EXPECT_EQ(usable.at("transport"), "rdma");
  port.gid_index = -1;
  port.rdma_trouble = "mlx5_0 is not active";
  const json refused = port_json(port, TransportSetting::kAuto);
  EXPECT_EQ(refused.at("rdma_usable"), false);
  EXPECT_EQ(refused.at("gid_index"), nullptr);
  EXPECT_EQ(refused.at("rdma_trouble"), "mlx5_0 is not active");
  EXPECT_EQ(refused.at("transport"), "refused");
  EXPECT_EQ(port_json(port, TransportSetting::kTcp).at("transport"), "tcp");
}

TEST_F(PortsView, ShowsRejectedPortsAndDroppedDatagrams) {
  const json answer = view({{"eth9", "is down: ip link set eth9 up", true}});
  EXPECT_EQ(answer.at("schema"), 1);
  EXPECT_EQ(answer.at("node"), "n1");
  EXPECT_EQ(answer.at("rejected"),
            (json{{{"interface", "eth9"}, {"reason", "is down: ip link set eth9 up"}, {"requested", true}}}));
  EXPECT_EQ(answer.at("dropped"), (json{{"garbage", 0}, {"refused", 0}, {"replayed", 0}, {"unknown", 0}}));
}

TEST_F(PortsView, NamesErrorsOfTheControlChannel) {
  PortControlCounters counters;
  counters.port = world_.node(1).neighbours().ports().back().id;
  counters.sent = 7;
  counters.received = 6;
  counters.send_errors = {{EPERM, 3}};
  counters.last_error = "cannot send";
  counters.not_open = {"group"};
  const json ports = view({}, {{counters}}).at("ports");
  EXPECT_EQ(ports[0].at("control"), nullptr);
  EXPECT_EQ(ports[1].at("control"), (json{{"sent", 7},
                                          {"received", 6},
                                          {"oversized", 0},
                                          {"foreign", 0},
                                          {"own", 0},
                                          {"ttl_refused", 0},
                                          {"send_errors", {{"EPERM", 3}}},
                                          {"last_error", "cannot send"},
                                          {"not_open", {"group"}}}));
}

TEST_F(PortsView, APortWithoutItsCableHasNoNeighbour) {
  world_.fabric().set_carrier(segments_[1], false);
  world_.clock().run_for(100ms);
  const json ports = view().at("ports");
  EXPECT_EQ(ports[1].at("carrier"), false);
  EXPECT_EQ(ports[1].at("neighbours"), json::array());
}

}  // namespace
}  // namespace cableway
