#include "core/linux/ports/port_traffic.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/core/linux/fake_sysfs.h"

namespace cableway::host {
namespace {

class PortTrafficTest : public testing::Test {
 protected:
  static PortFacts port(const std::string& interface, const std::string& rdma_device) {
    PortFacts facts;
    facts.interface = interface;
    facts.rdma_device = rdma_device;
    return facts;
  }
  void set_counters(const std::string& port, const std::string& received, const std::string& sent) const {
    sysfs_.write("class/infiniband/" + port + "/counters/port_rcv_data", received);
    sysfs_.write("class/infiniband/" + port + "/counters/port_xmit_data", sent);
  }
  HostTraffic traffic_of(const std::vector<PortFacts>& ports) const {
    HostTraffic traffic;
    traffic["eth1"] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    traffic["eth2"] = {};
    add_rdma_bytes(Sysfs(sysfs_.root()), ports, traffic);
    return traffic;
  }
  std::optional<std::uint64_t> received(const std::string& rdma_device = "mlx5_0") const {
    return traffic_of({port("eth1", rdma_device)}).at("eth1").received.rdma_bytes;
  }

  test::FakeSysfs sysfs_;
};

TEST_F(PortTrafficTest, CountersAreInUnitsOfFourBytes) {
  sysfs_.add_rdma_device("mlx5_0");
  set_counters("mlx5_0/ports/1", "25", "4611686018427387903");
  const HostTraffic traffic = traffic_of({port("eth1", "mlx5_0"), port("eth2", "")});
  EXPECT_EQ(traffic.at("eth1"), (InterfaceTraffic{{1, 2, 3, 4, 100}, {5, 6, 7, 8, 18446744073709551612U}}));
  EXPECT_EQ(traffic.at("eth2"), InterfaceTraffic());
}

TEST_F(PortTrafficTest, APortOfADeviceWithSeveralHasItsOwn) {
  sysfs_.add_rdma_device("mlx4_0");
  sysfs_.add_rdma_port("mlx4_0", 2);
  set_counters("mlx4_0/ports/1", "1", "1");
  set_counters("mlx4_0/ports/2", "2", "3");
  const HostTraffic traffic = traffic_of({port("eth1", "mlx4_0:1"), port("eth2", "mlx4_0:2")});
  EXPECT_EQ(traffic.at("eth1").sent.rdma_bytes, 4U);
  EXPECT_EQ(traffic.at("eth2").received.rdma_bytes, 8U);
  EXPECT_EQ(traffic.at("eth2").sent.rdma_bytes, 12U);
}

// As Soft-RoCE's, whose bytes the interface counts.
TEST_F(PortTrafficTest, ADeviceWithoutCountersHasNone) {
  EXPECT_EQ(received("rxe0"), std::nullopt) << "no device";
  sysfs_.add_rdma_device("rxe0");
  EXPECT_EQ(received("rxe0"), std::nullopt) << "no file";
  for (const char* text : {"N/A (no PMA)", "", "-1", "0x10", "18446744073709551615", "4611686018427387904"}) {
    set_counters("rxe0/ports/1", text, text);
    EXPECT_EQ(received("rxe0"), std::nullopt) << text;
  }
}

TEST_F(PortTrafficTest, OnInfiniBandTheInterfacesPacketsAreCountedOnce) {
  sysfs_.add_rdma_device("mlx5_0");
  set_counters("mlx5_0/ports/1", "1", "1");
  EXPECT_EQ(received(), 4U);
  sysfs_.write("class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
  EXPECT_EQ(received(), std::nullopt);
}

TEST_F(PortTrafficTest, PortsThatShareADeviceHaveNoneTwice) {
  sysfs_.add_rdma_device("mlx5_0");
  set_counters("mlx5_0/ports/1", "1", "1");
  const HostTraffic traffic = traffic_of({port("eth1", "mlx5_0"), port("eth2", "mlx5_0")});
  EXPECT_EQ(traffic.at("eth1").received.rdma_bytes, std::nullopt);
  EXPECT_EQ(traffic.at("eth2").sent.rdma_bytes, std::nullopt);
}

TEST_F(PortTrafficTest, AnInterfaceThatIsGoneIsNotMade) {
  sysfs_.add_rdma_device("mlx5_0");
  set_counters("mlx5_0/ports/1", "1", "1");
  EXPECT_FALSE(traffic_of({port("eth3", "mlx5_0")}).contains("eth3"));
}

// Devices that answer once the test allows it; the bytes of an answer are the number of requests.
struct SlowDevices {
  PortTraffic::AddRdmaBytes add() const {
    return [asked = asked, may_answer = may_answer](const std::vector<PortFacts>& ports, HostTraffic& traffic) {
      ++*asked;
      while (!*may_answer) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      traffic.at(ports.front().interface).received.rdma_bytes = asked->load();
    };
  }
  std::shared_ptr<std::atomic<bool>> may_answer = std::make_shared<std::atomic<bool>>(true);
  std::shared_ptr<std::atomic<std::uint64_t>> asked = std::make_shared<std::atomic<std::uint64_t>>(0);
};

std::optional<std::uint64_t> bytes_over_rdma(PortTraffic& traffic, const std::vector<PortFacts>& ports) {
  return traffic.read(ports).at("lo").received.rdma_bytes;
}

// The first answers may be too late on a busy machine.
std::optional<std::uint64_t> await_bytes(PortTraffic& traffic, const std::vector<PortFacts>& ports,
                                         std::uint64_t least) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::optional<std::uint64_t> bytes;
  while (bytes.value_or(0) < least && std::chrono::steady_clock::now() < deadline) {
    bytes = bytes_over_rdma(traffic, ports);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return bytes;
}

TEST_F(PortTrafficTest, EachCallAsksTheDevices) {
  const SlowDevices devices;
  PortTraffic traffic(devices.add());
  for (std::uint64_t calls = 1; calls <= 3; ++calls) {
    EXPECT_GE(await_bytes(traffic, {port("lo", "mlx5_0")}, calls), calls);
  }
}

TEST_F(PortTrafficTest, ADeviceThatIsSlowIsWaitedForOnceAndItsLateAnswerUsed) {
  const SlowDevices devices;
  PortTraffic traffic(devices.add());
  ASSERT_GE(await_bytes(traffic, {port("lo", "mlx5_0")}, 1), 1U);
  *devices.may_answer = false;
  const auto begun = std::chrono::steady_clock::now();
  for (int calls = 0; calls < 1000; ++calls) bytes_over_rdma(traffic, {port("lo", "mlx5_0")});
  // Not 20 s. Reading the interfaces takes some of it.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  const std::uint64_t asked = *devices.asked;
  *devices.may_answer = true;
  EXPECT_GE(await_bytes(traffic, {port("lo", "mlx5_0")}, asked), asked);
}

TEST_F(PortTrafficTest, AnswersThatAreOldAreNotUsed) {
  const SlowDevices devices;
  PortTraffic traffic(devices.add());
  ASSERT_GE(await_bytes(traffic, {port("lo", "mlx5_0")}, 1), 1U);
  *devices.may_answer = false;
  bytes_over_rdma(traffic, {port("lo", "mlx5_0")});
  std::this_thread::sleep_for(PortTraffic::kFresh + std::chrono::milliseconds(100));
  EXPECT_EQ(bytes_over_rdma(traffic, {port("lo", "mlx5_0")}), std::nullopt);
  *devices.may_answer = true;
}

TEST_F(PortTrafficTest, ADeviceThatDoesNotAnswerDelaysTheEndForASecond) {
  const SlowDevices devices;
  *devices.may_answer = false;
  auto traffic = std::make_unique<PortTraffic>(devices.add());
  EXPECT_EQ(bytes_over_rdma(*traffic, {port("lo", "mlx5_0")}), std::nullopt);
  const auto begun = std::chrono::steady_clock::now();
  traffic.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  *devices.may_answer = true;
}

TEST_F(PortTrafficTest, WithoutADeviceNoneIsAsked) {
  const SlowDevices devices;
  PortTraffic traffic(devices.add());
  EXPECT_EQ(bytes_over_rdma(traffic, {port("lo", "")}), std::nullopt);
  EXPECT_EQ(*devices.asked, 0U);
}

}  // namespace
}  // namespace cableway::host
