// The rules, on networks described by the test.
#include "core/linux/ports/port_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace cableway::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

PortPrefix prefix(const std::string& address, int length) {
  return {routing::parse_port_address(address).value(), static_cast<std::uint8_t>(length)};
}

auto is_rejected(const std::string& interface, const std::string& reason) {
  return Contains(
      testing::AllOf(Field(&RejectedPort::interface, interface), Field(&RejectedPort::reason, HasSubstr(reason))));
}

class PortSelectionTest : public testing::Test {
 protected:
  PortSelectionTest() {
    add(1, "lo").loopback = true;
    address(1, "127.0.0.1", 8);
    add(2, "eth0");
    address(2, "192.168.1.5", 24);
    add(3, "eth1");
    address(3, "10.7.0.1", 24);
    address(3, "fe80::1%eth1", 64);
    address(3, "fd00::1", 64);
  }
  KernelLink& add(PortId id, const std::string& name) {
    KernelLink& link = network_.links[id];
    link.name = name;
    link.up = link.carrier = true;
    link.mtu = 1500;
    return link;
  }
  KernelAddress& address(PortId id, const std::string& text, int length) {
    return network_.addresses.emplace_back(KernelAddress{id, prefix(text, length), false, false});
  }
  RdmaPort& add_rdma(const std::string& name, const std::string& interface, const std::string& gid) {
    RdmaPort& port = devices_.rdma.emplace_back();
    port.device = name;
    port.link_layer = "Ethernet";
    port.state = "4: ACTIVE";
    port.gids = {RoceGid{3, interface, routing::parse_port_address(gid).value()}};
    return port;
  }
  PortSelection select(const std::vector<std::string>& texts) const {
    std::vector<PortSelector> selectors;
    for (const std::string& text : texts) selectors.push_back(parse_port_selector(text).value());
    return select_ports(network_, devices_, selectors);
  }
  // The names of the ports among these interfaces: "eth1 eth2".
  std::vector<std::string> ports(const std::vector<std::string>& texts) const {
    std::vector<std::string> names;
    for (const PortFacts& port : select(texts).ports) names.push_back(port.interface);
    return names;
  }

  KernelNetwork network_;
  DeviceFacts devices_;
};

TEST_F(PortSelectionTest, ANamedInterfaceHasAllItsAddressesSortedByKind) {
  devices_.rates_mbps[3] = 100000;
  const PortSelection found = select({"eth1"});
  ASSERT_EQ(found.ports.size(), 1U);
  const PortFacts& port = found.ports[0];
  EXPECT_EQ(port.id, 3U);
  EXPECT_EQ(port.interface, "eth1");
  EXPECT_TRUE(port.carrier);
  EXPECT_EQ(port.mtu, 1500U);
  EXPECT_EQ(port.rate_mbps, 100000U);
  EXPECT_THAT(port.addresses, ElementsAre(prefix("10.7.0.1", 24), prefix("fd00::1", 64), prefix("fe80::1%eth1", 64)));
  EXPECT_EQ(port.rdma_device, "");
  EXPECT_EQ(port.gid_index, -1);
  EXPECT_EQ(found.status, "");
  EXPECT_THAT(found.rejected, is_rejected("eth0", "CABLEWAY_PORTS names neither it"));
  EXPECT_THAT(found.rejected, is_rejected("lo", "CABLEWAY_PORTS names neither it"));
}

TEST_F(PortSelectionTest, APrefixSelectsOnlyTheAddressesInside) {
  const PortSelection found = select({"10.7.0.0/16"});
  ASSERT_EQ(found.ports.size(), 1U);
  EXPECT_THAT(found.ports[0].addresses, ElementsAre(prefix("10.7.0.1", 24)));
}

TEST_F(PortSelectionTest, ANameBesideAPrefixStillSelectsAllAddresses) {
  EXPECT_EQ(select({"10.7.0.0/16", "eth1"}).ports.at(0).addresses.size(), 3U);
}

TEST_F(PortSelectionTest, LoopbackIsUsedIfSelected) {
  address(1, "10.9.0.1", 24);
  address(1, "10.9.0.2", 24);
  const PortSelection found = select({"10.9.0.1/32"});
  ASSERT_EQ(found.ports.size(), 1U);
  EXPECT_EQ(found.ports[0].interface, "lo");
  EXPECT_THAT(found.ports[0].addresses, ElementsAre(prefix("10.9.0.1", 24)));
  EXPECT_THAT(ports({"lo"}), ElementsAre("lo"));
}

