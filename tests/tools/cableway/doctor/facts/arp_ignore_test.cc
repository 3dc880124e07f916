#include "tools/cableway/doctor/facts/arp_ignore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/core/linux/fake_sysfs.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ArpIgnore, TheHigherOfTheInterfacesAndAllIsInForce) {
  host::test::FakeSysfs proc;
  const auto write = [&](const std::string& interface, const std::string& value) {
    proc.write("sys/net/ipv4/conf/" + interface + "/arp_ignore", value);
  };
  write("all", "1");
  write("default", "0");
  write("eth0", "0");
  write("eth1", "2");
  write("eth2", "not a number");
  EXPECT_THAT(read_arp_ignore(host::Sysfs(proc.root())), ElementsAre(Pair("eth0", 1), Pair("eth1", 2)));
  write("all", "0");
  EXPECT_THAT(read_arp_ignore(host::Sysfs(proc.root())), ElementsAre(Pair("eth0", 0), Pair("eth1", 2)));
  EXPECT_THAT(read_arp_ignore(host::Sysfs(proc.root() + "/none")), IsEmpty());
}

}  // namespace
}  // namespace cableway::cli
