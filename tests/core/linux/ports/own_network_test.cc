#include "core/linux/ports/own_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/core/linux/fake_sysfs.h"
#include "tests/core/linux/network_namespace.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

class OwnNetworkTest : public testing::Test {
 protected:
  // The links of /proc.
  void link(const std::string& name, const std::string& target) const {
    const std::filesystem::path path = tree_.root() + "/proc/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::remove(path);
    std::filesystem::create_symlink(target, path);
  }
  void be_the_hosts() const {
    link("thread-self/ns/net", "net:[1]");
    link("1/ns/net", "net:[1]");
    link("self/ns/pid", "pid:[4026531836]");
  }
  OwnNetwork read(const std::vector<std::string>& interfaces) const {
    return read_own_network(Sysfs(tree_.root()), tree_.root() + "/proc", interfaces);
  }

  const test::FakeSysfs tree_;
};

TEST_F(OwnNetworkTest, ANamespaceWithoutHardwareHasNoCables) {
  tree_.write("class/net/eth0/mtu", "1500");
  EXPECT_EQ(why_no_cables(read({"lo", "eth0"})), "this network namespace has no cables (interfaces: lo, eth0)");
  EXPECT_THAT(no_cables_advised(read({"lo", "eth0"})),
              AllOf(HasSubstr("no cables (interfaces: lo, eth0): start the container with --network host"),
                    HasSubstr("name it in CABLEWAY_PORTS")));
}

TEST_F(OwnNetworkTest, CablesMayBeWhereHardwareIs) {
  tree_.link_device("class/net/eth0", "0000:00:01.0/0000:01:00.0");
  tree_.write("class/net/lo/mtu", "65536");
  tree_.write("class/net/bonding_masters", "");
  EXPECT_THAT(why_no_cables(read({"lo", "eth0"})), IsEmpty());
}

TEST_F(OwnNetworkTest, AnotherNamespacesHardwareDoesNotCount) {
  tree_.link_device("class/net/eth0", "0000:00:01.0/0000:01:00.0");
  tree_.write("class/net/lo/mtu", "65536");
  tree_.write("class/net/veth0/mtu", "1500");
  EXPECT_THAT(why_no_cables(read({"lo"})), Not(IsEmpty()));
  EXPECT_THAT(why_no_cables(read({"lo", "eth0"})), Not(IsEmpty())) << "an interface of the same name";
}

TEST_F(OwnNetworkTest, CablesMayBeAddedToTheHostItself) {
  be_the_hosts();
  EXPECT_TRUE(read({"lo"}).is_hosts);
  EXPECT_THAT(why_no_cables(read({"lo"})), IsEmpty());
  link("thread-self/ns/net", "net:[2]");
  EXPECT_FALSE(read({"lo"}).is_hosts);
  be_the_hosts();
  // A container's first process has the container's network.
  link("self/ns/pid", "pid:[4026532000]");
  EXPECT_FALSE(read({"lo"}).is_hosts);
  be_the_hosts();
  std::filesystem::remove(tree_.root() + "/proc/1/ns/net");
  EXPECT_FALSE(read({"lo"}).is_hosts);
}

TEST_F(OwnNetworkTest, AnUnknownNetworkHasNoReason) {
  EXPECT_THAT(why_no_cables(read({})), IsEmpty());
  EXPECT_THAT(no_cables_advised(read({})), IsEmpty());
}

TEST_F(OwnNetworkTest, NamesFewInterfaces) {
  EXPECT_THAT(why_no_cables(read({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})),
              HasSubstr("(interfaces: a, b, c, d, e, f, g, h and 2 more)"));
}

TEST(OwnNetworkOfANamespace, IsReadFromTheKernel) {
  if (const std::string why = test::why_no_network_namespaces(); !why.empty()) GTEST_SKIP() << why;
  const test::NetworkNamespace here;
  test::ip("link add cable0 type veth peer name cable1");
  EXPECT_THAT(interface_names(), IsSupersetOf({"lo", "cable0"}));
  EXPECT_FALSE(read_own_network().is_hosts);
  EXPECT_THAT(why_no_cables(read_own_network()), HasSubstr("no cables (interfaces: lo, "));
}

}  // namespace
}  // namespace cableway::host