TEST_F(PortSelectionTest, WithoutSelectorsTheRoceInterfacesAreUsed) {
  add_rdma("mlx5_0", "eth1", "10.7.0.1");
  add_rdma("rxe_lo", "lo", "127.0.0.1");
  const PortSelection found = select({});
  ASSERT_EQ(found.ports.size(), 1U);
  EXPECT_EQ(found.ports[0].rdma_device, "mlx5_0");
  EXPECT_EQ(found.ports[0].gid_index, 3);
  EXPECT_THAT(found.rejected, is_rejected("eth0", "has no RDMA device"));
  EXPECT_THAT(found.rejected, is_rejected("lo", "loopback"));
}

TEST_F(PortSelectionTest, WithoutEitherTheStatusNamesTheSetting) {
  const PortSelection found = select({});
  EXPECT_THAT(found.ports, IsEmpty());
  EXPECT_THAT(found.status, HasSubstr("set CABLEWAY_PORTS"));
}

TEST_F(PortSelectionTest, RejectsInterfacesThatAreDownButNotWithoutCarrier) {
  network_.links[3].carrier = false;
  EXPECT_FALSE(select({"eth1"}).ports.at(0).carrier);
  network_.links[3].up = false;
  const PortSelection found = select({"eth1"});
  EXPECT_THAT(found.ports, IsEmpty());
  EXPECT_THAT(found.rejected, is_rejected("eth1", "is down: ip link set eth1 up"));
  EXPECT_THAT(found.status, HasSubstr("eth1 is down"));
}

TEST_F(PortSelectionTest, RejectsMembersOfABridgeButNotOfAVrf) {
  add(9, "br0").kind = "bridge";
  network_.links[3].master = 9;
  EXPECT_THAT(select({"eth1"}).rejected, is_rejected("eth1", "is a member of br0"));
  network_.links[9].kind = "vrf";
  EXPECT_THAT(ports({"eth1"}), ElementsAre("eth1"));
}

TEST_F(PortSelectionTest, AnInterfaceWithoutAnyAddressIsNamed) {
  add(4, "eth2");
  EXPECT_THAT(select({"eth2"}).rejected, is_rejected("eth2", "has no address: not even a link-local one"));
  network_.links[4].carrier = false;
  EXPECT_THAT(select({"eth2"}).rejected, is_rejected("eth2", "needs a carrier"));
}

TEST_F(PortSelectionTest, TentativeAndDuplicateAddressesAreSkippedWithTheReason) {
  network_.addresses[3].tentative = true;  // fe80::1
  network_.addresses[4].duplicate = true;  // fd00::1
  const PortSelection found = select({"eth1"});
  EXPECT_THAT(found.ports.at(0).addresses, ElementsAre(prefix("10.7.0.1", 24)));
  EXPECT_THAT(found.rejected, is_rejected("eth1", "fe80::1%eth1 is tentative"));
  EXPECT_THAT(found.rejected, is_rejected("eth1", "fd00::1 is also used by another host"));
  EXPECT_THAT(select({"fd00::/16"}).ports, IsEmpty());
}

TEST_F(PortSelectionTest, AnAddressOnTwoInterfacesIsUsedOnOne) {
  add(4, "eth2");
  address(4, "10.7.0.1", 24);
  address(4, "fe80::1%eth2", 64);
  const PortSelection found = select({"eth1", "eth2"});
  ASSERT_EQ(found.ports.size(), 2U);
  EXPECT_THAT(found.ports[1].addresses, ElementsAre(prefix("fe80::1%eth2", 64)));
  EXPECT_THAT(found.rejected, is_rejected("eth2", "10.7.0.1 is already used by eth1"));
}

TEST_F(PortSelectionTest, NamesAnUnusableRdmaDevice) {
  RdmaPort& device = add_rdma("mlx5_0", "eth1", "10.7.0.1");
  device.mtu = 4096;
  EXPECT_EQ(select({}).ports.at(0).rdma_trouble, "");
  EXPECT_EQ(select({}).ports.at(0).rdma_mtu, 4096U);
  const auto trouble = [&] {
    const PortSelection found = select({});
    EXPECT_EQ(found.ports.at(0).rdma_device, "mlx5_0");
    EXPECT_EQ(found.ports.at(0).gid_index, -1);
    EXPECT_EQ(found.ports.at(0).rdma_mtu, 0U);
    return found.ports.at(0).rdma_trouble;
  };
  device.state = "1: DOWN";
  EXPECT_EQ(trouble(), "RDMA device mlx5_0 behind eth1 is not active; its state is \"1: DOWN\"");
  device.trouble = "RDMA device mlx5_0: local catastrophic error";
  EXPECT_EQ(trouble(), device.trouble);
  device.trouble.clear();
  device.state = "4: ACTIVE";
  device.gids[0].address = routing::parse_port_address("10.7.0.9").value();
  EXPECT_THAT(trouble(), HasSubstr("no RoCE v2 GID for 10.7.0.1"));
}

