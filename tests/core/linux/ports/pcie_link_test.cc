// Trees as the kernel makes them.
#include "core/linux/ports/pcie_link.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>

#include "tests/core/linux/fake_sysfs.h"

namespace cableway::host {

void PrintTo(const PcieLink& link, std::ostream* out) {
  *out << link.root << " " << link.current.gigatransfers << " GT/s x" << link.current.lanes << ", at most "
       << link.maximum().gigatransfers << " GT/s x" << link.maximum().lanes;
}

namespace {

constexpr char kGen3[] = "8.0 GT/s PCIe";
constexpr char kGen4[] = "16.0 GT/s PCIe";
constexpr char kGen5[] = "32.0 GT/s PCIe";

class PcieLinkTest : public testing::Test {
 protected:
  // The link between the functions `upper` and `lower`, both of which report it.
  void add_link(const std::string& upper, const std::string& lower, const std::string& speed,
                const std::string& width) const {
    sysfs_.set_pcie_link(upper, speed, width, width);
    sysfs_.set_pcie_link(upper + "/" + lower, speed, width, width);
  }
  // A root port with the functions 0 and 1 of a card below it, an interface each.
  void add_card(const std::string& root_port, const std::string& card, const std::string& interfaces,
                const std::string& speed, const std::string& width) const {
    for (const char* const function : {"0", "1"}) {
      const std::string name = card + "." + function;
      add_link(root_port, name, speed, width);
      sysfs_.add_interface(interfaces + function, root_port + "/" + name);
    }
  }
  PcieLink link_of(const std::string& interface) const { return read_pcie_link(Sysfs(sysfs_.root()), interface); }

