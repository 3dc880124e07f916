// The fabric's effects on datagrams, per cable.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "sim/nodes/cable_fabric.h"

namespace cableway::sim {
namespace {

using namespace std::chrono_literals;

class TwoPorts : public ::testing::Test {
 protected:
  TwoPorts() {
    fabric_.add_node();
    fabric_.add_node();
    cable_ = fabric_.add_cable(0, 1);
    for (std::size_t node : {0, 1}) {
      fabric_.ports_of(node).listen([this, node](const ReceivedDatagram& datagram) {
        arrived_[node].emplace_back(datagram.bytes.begin(), datagram.bytes.end());
      });
    }
  }
  // Sends `count` datagrams of 32 bytes in each direction, a millisecond apart.
  void exchange(int count) {
    const std::vector<std::byte> bytes(32, std::byte{7});
    for (int i = 0; i < count; ++i) {
      for (std::size_t node : {0, 1}) {
        fabric_.ports_of(node).send_to_all(fabric_.ports_of(node).ports().front().id, bytes);
      }
      clock_.run_for(1ms);
    }
    clock_.run_for(1s);
  }

  VirtualClock clock_;
  CableFabric fabric_{clock_, 1};
  CableFabric::SegmentNumber cable_ = 0;
  std::vector<std::vector<std::byte>> arrived_[2];
};

TEST_F(TwoPorts, AMutePortReceivesButDoesNotSend) {
  fabric_.set_mute(cable_, 0, true);
  exchange(5);
  EXPECT_EQ(arrived_[0].size(), 5U);
  EXPECT_EQ(arrived_[1].size(), 0U);
  EXPECT_FALSE(fabric_.carries(cable_, 0));
  EXPECT_TRUE(fabric_.carries(cable_, 1));
}

TEST_F(TwoPorts, ABurstLosesConsecutiveDatagrams) {
  CableFabric::Weather weather;
  weather.burst_begins_per_mille = 20;
  weather.burst_ends_per_mille = 100;
  fabric_.set_weather(cable_, weather);
  exchange(2000);
  const std::size_t lost = 4000 - arrived_[0].size() - arrived_[1].size();
  // A sixth of the time, in bursts of ten.
  EXPECT_GT(lost, 300U);
  EXPECT_LT(lost, 1200U);
}

TEST_F(TwoPorts, ACorruptedDatagramDiffersInOneByte) {
  CableFabric::Weather weather;
  weather.corrupted_per_mille = 1000;
  fabric_.set_weather(cable_, weather);
  exchange(50);
  ASSERT_EQ(arrived_[0].size(), 50U);
  for (const std::vector<std::byte>& bytes : arrived_[0]) {
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{7}), 31);
  }
}

TEST_F(TwoPorts, AFullQueueDropsFurtherDatagrams) {
  CableFabric::Weather weather;
  weather.delay = 10ms;
  weather.queue = 4;
  fabric_.set_weather(cable_, weather);
  exchange(2);
  EXPECT_EQ(arrived_[0].size() + arrived_[1].size(), 4U);
  arrived_[0].clear();
  arrived_[1].clear();
  exchange(10);
  EXPECT_EQ(arrived_[0].size() + arrived_[1].size(), 4U);
}

TEST_F(TwoPorts, LargePacketsOfOnePortAreLost) {
  fabric_.set_largest_packet(cable_, 0, 28 + 31);  // with headers
  exchange(3);
  EXPECT_EQ(arrived_[0].size(), 3U);
  EXPECT_EQ(arrived_[1].size(), 0U);
  EXPECT_TRUE(fabric_.carries(cable_, 0));
  EXPECT_FALSE(fabric_.carries_full_size(cable_, 0));
  EXPECT_TRUE(fabric_.carries_full_size(cable_, 1));
  fabric_.set_largest_packet(cable_, 0, 28 + 32);
  exchange(3);
  EXPECT_EQ(arrived_[1].size(), 3U);
  // A larger datagram is sent in fragments, which have the MTU.
  fabric_.set_largest_packet(cable_, 0, 1500);
  fabric_.ports_of(0).send_to_all(fabric_.ports_of(0).ports().front().id, std::vector<std::byte>(5000));
  clock_.run_for(1ms);
  EXPECT_EQ(arrived_[1].size(), 4U);
  EXPECT_TRUE(fabric_.carries_full_size(cable_, 0));
}

TEST_F(TwoPorts, OneFamilyIsThatOfTheFirstAddress) {
  FabricPorts& ports = fabric_.ports_of(0);
  const std::vector<std::byte> bytes(32);
  ports.send_to_family(ports.ports().front().id, true, bytes);
  clock_.run_for(1ms);
  EXPECT_EQ(arrived_[1].size(), 0U);
  ports.send_to_family(ports.ports().front().id, false, bytes);
  clock_.run_for(1ms);
  EXPECT_EQ(arrived_[1].size(), 1U);
}

TEST_F(TwoPorts, WeatherOfOneCableEnds) {
  CableFabric::Weather weather;
  weather.lost_per_mille = 1000;
  fabric_.set_weather(cable_, weather);
  exchange(3);
  EXPECT_TRUE(arrived_[0].empty());
  fabric_.set_weather(cable_, std::nullopt);
  exchange(3);
  EXPECT_EQ(arrived_[0].size(), 3U);
}

}  // namespace
}  // namespace cableway::sim
