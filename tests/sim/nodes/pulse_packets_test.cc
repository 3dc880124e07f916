// Pulses on the fabric, and what kernels answer by themselves.
#include <gtest/gtest.h>

#include <vector>

#include "sim/nodes/cable_fabric.h"

namespace cableway::sim {
namespace {

using namespace std::chrono_literals;

class CountingSockets final : public PulseSockets {
 public:
  bool pulse(PortId /*port*/, const routing::PortAddress& /*from*/, std::span<const std::byte> /*bytes*/) override {
    ++pulses;
    return open;
  }
  void refused(PortId /*port*/, const routing::PortAddress& /*from*/) override { ++refusals; }
  void answered(PortId /*port*/, const routing::PortAddress& /*from*/) override { ++answers; }

  bool open = true;
  int pulses = 0;
  int refusals = 0;
  int answers = 0;
};

class PulsePackets : public testing::Test {
 protected:
  PulsePackets() {
    fabric.add_node();
    fabric.add_node();
    segment = fabric.add_cable(0, 1);
    fabric.ports_of(0).open_pulse_sockets(&a);
    fabric.ports_of(1).open_pulse_sockets(&b);
    clock.run_for(1ms);
  }
  routing::PortAddress address_of(CableFabric::NodeNumber node) {
    return fabric.ports_of(node).ports().front().addresses.front().address;
  }
  PortId port_of(CableFabric::NodeNumber node) { return fabric.ports_of(node).ports().front().id; }
  void send_pulse() {
    fabric.ports_of(0).send_pulse(port_of(0), address_of(1), std::vector<std::byte>(64));
    clock.run_for(1ms);
  }
  void ask() {
    fabric.ports_of(0).ask_kernel(port_of(0), address_of(1));
    clock.run_for(1ms);
  }

  VirtualClock clock;
  CableFabric fabric{clock, 1};
  CableFabric::SegmentNumber segment = 0;
  CountingSockets a;
  CountingSockets b;
};

TEST_F(PulsePackets, ArriveWhereASocketIsOpenAndAreRefusedElsewhere) {
  send_pulse();
  EXPECT_EQ(b.pulses, 1);
  EXPECT_EQ(a.refusals, 0);
  b.open = false;
  send_pulse();
  EXPECT_EQ(a.refusals, 1);
  fabric.ports_of(1).open_pulse_sockets(nullptr);
  send_pulse();
  EXPECT_EQ(a.refusals, 2);
  EXPECT_EQ(fabric.ports_of(0).packets(port_of(0)), 2U);
  EXPECT_EQ(fabric.datagrams(), 0U);
  EXPECT_EQ(fabric.pulses(), 5U);
}

TEST_F(PulsePackets, AKernelAnswersWhileBothWaysWorkAndItsHostIsOn) {
  ask();
  EXPECT_EQ(a.answers, 1);
  fabric.set_mute(segment, 1, true);
  ask();
  fabric.set_mute(segment, 1, false);
  fabric.set_mute(segment, 0, true);
  ask();
  fabric.set_mute(segment, 0, false);
  fabric.set_off(1, true);
  ask();
  EXPECT_EQ(a.answers, 1);
  fabric.set_off(1, false);
  fabric.ports_of(1).open_pulse_sockets(nullptr);
  ask();
  EXPECT_EQ(a.answers, 2);
}

TEST_F(PulsePackets, OneThatHasChangedIsNoAnswer) {
  CableFabric::Weather weather;
  weather.corrupted_per_mille = 1000;
  fabric.set_weather(segment, weather);
  ask();
  EXPECT_EQ(a.answers, 0);
}

}  // namespace
}  // namespace cableway::sim
