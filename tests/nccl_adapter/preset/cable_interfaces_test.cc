#include "nccl_adapter/preset/cable_interfaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cableway::nccl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<PortSelector> selectors(const std::vector<std::string>& texts) {
  std::vector<PortSelector> parsed;
  for (const std::string& text : texts) parsed.push_back(*parse_port_selector(text));
  return parsed;
}

TEST(CableInterfaces, AreThoseThatTheSettingsName) {
  EXPECT_THAT(cable_interfaces({"eth0", "eth1", "eth10"}, selectors({"eth1"})), ElementsAre("eth1"));
}

// Every host has lo, with 127.0.0.1.
TEST(CableInterfaces, AreThoseWithAnAddressInAPrefix) {
  EXPECT_THAT(cable_interfaces({"eth0", "lo"}, selectors({"10.7.0.0/16", "127.0.0.0/8"})), ElementsAre("lo"));
  EXPECT_THAT(cable_interfaces({"lo"}, selectors({"10.7.0.0/16"})), IsEmpty());
}

TEST(CableInterfaces, WithoutSettingsAreThoseWithAnRdmaDevice) {
  const std::filesystem::path sysfs = std::filesystem::path(testing::TempDir()) / "cable_interfaces_sysfs";
  std::filesystem::create_directories(sysfs / "class/net/roce0/device/infiniband");
  std::filesystem::create_directories(sysfs / "class/net/eth0/device");
  EXPECT_THAT(cable_interfaces({"eth0", "roce0", "absent"}, {}, sysfs), ElementsAre("roce0"));
  std::filesystem::remove_all(sysfs);
}

}  // namespace
}  // namespace cableway::nccl
