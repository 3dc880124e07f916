#include "core/linux/rdma/verbs_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/linux/fake_sysfs.h"

namespace cableway::host {
namespace {

using testing::HasSubstr;

constexpr char kIpv6Gid[] = "fe80:0000:0000:0000:526b:4bff:fec2:c1de";

// mlx5_0 behind eth1, which has 10.7.0.1.
class VerbsPortsTest : public testing::Test {
 protected:
  VerbsPortsTest() {
    sysfs_.add_rdma_device("mlx5_0");
    sysfs_.link_device("class/infiniband/mlx5_0", "0000:01:00.0");
    sysfs_.link_device("class/net/eth1", "0000:01:00.0");
    sysfs_.add_gid("mlx5_0", 1, "eth1", kIpv6Gid);
    sysfs_.add_gid("mlx5_0", 3, "eth1", test::kIpv4Gid);
  }

  absl::StatusOr<std::optional<VerbsPort>> port(const std::string& address) const {
    VerbsHost host{Sysfs(sysfs_.root()), sysfs_.rdma_folder(), [](const routing::PortAddress& asked) -> std::string {
                     if (!asked.scope.empty()) return asked.scope;
                     return asked.bytes[2] == 0 ? "eth1" : "";
                   }};
    return verbs_port_of(routing::parse_port_address(address).value(), host);
  }
  // Why 10.7.0.1 cannot use its device.
  std::string trouble() const { return std::string(port("10.7.0.1").status().message()); }

  test::FakeSysfs sysfs_;
};

TEST_F(VerbsPortsTest, AnIpv4AddressHasTheGidThatItIsMappedTo) {
  const auto found = port("10.7.0.1");
  ASSERT_TRUE(found.ok() && found->has_value()) << found.status();
  EXPECT_EQ((*found)->device, "mlx5_0");
  EXPECT_EQ((*found)->gid.index, 3);
  const std::array<std::byte, 16> expected{{{},
                                            {},
                                            {},
                                            {},
                                            {},
                                            {},
                                            {},
                                            {},
                                            {},
                                            {},
                                            std::byte{0xff},
                                            std::byte{0xff},
                                            std::byte{10},
                                            std::byte{7},
                                            std::byte{0},
                                            std::byte{1}}};
  EXPECT_EQ((*found)->gid.bytes, expected);
}

TEST_F(VerbsPortsTest, TheSecondPortOfADeviceIsNamedInItsGid) {
  sysfs_.add_rdma_port("mlx5_0", 2);
  sysfs_.remove("class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs");
  sysfs_.add_gid("mlx5_0", 5, "eth1", test::kIpv4Gid, "RoCE v2", 2);
  const auto found = port("10.7.0.1");
  ASSERT_TRUE(found.ok() && found->has_value()) << found.status();
  EXPECT_EQ((*found)->device, "mlx5_0");
  EXPECT_EQ((*found)->gid.index, 5);
  EXPECT_EQ((*found)->gid.port, 2);
}

TEST_F(VerbsPortsTest, AnIpv6AddressIsItsGid) {
  const auto found = port("fe80::526b:4bff:fec2:c1de%eth1");
  ASSERT_TRUE(found.ok() && found->has_value()) << found.status();
  EXPECT_EQ((*found)->gid.index, 1);
  EXPECT_EQ((*found)->gid.bytes[0], std::byte{0xfe});
  EXPECT_EQ((*found)->gid.bytes[15], std::byte{0xde});
}

TEST_F(VerbsPortsTest, APortWithoutADeviceIsNoError) {
  sysfs_.remove("class/infiniband");
  const auto found = port("10.7.0.1");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->has_value());
}

TEST_F(VerbsPortsTest, AnAddressOfNoInterfaceIsAnError) {
  EXPECT_THAT(port("10.7.1.1").status().message(), HasSubstr("no interface of this host has the address 10.7.1.1"));
}

TEST_F(VerbsPortsTest, AnInactiveDeviceNamesItsState) {
  sysfs_.write("class/infiniband/mlx5_0/ports/1/state", "1: DOWN");
  EXPECT_THAT(trouble(), HasSubstr("mlx5_0 behind eth1 is not active; its state is \"1: DOWN\""));
}

TEST_F(VerbsPortsTest, AnAddressWithoutAGidIsAnError) {
  sysfs_.write("class/infiniband/mlx5_0/ports/1/gid_attrs/types/3", "IB/RoCE v1");
  EXPECT_THAT(trouble(), HasSubstr("mlx5_0 behind eth1 has no RoCE v2 GID for 10.7.0.1"));
}

TEST_F(VerbsPortsTest, InfiniBandIsRefused) {
  sysfs_.write("class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
  EXPECT_THAT(trouble(), HasSubstr("mlx5_0 behind eth1 is on InfiniBand"));
}

TEST_F(VerbsPortsTest, NamesWhatAContainerWithoutTheDevicesFileNeeds) {
  sysfs_.remove("dev/uverbs-mlx5_0");
  EXPECT_THAT(trouble(), HasSubstr("/dev/uverbs-mlx5_0: No such file or directory; a container needs"));
}

TEST_F(VerbsPortsTest, NamesAMissingUverbsModule) {
  sysfs_.remove("class/infiniband_verbs");
  EXPECT_THAT(trouble(), HasSubstr("ib_uverbs module is not loaded"));
}

TEST_F(VerbsPortsTest, AnInterfaceIsKnownByItsIndexAndEthernetAddress) {
  const auto read = [&] { return read_port_interface(Sysfs(sysfs_.root()), "eth1"); };
  EXPECT_EQ(read().status().message(), "there is no interface eth1 any more");
  sysfs_.write("class/net/eth1/ifindex", "7");
  sysfs_.write("class/net/eth1/address", "02:00:00:00:00:10");
  EXPECT_EQ(read().value().index, 7U);
  EXPECT_EQ(to_text(read().value().ethernet), "02:00:00:00:00:10");
  EXPECT_EQ((*port("10.7.0.1").value()).gid.interface, 7U);
  for (const std::string none : {"00:00:00:00:00:00", "00:00:00:00:fe:80:00:00:00:00:00:00:50:6b:4b:ff:fe:c2:c1:de"}) {
    sysfs_.write("class/net/eth1/address", none);
    EXPECT_EQ(read().status().message(),
              "interface eth1 has the address \"" + none + "\", which is no Ethernet address");
  }
}

TEST_F(VerbsPortsTest, TheLoopbackInterfaceNeedsNoEthernetAddress) {
  sysfs_.write("class/net/lo/ifindex", "1");
  sysfs_.write("class/net/lo/type", "772");
  sysfs_.write("class/net/lo/address", "00:00:00:00:00:00");
  EXPECT_TRUE(read_port_interface(Sysfs(sysfs_.root()), "lo").value().ethernet.is_zero());
}

TEST(InterfaceWith, FindsTheLoopbackInterface) {
  EXPECT_EQ(interface_with(routing::parse_port_address("fe80::1%eth7").value()), "eth7");
  EXPECT_EQ(interface_with(routing::parse_port_address("203.0.113.250").value()), "");
  routing::PortAddress loopback;
  loopback.bytes = {127, 0, 0, 1};
  const std::string found = interface_with(loopback);
  if (found.empty()) GTEST_SKIP() << "loopback is down here";
  EXPECT_EQ(found, "lo");
}

}  // namespace
}  // namespace cableway::host