  test::FakeSysfs sysfs_;
};

TEST_F(PcieLinkTest, ASparkHasTwoLinksWithAFunctionOfEachPlug) {
  add_card("pci0000:00/0000:00:00.0", "0000:01:00", "enp1s0f", kGen5, "4");
  add_card("pci0002:00/0002:00:00.0", "0002:01:00", "enP2p1s0f", kGen5, "4");
  for (const char* const function : {"0", "1"}) {
    EXPECT_EQ(link_of(std::string("enp1s0f") + function), (PcieLink{"0000:00:00.0", {32, 4}, {32, 4}, {32, 4}}));
    EXPECT_EQ(link_of(std::string("enP2p1s0f") + function), (PcieLink{"0002:00:00.0", {32, 4}, {32, 4}, {32, 4}}));
  }
  EXPECT_EQ(link_of("enp1s0f0").current.rate_mbps(), 98'300U);
}

TEST_F(PcieLinkTest, AGx10WithItsSecondLinkAtHalfItsWidth) {
  add_card("pci0000:00/0000:00:00.0", "0000:01:00", "enp1s0f", kGen5, "4");
  add_card("pci0002:00/0002:00:00.0", "0002:01:00", "enP2p1s0f", kGen5, "4");
  sysfs_.set_pcie_link("pci0002:00/0002:00:00.0/0002:01:00.1", kGen5, "2", "4");
  EXPECT_EQ(link_of("enp1s0f1"), (PcieLink{"0000:00:00.0", {32, 4}, {32, 4}, {32, 4}}));
  EXPECT_EQ(link_of("enP2p1s0f1"), (PcieLink{"0002:00:00.0", {32, 2}, {32, 4}, {32, 4}}));
  EXPECT_EQ(link_of("enP2p1s0f1").current.rate_mbps(), 49'100U);
  EXPECT_EQ(link_of("enP2p1s0f1").maximum().rate_mbps(), 98'300U);
}

TEST_F(PcieLinkTest, ASlowerLinkThanTheAdapterCanRun) {
  add_card("pci0000:00/0000:00:00.0", "0000:01:00", "enp1s0f", kGen5, "4");
  sysfs_.write("devices/pci0000:00/0000:00:00.0/0000:01:00.0/current_link_speed", "2.5 GT/s PCIe");
  EXPECT_EQ(link_of("enp1s0f0"), (PcieLink{"0000:00:00.0", {2.5, 4}, {32, 4}, {32, 4}}));
}

TEST_F(PcieLinkTest, TheMaximumIsThatOfBothEnds) {
  const std::string port = "pci0000:00/0000:00:01.0";
  add_card(port, "0000:01:00", "eth", kGen4, "8");
  sysfs_.set_pcie_link(port + "/0000:01:00.0", kGen5, "8", "16");
  sysfs_.set_pcie_link(port, kGen4, "8", "8");
  EXPECT_EQ(link_of("eth0"), (PcieLink{"0000:00:01.0", {32, 8}, {32, 16}, {16, 8}}));
  EXPECT_EQ(link_of("eth0").maximum(), (PcieSpeed{16, 8}));
  sysfs_.set_pcie_link(port, kGen4, "8", "255");
  EXPECT_EQ(link_of("eth0").maximum(), (PcieSpeed{32, 16})) << "the slot's is not known";
}

TEST_F(PcieLinkTest, AnAdapterOfTwoPortsHasOneLink) {
  add_card("pci0000:40/0000:40:01.0", "0000:41:00", "ens1f", kGen4, "16");
  EXPECT_EQ(link_of("ens1f0"), (PcieLink{"0000:40:01.0", {16, 16}, {16, 16}, {16, 16}}));
  EXPECT_EQ(link_of("ens1f1"), link_of("ens1f0"));
  EXPECT_EQ(link_of("ens1f0").current.rate_mbps(), 196'600U);
}

TEST_F(PcieLinkTest, OfTwoCardsBehindASwitchTheNarrowestLinkCounts) {
  const std::string up = "pci0000:00/0000:00:01.0";
  const std::string above = up + "/0000:01:00.0";
  add_link(above + "/0000:02:00.0", "0000:03:00.0", kGen4, "8");
  add_link(above + "/0000:02:01.0", "0000:04:00.0", kGen4, "8");
  sysfs_.add_interface("ens1", above + "/0000:02:00.0/0000:03:00.0");
  sysfs_.add_interface("ens2", above + "/0000:02:01.0/0000:04:00.0");
  const auto roots = [&] { return link_of("ens1").root + " " + link_of("ens2").root; };

  add_link(up, "0000:01:00.0", kGen4, "4");
  EXPECT_EQ(roots(), "0000:00:01.0 0000:00:01.0") << "the link that both share is the narrowest";
  EXPECT_EQ(link_of("ens1").current, (PcieSpeed{16, 4}));
  add_link(up, "0000:01:00.0", kGen4, "8");
  EXPECT_EQ(roots(), "0000:00:01.0 0000:00:01.0") << "all equal: the one nearest to the processor";
  add_link(up, "0000:01:00.0", kGen3, "16");
  EXPECT_EQ(roots(), "0000:00:01.0 0000:00:01.0") << "equal rates of other widths";
  add_link(up, "0000:01:00.0", kGen4, "16");
  EXPECT_EQ(roots(), "0000:02:00.0 0000:02:01.0") << "each card's own link is the narrowest";
  EXPECT_EQ(link_of("ens1").current, (PcieSpeed{16, 8}));
}

TEST_F(PcieLinkTest, ANetworkOfAUsb4ControllerInTheProcessorHasNoLink) {
  sysfs_.add_interface("thunderbolt0", "pci0000:00/0000:00:0d.2/domain0/0-0/0-1/0-1.0");
  EXPECT_EQ(link_of("thunderbolt0"), PcieLink{});
}

TEST_F(PcieLinkTest, ANetworkOfAUsb4ControllerOnAnInternalBusHasItsLink) {
  add_link("pci0000:00/0000:00:08.1", "0000:c6:00.5", kGen4, "16");
  sysfs_.add_interface("thunderbolt0", "pci0000:00/0000:00:08.1/0000:c6:00.5/domain0/0-0/0-1/0-1.0");
  EXPECT_EQ(link_of("thunderbolt0"), (PcieLink{"0000:00:08.1", {16, 16}, {16, 16}, {16, 16}}));
}

// The controller's chip has a switch, whose port to the network's half of the chip claims 2.5 GT/s.
TEST_F(PcieLinkTest, ANetworkOfADiscreteUsb4ControllerHasTheLinkOfTheController) {
  add_link("pci0000:00/0000:00:1c.0", "0000:03:00.0", kGen3, "4");
  add_link("pci0000:00/0000:00:1c.0/0000:03:00.0/0000:04:00.0", "0000:05:00.0", "2.5 GT/s PCIe", "4");
  sysfs_.add_interface("thunderbolt0",
                       "pci0000:00/0000:00:1c.0/0000:03:00.0/0000:04:00.0/0000:05:00.0/domain0/0-0/0-1/0-1.0");
  EXPECT_EQ(link_of("thunderbolt0"), (PcieLink{"0000:00:1c.0", {8, 4}, {8, 4}, {8, 4}}));
}

// A network card in an enclosure: a root port of the controller, the enclosure's switch, the card.
TEST_F(PcieLinkTest, AnAdapterInAThunderboltEnclosureDoesNotHaveTheLinkInsideTheCable) {
  const std::string port = "pci0000:00/0000:00:07.0";
  const std::string upstream = port + "/0000:20:00.0";
  const std::string card = upstream + "/0000:21:01.0/0000:22:00.0";
  add_link(port, "0000:20:00.0", "2.5 GT/s PCIe", "4");
  add_link(upstream + "/0000:21:01.0", "0000:22:00.0", kGen3, "4");
  sysfs_.add_interface("ens1", card);
  EXPECT_EQ(link_of("ens1").root, "0000:00:07.0") << "a card of the first generation in a slot of this host";
  for (const std::string& function : {upstream, upstream + "/0000:21:01.0", card}) {
    sysfs_.write("devices/" + function + "/removable", "removable");
  }
  EXPECT_EQ(link_of("ens1"), (PcieLink{"0000:21:01.0", {8, 4}, {8, 4}, {8, 4}}));
}

TEST_F(PcieLinkTest, AnEmulatedAdapterHasNoLink) {
  add_link("pci0000:00/0000:00:02.0", "0000:01:00.0", "2.5 GT/s PCIe", "1");
  const std::string adapter = "pci0000:00/0000:00:02.0/0000:01:00.0";
  sysfs_.write("devices/" + adapter + "/virtio0/vendor", "0x1af4");
  sysfs_.add_interface("eth0", adapter + "/virtio0");
  EXPECT_EQ(link_of("eth0"), PcieLink{});
  sysfs_.write("devices/" + adapter + "/virtio0/vendor", "0x15b3");
  EXPECT_EQ(link_of("eth0").root, "0000:00:02.0") << "the vendor ID decides";
}

TEST_F(PcieLinkTest, LinksOfUnknownSpeedDoNotCount) {
  const std::string port = "pci0000:00/0000:00:01.0";
  add_card(port, "0000:01:00", "eth", kGen4, "8");
  const std::string files = "devices/" + port + "/0000:01:00.0/current_link_";
  for (const char* const speed : {"Unknown", "Unknown speed", "", "GT/s", "-8.0 GT/s PCIe", "nan", "1e9", "0"}) {
    sysfs_.write(files + "speed", speed);
    EXPECT_EQ(link_of("eth0"), PcieLink{}) << speed;
  }
  sysfs_.write(files + "speed", kGen4);
  for (const char* const lanes : {"255", "63", "33", "0", "", "x4", "-4", "4.5", "99999999999999999999"}) {
    sysfs_.write(files + "width", lanes);
    EXPECT_EQ(link_of("eth0"), PcieLink{}) << lanes;
  }
  sysfs_.remove(files + "width");
  EXPECT_EQ(link_of("eth0"), PcieLink{});
  sysfs_.write(files + "width", "32");
  EXPECT_EQ(link_of("eth0").current, (PcieSpeed{16, 32}));
  EXPECT_EQ(link_of("eth1").current, (PcieSpeed{16, 8})) << "the other function has not changed";
}

TEST_F(PcieLinkTest, AnUnknownMaximumIsNone) {
  const std::string port = "pci0000:00/0000:00:01.0";
  add_card(port, "0000:01:00", "eth", kGen4, "8");
  sysfs_.set_pcie_link(port + "/0000:01:00.0", kGen4, "8", "255");
  EXPECT_EQ(link_of("eth0"), (PcieLink{"0000:00:01.0", {16, 8}, {16, 0}, {16, 8}}));
  EXPECT_FALSE(link_of("eth0").maximum().known());
  EXPECT_EQ(link_of("eth0").maximum().rate_mbps(), 0U);
}

TEST_F(PcieLinkTest, OtherLinksCountBesideOneOfUnknownSpeed) {
  const std::string above = "pci0000:00/0000:00:01.0/0000:01:00.0";
  add_link(above + "/0000:02:00.0", "0000:03:00.0", kGen4, "8");
  sysfs_.add_interface("ens1", above + "/0000:02:00.0/0000:03:00.0");
  sysfs_.set_pcie_link(above, "Unknown", "255", "255");
  EXPECT_EQ(link_of("ens1").root, "0000:02:00.0");
}

// A volume management device is a host bridge of its own.
TEST_F(PcieLinkTest, OnlyLinksBelowTheLastHostBridgeCount) {
  const std::string bridge = "pci0000:64/0000:64:00.5/pci10000:00";
  sysfs_.set_pcie_link("pci0000:64/0000:64:00.5", "Unknown", "0", "0");
  add_link(bridge + "/10000:00:02.0", "10000:01:00.0", kGen4, "4");
  sysfs_.add_interface("eth0", bridge + "/10000:00:02.0/10000:01:00.0");
  EXPECT_EQ(link_of("eth0"), (PcieLink{"10000:00:02.0", {16, 4}, {16, 4}, {16, 4}}));
}

TEST_F(PcieLinkTest, InterfacesWithoutADeviceInTheTreeHaveNone) {
  sysfs_.write("class/net/veth0/mtu", "1500");
  EXPECT_EQ(link_of("veth0"), PcieLink{}) << "no device";
  EXPECT_EQ(link_of("eth7"), PcieLink{}) << "no such interface";
  sysfs_.link_device("class/net/eth8", "0000:00:01.0/0000:01:00.0");
  EXPECT_EQ(link_of("eth8"), PcieLink{}) << "its device is gone";
  std::filesystem::create_directories(sysfs_.root() + "/class/net/eth9");
  std::filesystem::create_symlink("/", sysfs_.root() + "/class/net/eth9/device");
  EXPECT_EQ(link_of("eth9"), PcieLink{}) << "outside the tree";
  EXPECT_EQ(read_pcie_link(Sysfs(sysfs_.root() + "/no-such-tree"), "eth9"), PcieLink{});
}

TEST_F(PcieLinkTest, ADeviceOfAnotherBusHasNone) {
  sysfs_.set_pcie_link("platform/soc/30000000.ethernet", kGen4, "8", "8");
  sysfs_.add_interface("eth0", "platform/soc/30000000.ethernet");
  EXPECT_EQ(link_of("eth0"), PcieLink{});
}

}  // namespace
}  // namespace cableway::host