TEST_F(PortSelectionTest, InfiniBandIsUsedIfNamedButWithoutRdma) {
  RdmaPort& device = add_rdma("mlx5_0", "", "10.7.0.1");
  device.link_layer = "InfiniBand";
  device.gids.clear();
  device.pci_function = "0000:01:00.0";
  devices_.pci_functions = {{3, "0000:01:00.0"}};
  EXPECT_THAT(select({}).ports, IsEmpty());
  EXPECT_THAT(select({}).rejected,
              is_rejected("eth1", "is on InfiniBand, not Ethernet; to use it anyway, name it in CABLEWAY_PORTS"));
  const PortFacts port = select({"eth1"}).ports.at(0);
  EXPECT_EQ(port.rdma_device, "mlx5_0");
  EXPECT_THAT(port.rdma_trouble, HasSubstr("mlx5_0 behind eth1 is on InfiniBand"));
}

TEST_F(PortSelectionTest, TwoInterfacesOfOneFunctionHaveAPortOfTheDeviceEach) {
  add(4, "eth2");
  address(4, "10.7.1.1", 24);
  devices_.pci_functions = {{3, "0000:01:00.0"}, {4, "0000:01:00.0"}};
  devices_.function_ports = {{3, 0}, {4, 1}};
  for (const int number : {1, 2}) {
    RdmaPort& port = add_rdma("mlx4_0", number == 1 ? "eth1" : "eth2", number == 1 ? "10.7.0.1" : "10.7.1.1");
    port.number = static_cast<std::uint8_t>(number);
    port.only = false;
    port.pci_function = "0000:01:00.0";
  }
  PortSelection found = select({});
  ASSERT_EQ(found.ports.size(), 2U);
  EXPECT_EQ(found.ports[0].rdma_device, "mlx4_0:1");
  EXPECT_EQ(found.ports[1].rdma_device, "mlx4_0:2");
  for (RdmaPort& port : devices_.rdma) port.gids.clear();
  found = select({});
  ASSERT_EQ(found.ports.size(), 2U);
  EXPECT_EQ(found.ports[1].rdma_device, "mlx4_0:2") << "by the driver's port number";
}

TEST_F(PortSelectionTest, NamesUnmatchedSelectors) {
  const PortSelection found = select({"eth7", "172.16.0.0/12"});
  EXPECT_THAT(found.ports, IsEmpty());
  EXPECT_THAT(found.rejected, is_rejected("eth7", "no such interface"));
  EXPECT_THAT(found.rejected, is_rejected("172.16.0.0/12", "no interface has an address inside it"));
  EXPECT_THAT(found.status, testing::AllOf(HasSubstr("eth7"), HasSubstr("172.16.0.0/12"), Not(HasSubstr("eth0"))));
}

// Only a selected interface is a fault; the others are expected on a host beside its cables.
TEST_F(PortSelectionTest, MarksRequestedInterfaces) {
  const auto requested = [&](const std::vector<std::string>& texts) {
    std::vector<std::string> interfaces;
    for (const RejectedPort& each : select(texts).rejected) {
      if (each.requested) interfaces.push_back(each.interface);
    }
    return interfaces;
  };
  add(4, "eth2");
  EXPECT_THAT(requested({"eth1"}), IsEmpty());
  EXPECT_THAT(requested({"eth1", "eth2", "eth7"}), ElementsAre("eth2", "eth7"));
  EXPECT_THAT(requested({"eth1", "172.16.0.0/12"}), IsEmpty()) << "it may belong to a future cable";
  EXPECT_THAT(requested({"172.16.0.0/12"}), ElementsAre("172.16.0.0/12"));
  network_.links[3].up = false;
  EXPECT_THAT(requested({"10.7.0.0/16", "eth0"}), ElementsAre("eth1"));
  EXPECT_THAT(requested({}), IsEmpty());
}

