#include "nccl_adapter/preset/bootstrap_interface.h"

#include <gtest/gtest.h>

namespace cableway::nccl {
namespace {

TEST(BootstrapInterface, IsTheBestDefaultRouteThatIsNoCable) {
  EXPECT_EQ(bootstrap_interface({"eth0", "wlan0"}, {}), "eth0");
  EXPECT_EQ(bootstrap_interface({"eth0", "wlan0", "eth1"}, {"eth0"}), "wlan0");
  EXPECT_EQ(bootstrap_interface({"eth0"}, {"eth"}), "eth0");
}

TEST(BootstrapInterface, IsNoneWhereOnlyCablesHaveADefaultRoute) {
  EXPECT_EQ(bootstrap_interface({}, {"eth0"}), std::nullopt);
  EXPECT_EQ(bootstrap_interface({"eth1", "eth0"}, {"eth0", "eth1"}), std::nullopt);
}

TEST(BootstrapInterface, IsNoPrefixForNccl) {
  EXPECT_EQ(exactly("eth1"), "=eth1");
}

}  // namespace
}  // namespace cableway::nccl
