#include "core/settings/port_transport.h"

#include <gtest/gtest.h>

namespace cableway {
namespace {

// "tcp: CABLEWAY_TRANSPORT=tcp"
std::string hops(const PortFacts& port, TransportSetting wanted) {
  const PortTransport transport = transport_of(port, wanted);
  return std::string(name_of(transport.kind)) + ": " + transport.why;
}

class PortTransportTest : public testing::Test {
 protected:
  PortTransportTest() {
    port_.interface = "enp1s0";
    port_.rdma_device = "mlx5_0";
    port_.gid_index = 3;
  }
  PortFacts port_;
};

TEST_F(PortTransportTest, UsesAUsableDevice) {
  EXPECT_EQ(hops(port_, TransportSetting::kAuto), "rdma: mlx5_0, RoCE v2, GID 3");
  EXPECT_EQ(hops(port_, TransportSetting::kVerbs), "rdma: mlx5_0, RoCE v2, GID 3");
  EXPECT_EQ(hops(port_, TransportSetting::kTcp), "tcp: CABLEWAY_TRANSPORT=tcp");
}

TEST_F(PortTransportTest, UsesTcpWithoutADeviceUnlessVerbsIsRequired) {
  port_.rdma_device = "";
  port_.gid_index = -1;
  EXPECT_EQ(hops(port_, TransportSetting::kAuto), "tcp: no RDMA device behind enp1s0");
  EXPECT_EQ(hops(port_, TransportSetting::kVerbs),
            "refused: CABLEWAY_TRANSPORT is verbs: no RDMA device behind enp1s0");
  port_.rdma_trouble = "RDMA device mlx5_0 behind enp1s0 is gone";
  EXPECT_EQ(hops(port_, TransportSetting::kAuto), "tcp: RDMA device mlx5_0 behind enp1s0 is gone");
}

TEST_F(PortTransportTest, RefusesIfTheDeviceIsUnusable) {
  port_.gid_index = -1;
  port_.rdma_trouble = "RDMA device mlx5_0 behind enp1s0 is on InfiniBand";
  EXPECT_EQ(hops(port_, TransportSetting::kAuto), "refused: RDMA device mlx5_0 behind enp1s0 is on InfiniBand");
  EXPECT_EQ(hops(port_, TransportSetting::kVerbs), "refused: RDMA device mlx5_0 behind enp1s0 is on InfiniBand");
  EXPECT_EQ(hops(port_, TransportSetting::kTcp), "tcp: CABLEWAY_TRANSPORT=tcp");
}

}  // namespace
}  // namespace cableway