TEST_F(PortSelectionTest, TheHalvesOfAPlugAreFoundAmongAllInterfaces) {
  add(4, "eth2").phys_port_name = "p0";
  address(4, "10.7.1.1", 24);
  network_.links[3].phys_port_name = "p0";
  devices_.pci_functions = {{3, "0000:01:00.0"}, {4, "0002:01:00.0"}};
  for (const char* name : {"eth1", "eth2"}) {
    RdmaPort& device =
        add_rdma(std::string("rdma_") + name, name, name == std::string("eth1") ? "10.7.0.1" : "10.7.1.1");
    device.board = "fc4c:ea03:00f9:4230";
    device.pci_function = name == std::string("eth1") ? "0000:01:00.0" : "0002:01:00.0";
  }
  const PortSelection both = select({});
  ASSERT_EQ(both.ports.size(), 2U);
  EXPECT_NE(both.ports[0].plug, "");
  EXPECT_EQ(both.ports[0].plug, both.ports[1].plug);
  EXPECT_EQ(select({"eth2"}).ports.at(0).plug, both.ports[0].plug);
  // Both are ports, each with its own device.
  EXPECT_EQ(both.ports[0].rdma_device, "rdma_eth1");
  EXPECT_EQ(both.ports[1].rdma_device, "rdma_eth2");
  for (const PortFacts& port : both.ports) EXPECT_EQ(port.gid_index, 3) << port.rdma_trouble;
}

TEST_F(PortSelectionTest, APortCarriesNoMoreThanItsPcieLink) {
  const auto port = [&](std::uint64_t link_mbps, const PcieLink& pcie) {
    devices_.rates_mbps[3] = link_mbps;
    devices_.pcie_links[3] = pcie;
    return select({"eth1"}).ports.at(0);
  };
  const PcieLink spark{"0000:00:00.0", {32, 4}, {32, 4}, {32, 4}};
  EXPECT_EQ(port(200'000, spark).rate_mbps, 98'300U);
  EXPECT_EQ(port(200'000, spark).link_mbps, 200'000U);
  EXPECT_EQ(port(200'000, spark).root, "0000:00:00.0");
  EXPECT_EQ(port(200'000, spark).root_mbps, 98'300U);
  EXPECT_EQ(port(200'000, {"0002:00:00.0", {32, 2}, {32, 4}, {32, 4}}).rate_mbps, 49'100U)
      << "as it runs, not as it could";
  EXPECT_EQ(port(40'000, spark).rate_mbps, 40'000U) << "the link is the slower one";
  EXPECT_EQ(port(40'000, spark).root_mbps, 98'300U);
  const PortFacts unknown_link = port(0, spark);
  EXPECT_EQ(unknown_link.rate_mbps, 0U);
  EXPECT_EQ(unknown_link.link_mbps, 0U);
  EXPECT_EQ(unknown_link.root_mbps, 98'300U);
  const PortFacts unknown_root = port(200'000, {});
  EXPECT_EQ(unknown_root.rate_mbps, 200'000U);
  EXPECT_EQ(unknown_root.root, "");
  EXPECT_EQ(unknown_root.root_mbps, 0U);
}

// Two plugs of two functions on two PCIe links, each of which has a function of either plug.
TEST_F(PortSelectionTest, ASparkHasTwoPlugsAcrossTwoRoots) {
  network_ = {};
  const std::pair<const char*, const char*> functions[] = {{"0000:01:00.0", "0000:00:00.0"},
                                                           {"0000:01:00.1", "0000:00:00.0"},
                                                           {"0002:01:00.0", "0002:00:00.0"},
                                                           {"0002:01:00.1", "0002:00:00.0"}};
  for (PortId id = 1; id <= 4; ++id) {
    const std::string name = "eth" + std::to_string(id);
    KernelLink& link = add(id, name);
    link.phys_port_name = id % 2 == 1 ? "p0" : "p1";
    link.phys_switch_id = "9a1c04";
    address(id, "10.7." + std::to_string(id) + ".1", 24);
    devices_.pci_functions[id] = functions[id - 1].first;
    devices_.rates_mbps[id] = 200'000;
    devices_.pcie_links[id] = {functions[id - 1].second, {32, 4}, {32, 4}, {32, 4}};
  }
  const std::vector<PortFacts> ports = select({"10.7.0.0/16"}).ports;
  ASSERT_EQ(ports.size(), 4U);
  for (const PortFacts& port : ports) EXPECT_EQ(port.rate_mbps, 98'300U);
  EXPECT_EQ(ports[0].plug, ports[2].plug);
  EXPECT_EQ(ports[1].plug, ports[3].plug);
  EXPECT_NE(ports[0].plug, ports[1].plug);
  EXPECT_EQ(ports[0].root, ports[1].root);
  EXPECT_EQ(ports[2].root, ports[3].root);
  EXPECT_NE(ports[0].root, ports[2].root);
}

}  // namespace
}  // namespace cableway::host
