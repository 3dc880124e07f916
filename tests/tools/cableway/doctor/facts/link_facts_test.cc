#include "tools/cableway/doctor/facts/link_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/linux/fake_sysfs.h"
#include "tools/cableway/doctor/facts/host_facts.h"

namespace cableway::cli {
namespace {

using testing::ElementsAre;
using testing::Pair;

// eth1 with mlx5_0, one PCI function in a slot.
class LinkFactsTest : public testing::Test {
 protected:
  LinkFactsTest() {
    sysfs_.add_rdma_device("mlx5_0");
    sysfs_.link_device("class/infiniband/mlx5_0", kFunction);
    sysfs_.link_device("class/net/eth1", kFunction);
    sysfs_.write("class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)");
    slot("current_link_speed", "16.0 GT/s PCIe");
    slot("current_link_width", "8");
    slot("max_link_speed", "32.0 GT/s PCIe");
    slot("max_link_width", "16");
  }
  // Creates a file in the folder that the device link points to.
  void slot(const std::string& file, const std::string& text) {
    sysfs_.write(std::string("devices/pci0000:00/") + kFunction + "/" + file, text);
  }
  std::map<std::string, LinkFacts> read() const { return read_links(host::Sysfs(sysfs_.root())); }

  static constexpr char kFunction[] = "0000:00:01.0/0000:01:00.0";  // below a root port
  host::test::FakeSysfs sysfs_;
};

TEST_F(LinkFactsTest, ReadsRateAndSlot) {
  const LinkFacts facts = read().at("eth1");
  EXPECT_EQ(facts.rdma_device, "mlx5_0");
  EXPECT_EQ(facts.rdma_rate, "100 Gb/sec (4X EDR)");
  EXPECT_EQ(facts.rdma_rate_mbps, 100000U);
  EXPECT_EQ(facts.pcie, (host::PcieLink{"0000:00:01.0", {16, 8}, {32, 16}, {}}));
  EXPECT_TRUE(facts.losses.empty());
  EXPECT_TRUE(facts.congestion.empty());
}

TEST_F(LinkFactsTest, ReadsTheCountersOfLossesAndCongestion) {
  const std::string port = "class/infiniband/mlx5_0/ports/1/";
  sysfs_.write(port + "hw_counters/out_of_sequence", "7");
  sysfs_.write(port + "hw_counters/packet_seq_err", "0");
  sysfs_.write(port + "hw_counters/np_cnp_sent", "3");
  sysfs_.write(port + "hw_counters/rx_write_requests", "1000");
  sysfs_.write(port + "counters/port_rcv_errors", "2");
  const LinkFacts facts = read().at("eth1");
  EXPECT_THAT(facts.losses, ElementsAre(Pair("out_of_sequence", 7), Pair("port_rcv_errors", 2)));
  EXPECT_THAT(facts.congestion, ElementsAre(Pair("np_cnp_sent", 3)));
}

TEST_F(LinkFactsTest, EachPortOfADeviceHasItsOwnFacts) {
  sysfs_.add_rdma_port("mlx5_0", 2);
  sysfs_.link_device("class/net/eth2", kFunction);
  sysfs_.write("class/net/eth2/dev_port", "1");
  sysfs_.write("class/infiniband/mlx5_0/ports/2/rate", "25 Gb/sec (1X EDR)");
  sysfs_.write("class/infiniband/mlx5_0/ports/2/hw_counters/packet_seq_err", "1");
  EXPECT_EQ(read().at("eth1").rdma_device, "mlx5_0:1");
  EXPECT_EQ(read().at("eth1").rdma_rate_mbps, 100000U);
  EXPECT_TRUE(read().at("eth1").losses.empty());
  EXPECT_EQ(read().at("eth2").rdma_device, "mlx5_0:2");
  EXPECT_EQ(read().at("eth2").rdma_rate_mbps, 25000U);
  EXPECT_THAT(read().at("eth2").losses, ElementsAre(Pair("packet_seq_err", 1)));
}

TEST_F(LinkFactsTest, UnknownValuesAreZero) {
  slot("current_link_speed", "Unknown");
  slot("current_link_width", "255");
  sysfs_.write("class/net/veth0/speed", "10000");
  // Software devices report an arbitrary rate.
  sysfs_.add_rdma_device("rxe0");
  sysfs_.add_gid("rxe0", 0, "veth1", "0000:0000:0000:0000:0000:ffff:0a07:0001");
  sysfs_.write("class/net/veth1/speed", "10000");
  sysfs_.write("class/infiniband/rxe0/ports/1/rate", "2.5 Gb/sec (1X SDR)");
  const auto links = read();
  EXPECT_EQ(links.at("eth1").pcie, host::PcieLink());
  EXPECT_FALSE(links.contains("veth0"));
  EXPECT_EQ(links.at("veth1").rdma_device, "rxe0");
  EXPECT_EQ(links.at("veth1").rdma_rate_mbps, 0U);
}

TEST_F(LinkFactsTest, FunctionsOfOneConnectorHaveOnePlug) {
  sysfs_.link_device("class/net/eth2", "0000:00:02.0/0000:02:00.0");
  sysfs_.link_device("class/net/eth3", "0000:00:02.0/0000:02:00.1");
  for (const auto& [name, port] : {std::pair("eth1", "p0"), std::pair("eth2", "p0"), std::pair("eth3", "p1")}) {
    sysfs_.write("devices/pci0000:00/0000:00:02.0/0000:02:00.1/x", "");
    sysfs_.write("devices/pci0000:00/0000:00:02.0/0000:02:00.0/x", "");
    sysfs_.write(std::string("class/net/") + name + "/phys_port_name", port);
    sysfs_.write(std::string("class/net/") + name + "/phys_switch_id", "9a1c04");
  }
  const auto links = read();
  EXPECT_NE(links.at("eth1").plug, "");
  EXPECT_EQ(links.at("eth1").plug, links.at("eth2").plug);
  EXPECT_NE(links.at("eth1").plug, links.at("eth3").plug);
}

TEST(HostFacts, ReadsTheHardwareFromTheGivenFolders) {
  host::test::FakeSysfs sysfs;
  const HardwareFolders folders{sysfs.root(), sysfs.root() + "/proc", sysfs.rdma_folder()};
  EXPECT_FALSE(read_host_facts({}, "", folders).has_rdma_devices);
  sysfs.add_rdma_device("mlx5_0");
  sysfs.link_device("class/infiniband/mlx5_0", "0000:01:00.0");
  sysfs.link_device("class/net/eth1", "0000:01:00.0");
  HostFacts facts = read_host_facts({}, "", folders);
  EXPECT_TRUE(facts.has_rdma_devices);
  EXPECT_TRUE(facts.has_verbs_files);
  EXPECT_EQ(facts.links.at("eth1").rdma_device, "mlx5_0");
  sysfs.write("proc/sys/net/ipv4/conf/eth1/arp_ignore", "2");
  EXPECT_EQ(read_host_facts({}, "", folders).arp_ignore.at("eth1"), 2);
  sysfs.remove("dev");
  facts = read_host_facts({}, "", folders);
  EXPECT_TRUE(facts.has_rdma_devices);
  EXPECT_FALSE(facts.has_verbs_files);
}

}  // namespace
}  // namespace cableway::cli
