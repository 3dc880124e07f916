#include "core/linux/rdma_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/linux/fake_sysfs.h"

namespace cableway::linux_ {
namespace {

routing::PortAddress address(const std::string& text) {
  return routing::parse_port_address(text).value();
}

class RdmaDevicesTest : public testing::Test {
 protected:
  std::vector<RdmaDevice> read() const { return read_rdma_devices(Sysfs(sysfs_.root())); }
  test::FakeSysfs sysfs_;
};

TEST_F(RdmaDevicesTest, AHostWithoutAnyHasNone) {
  EXPECT_TRUE(read().empty());
}

TEST_F(RdmaDevicesTest, ReadsTheRoceV2GidsInTheOrderOfTheirIndex) {
  sysfs_.add_rdma_device("mlx5_0", "506b:4b03:00c2:c1de");
  sysfs_.link_device("class/infiniband/mlx5_0", "0000:01:00.0");
  sysfs_.add_gid("mlx5_0", 10, "eth1", "0000:0000:0000:0000:0000:ffff:0a07:0001");
  sysfs_.add_gid("mlx5_0", 2, "eth1", "0000:0000:0000:0000:0000:ffff:0a07:0001", "IB/RoCE v1");
  sysfs_.add_gid("mlx5_0", 3, "eth1", "fe80:0000:0000:0000:526b:4bff:fec2:c1de");
  sysfs_.add_gid("mlx5_0", 4, "eth1", "0000:0000:0000:0000:0000:0000:0000:0000");
  sysfs_.add_gid("mlx5_0", 5, "", "fe80:0000:0000:0000:526b:4bff:fec2:c1df");
  sysfs_.add_gid("mlx5_0", 6, "eth1", "nonsense");
  const std::vector<RdmaDevice> devices = read();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].name, "mlx5_0");
  EXPECT_TRUE(devices[0].is_active());
  EXPECT_EQ(devices[0].pci_function, "0000:01:00.0");
  EXPECT_EQ(devices[0].board, "506b:4b03:00c2:c1de");
  ASSERT_EQ(devices[0].gids.size(), 2U);
  EXPECT_EQ(devices[0].gids[0].index, 3);
  EXPECT_EQ(devices[0].gids[1].index, 10);
  EXPECT_EQ(gid_index_of(devices[0], "eth1", address("10.7.0.1")), 10);
  EXPECT_EQ(gid_index_of(devices[0], "eth1", address("fe80::526b:4bff:fec2:c1de%eth1")), 3);
  EXPECT_EQ(gid_index_of(devices[0], "eth1", address("10.7.0.2")), -1);
  EXPECT_EQ(gid_index_of(devices[0], "eth2", address("10.7.0.1")), -1);
}

TEST_F(RdmaDevicesTest, LeavesOutInfiniBandProper) {
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.write("class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
  EXPECT_TRUE(read().empty());
}

TEST_F(RdmaDevicesTest, ABoardThatIsAllZerosIsUnknown) {
  sysfs_.add_rdma_device("rxe0", "0000:0000:0000:0000");
  EXPECT_EQ(read().at(0).board, "");
}

TEST_F(RdmaDevicesTest, BelongsToTheInterfaceOfItsGidsOrOfItsPciFunction) {
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.link_device("class/infiniband/mlx5_0", "0000:01:00.0");
  sysfs_.add_gid("mlx5_0", 0, "eth1", "0000:0000:0000:0000:0000:ffff:0a07:0001");
  sysfs_.add_rdma_device("rxe0");
  sysfs_.add_gid("rxe0", 0, "veth0", "0000:0000:0000:0000:0000:ffff:0a07:0002");
  const std::vector<RdmaDevice> devices = read();
  ASSERT_NE(rdma_device_of(devices, "eth1", "0000:01:00.0"), nullptr);
  EXPECT_EQ(rdma_device_of(devices, "eth1", "0000:01:00.0")->name, "mlx5_0");
  EXPECT_EQ(rdma_device_of(devices, "bond0", ""), nullptr);
  ASSERT_NE(rdma_device_of(devices, "renamed", "0000:01:00.0"), nullptr);
  EXPECT_EQ(rdma_device_of(devices, "renamed", "0000:01:00.0")->name, "mlx5_0");
  ASSERT_NE(rdma_device_of(devices, "veth0", ""), nullptr);
  EXPECT_EQ(rdma_device_of(devices, "veth0", "")->name, "rxe0");
}

TEST_F(RdmaDevicesTest, AnInterfaceOfTheSameNameElsewhereIsNotMeant) {
  // In a container: its eth1 is another one than the host's, whose device it sees.
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.link_device("class/infiniband/mlx5_0", "0000:01:00.0");
  sysfs_.add_gid("mlx5_0", 0, "eth1", "0000:0000:0000:0000:0000:ffff:0a07:0001");
  EXPECT_EQ(rdma_device_of(read(), "eth1", "0000:05:00.0"), nullptr);
}

}  // namespace
}  // namespace cableway::linux_
