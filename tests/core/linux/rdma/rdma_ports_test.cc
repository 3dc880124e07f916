#include "core/linux/rdma/rdma_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/linux/fake_sysfs.h"

namespace cableway::host {
namespace {

routing::PortAddress address(const std::string& text) {
  return routing::parse_port_address(text).value();
}

class RdmaPortsTest : public testing::Test {
 protected:
  std::vector<RdmaPort> read() const { return read_rdma_ports(Sysfs(sysfs_.root()), sysfs_.rdma_folder()); }
  // "" if hops of eth1 with that address use GID `index`, else the reason why not.
  std::string trouble(const RdmaPort& port, const std::string& with, int index = -1) const {
    const absl::StatusOr<int> gid = usable_gid(port, "eth1", address(with));
    if (!gid.ok()) return std::string(gid.status().message());
    EXPECT_EQ(*gid, index);
    return "";
  }
  test::FakeSysfs sysfs_;
};

TEST_F(RdmaPortsTest, AHostWithoutDevicesHasNone) {
  EXPECT_TRUE(read().empty());
}

TEST_F(RdmaPortsTest, ReadsTheGidsInTheOrderOfTheirIndex) {
  sysfs_.add_rdma_device("mlx5_0", "506b:4b03:00c2:c1de");
  sysfs_.link_device("class/infiniband/mlx5_0", "0000:01:00.0");
  sysfs_.add_gid("mlx5_0", 10, "eth1", test::kIpv4Gid);
  sysfs_.add_gid("mlx5_0", 2, "eth1", test::kIpv4Gid, "IB/RoCE v1");
  sysfs_.add_gid("mlx5_0", 3, "eth1", "fe80:0000:0000:0000:526b:4bff:fec2:c1de");
  sysfs_.add_gid("mlx5_0", 4, "eth1", "0000:0000:0000:0000:0000:0000:0000:0000");
  sysfs_.add_gid("mlx5_0", 5, "", "fe80:0000:0000:0000:526b:4bff:fec2:c1df");
  sysfs_.add_gid("mlx5_0", 6, "eth1", "nonsense");
  const std::vector<RdmaPort> ports = read();
  ASSERT_EQ(ports.size(), 1U);
  EXPECT_EQ(ports[0].name(), "mlx5_0");
  EXPECT_EQ(ports[0].number, 1);
  EXPECT_TRUE(ports[0].is_ethernet());
  EXPECT_TRUE(ports[0].is_active());
  EXPECT_EQ(ports[0].trouble, "");
  EXPECT_EQ(ports[0].pci_function, "0000:01:00.0");
  EXPECT_EQ(ports[0].board, "506b:4b03:00c2:c1de");
  ASSERT_EQ(ports[0].gids.size(), 3U);
  EXPECT_EQ(ports[0].gids[0].version, 1);
  EXPECT_EQ(trouble(ports[0], "10.7.0.1", 10), "");
  EXPECT_EQ(trouble(ports[0], "fe80::526b:4bff:fec2:c1de%eth1", 3), "");
  EXPECT_EQ(trouble(ports[0], "10.7.0.2"), "RDMA device mlx5_0 behind eth1 has no RoCE v2 GID for 10.7.0.2");
  EXPECT_THAT(usable_gid(ports[0], "eth2", address("10.7.0.1")).status().message(),
              testing::HasSubstr("behind eth2 has no RoCE v2 GID for 10.7.0.1"));
}

TEST_F(RdmaPortsTest, AnOlderGidIsNamed) {
  sysfs_.add_rdma_device("mlx4_0");
  sysfs_.add_gid("mlx4_0", 2, "eth1", test::kIpv4Gid, "IB/RoCE v1");
  EXPECT_EQ(trouble(read().at(0), "10.7.0.1"),
            "RDMA device mlx4_0 behind eth1 has no RoCE v2 GID for 10.7.0.1, only one of RoCE v1");
}

TEST_F(RdmaPortsTest, InfiniBandIsRefused) {
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.write("class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
  ASSERT_EQ(read().size(), 1U);
  EXPECT_EQ(trouble(read()[0], "10.7.0.1"),
            "RDMA device mlx5_0 behind eth1 is on InfiniBand; Cableway uses only RDMA over Ethernet (RoCE v2)");
  sysfs_.write("class/infiniband/mlx5_0/ports/1/link_layer", "Unspecified");
  EXPECT_TRUE(read().empty());
}

TEST_F(RdmaPortsTest, ADeviceThatProcessesCannotOpenNamesWhatIsMissing) {
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.add_gid("mlx5_0", 3, "eth1", test::kIpv4Gid);
  EXPECT_EQ(trouble(read().at(0), "10.7.0.1", 3), "");
  sysfs_.remove("dev/uverbs-mlx5_0");
  EXPECT_THAT(trouble(read().at(0), "10.7.0.1"),
              testing::HasSubstr("/dev/uverbs-mlx5_0: No such file or directory; a container needs"));
  sysfs_.remove("class/infiniband_verbs");
  EXPECT_THAT(trouble(read().at(0), "10.7.0.1"), testing::HasSubstr("ib_uverbs module is not loaded"));
}

TEST_F(RdmaPortsTest, TheTwoPortsOfADeviceAreBehindTheirOwnInterfaces) {
  sysfs_.add_rdma_device("mlx4_0");
  sysfs_.add_rdma_port("mlx4_0", 2);
  sysfs_.link_device("class/infiniband/mlx4_0", "0000:01:00.0");
  for (const char* const interface : {"eth1", "eth2"}) {
    sysfs_.link_device(std::string("class/net/") + interface, "0000:01:00.0");
  }
  sysfs_.write("class/net/eth2/dev_port", "1");
  sysfs_.write("class/infiniband/mlx4_0/ports/2/state", "1: DOWN");
  const auto behind = [&](const std::string& interface) {
    const std::vector<RdmaPort> ports = read();
    const RdmaPort* const port = rdma_port_of(ports, read_interface(Sysfs(sysfs_.root()), interface));
    return port == nullptr ? "none" : port->name();
  };
  // Without any GID the driver's port number of the interface decides.
  EXPECT_EQ(behind("eth1"), "mlx4_0:1");
  EXPECT_EQ(behind("eth2"), "mlx4_0:2");
  EXPECT_TRUE(read().at(0).is_active());
  EXPECT_FALSE(read().at(1).is_active());
  sysfs_.add_gid("mlx4_0", 4, "eth2", "0000:0000:0000:0000:0000:ffff:0a07:0101", "RoCE v2", 2);
  sysfs_.remove("class/net/eth2/dev_port");
  EXPECT_EQ(behind("eth2"), "mlx4_0:2");
  sysfs_.write("class/infiniband/mlx4_0/ports/2/state", "4: ACTIVE");
  EXPECT_EQ(usable_gid(read().at(1), "eth2", address("10.7.1.1")).value_or(-1), 4);
}

TEST_F(RdmaPortsTest, TheFirst16PortsOfADeviceAreUsed) {
  sysfs_.add_rdma_device("big_0");
  for (int number = 2; number <= 20; ++number) sysfs_.add_rdma_port("big_0", number);
  const std::vector<RdmaPort> ports = read();
  ASSERT_EQ(ports.size(), 16U);
  EXPECT_EQ(ports.front().name(), "big_0:1");
  EXPECT_EQ(ports[1].name(), "big_0:2");
  EXPECT_EQ(ports.back().name(), "big_0:16");
}

TEST(RoceMtu, FitsTheEthernetMtu) {
  EXPECT_EQ(roce_mtu_of(1500), 1024U);
  EXPECT_EQ(roce_mtu_of(4191), 2048U);
  EXPECT_EQ(roce_mtu_of(4200), 4096U);
  EXPECT_EQ(roce_mtu_of(9000), 4096U);
  EXPECT_EQ(roce_mtu_of(300), 0U);
}

TEST_F(RdmaPortsTest, ABoardThatIsAllZerosIsUnknown) {
  sysfs_.add_rdma_device("rxe0", "0000:0000:0000:0000");
  EXPECT_EQ(read().at(0).board, "");
}

TEST_F(RdmaPortsTest, BelongsToTheInterfaceOfItsGidsOrOfItsPciFunction) {
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.link_device("class/infiniband/mlx5_0", "0000:01:00.0");
  sysfs_.add_gid("mlx5_0", 0, "eth1", test::kIpv4Gid);
  sysfs_.add_rdma_device("rxe0");
  sysfs_.add_gid("rxe0", 0, "veth0", "0000:0000:0000:0000:0000:ffff:0a07:0002");
  const std::vector<RdmaPort> ports = read();
  const auto behind = [&](const InterfaceHardware& interface) {
    const RdmaPort* const port = rdma_port_of(ports, interface);
    return port == nullptr ? "none" : port->name();
  };
  EXPECT_EQ(behind({"eth1", "0000:01:00.0"}), "mlx5_0");
  EXPECT_EQ(behind({"bond0"}), "none");
  EXPECT_EQ(behind({"renamed", "0000:01:00.0"}), "mlx5_0");
  EXPECT_EQ(behind({"renamed", "0000:01:00.0", 3}), "mlx5_0") << "it has no other port";
  EXPECT_EQ(behind({"veth0"}), "rxe0");
}

TEST_F(RdmaPortsTest, AnInterfaceOfTheSameNameInAnotherNamespaceDoesNotMatch) {
  // In a container: its eth1 is not the host's eth1, whose device it can see.
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.link_device("class/infiniband/mlx5_0", "0000:01:00.0");
  sysfs_.add_gid("mlx5_0", 0, "eth1", test::kIpv4Gid);
  EXPECT_EQ(rdma_port_of(read(), {"eth1", "0000:05:00.0"}), nullptr);
}

}  // namespace
}  // namespace cableway::host
