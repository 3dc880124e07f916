#include "tools/cableway/address_plan/plan_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "routing/shapes/topology_generator.h"
#include "routing/topology_io/topology_file.h"
#include "tools/cableway/address_plan/plan_folder.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// n0 ---- n1, with the interfaces of each.
std::map<std::string, std::string> files_of(const std::string& interfaces, PlanFormat format) {
  const routing::Topology line = *routing::generate_topology("line:2");
  const PlanOptions options{.hosts = {}, .plugs = PlugsByHost{*parse_plugs(interfaces), {}}};
  const auto plan = plan_addresses(line, options, *SubnetRange::parse("10.10.0.0/16", 24));
  std::map<std::string, std::string> files;
  for (const PlanFile& file : plan_files(*plan, format, 9000)) files[file.name] = file.text;
  return files;
}

TEST(PlanFiles, Netplan) {
  auto files = files_of("eth1+eth2", PlanFormat::kNetplan);
  EXPECT_EQ(files["n0.yaml"], R"(# Addresses of the cables of n0, by cableway plan addresses. Install it:
#   install -m 600 n0.yaml /etc/netplan/90-cableway.yaml && netplan apply
# Its node: CABLEWAY_NODE=n0 CABLEWAY_PORTS=eth1,eth2
network:
  version: 2
  ethernets:
    # cable c0, to n1 eth1 (10.10.0.2)
    "eth1":
      dhcp4: false
      dhcp6: false
      link-local: [ipv6]
      optional: true
      mtu: 9000
      addresses: ["10.10.0.1/24"]
    # cable c1, to n1 eth2 (10.10.1.2)
    "eth2":
      dhcp4: false
      dhcp6: false
      link-local: [ipv6]
      optional: true
      mtu: 9000
      addresses: ["10.10.1.1/24"]
)");
  EXPECT_THAT(files["n0.conf"], HasSubstr("\nnet.ipv4.conf.eth1.arp_ignore=1\nnet.ipv4.conf.eth1.arp_announce=2\n"));
}

TEST(PlanFiles, Nmcli) {
  auto files = files_of("eth1+eth2", PlanFormat::kNmcli);
  EXPECT_THAT(files["n1.sh"], HasSubstr("\n# cable c1, to n0 eth2 (10.10.1.1)\ncable eth2 10.10.1.2/24 9000\n"));
  EXPECT_THAT(files["n1.sh"], HasSubstr("ipv6.method link-local"));
  EXPECT_TRUE(files.contains("n1.conf"));
}

TEST(PlanFiles, Ip) {
  auto files = files_of("eth1+eth2", PlanFormat::kIp);
  EXPECT_EQ(files["n1.sh"], R"(#!/bin/sh
# Addresses of the cables of n1, by cableway plan addresses. Run it as root: sh n1.sh
# It lasts until the next start, or until NetworkManager changes the interface.
# Its node: CABLEWAY_NODE=n1 CABLEWAY_PORTS=eth1,eth2
set -eu
# cable c0, to n0 eth1 (10.10.0.1)
ip link set dev eth1 mtu 9000 up
ip address replace 10.10.0.2/24 dev eth1
# cable c1, to n0 eth2 (10.10.1.1)
ip link set dev eth2 mtu 9000 up
ip address replace 10.10.1.2/24 dev eth2
# Functions of one plug must not answer ARP for each other.
sysctl -q -w net.ipv4.conf.eth1.arp_ignore=1
sysctl -q -w net.ipv4.conf.eth1.arp_announce=2
sysctl -q -w net.ipv4.conf.eth2.arp_ignore=1
sysctl -q -w net.ipv4.conf.eth2.arp_announce=2
)");
  EXPECT_FALSE(files.contains("n1.conf")) << "the script sets them";
}

TEST(PlanFiles, OnlyPlugsWithSeveralFunctionsNeedArpSettings) {
  EXPECT_FALSE(files_of("eth1", PlanFormat::kNetplan).contains("n0.conf"));
  EXPECT_THAT(files_of("eth1", PlanFormat::kIp)["n0.sh"], Not(HasSubstr("arp_ignore")));
}

// Names that Linux allows for interfaces, and a shell would not take as one word.
TEST(PlanFiles, QuotesNamesOfInterfaces) {
  auto script = files_of("a;b+v.1", PlanFormat::kIp)["n0.sh"];
  EXPECT_THAT(script, HasSubstr("ip link set dev 'a;b' mtu 9000 up\n"));
  EXPECT_THAT(script, HasSubstr("'CABLEWAY_PORTS=a;b,v.1'\n"));
  EXPECT_THAT(script, HasSubstr("sysctl -q -w 'net.ipv4.conf.a;b.arp_ignore=1'\n"));
  EXPECT_THAT(script, HasSubstr("sysctl -q -w net.ipv4.conf.v/1.arp_ignore=1\n"));
  EXPECT_THAT(files_of("a`b", PlanFormat::kNmcli)["n0.sh"], HasSubstr("\ncable 'a`b' 10.10.0.1/24 9000\n"));
  EXPECT_THAT(files_of("a#b", PlanFormat::kNetplan)["n0.yaml"], HasSubstr("\n    \"a#b\":\n"));
}

TEST(PlanFiles, TheExpectedTopologyReadsBack) {
  const auto text = files_of("spark", PlanFormat::kIp)[kExpectedFile];
  const auto expected = routing::parse_topology(text, kExpectedFile);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(expected->cable_count(), 2U);
  EXPECT_EQ(expected->cables()[1].a.interface, "enP2p1s0f0np0");
  EXPECT_EQ(expected->cables()[1].a.plug, "p0");
  EXPECT_EQ(expected->cables()[1].a.address, "10.10.1.1");
}

class PlanFolderTest : public ::testing::Test {
 protected:
  PlanFolderTest() : folder_(std::filesystem::temp_directory_path() / ("plan_folder." + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
  }
  ~PlanFolderTest() override { std::filesystem::remove_all(folder_); }

  std::string text(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  const std::filesystem::path folder_;
};

TEST_F(PlanFolderTest, IsCreatedAndMayBeWrittenAgain) {
  const std::string inner = (folder_ / "a" / "b").string();
  EXPECT_TRUE(write_plan(inner, {{"x.sh", "one\n"}}, false).ok());
  EXPECT_TRUE(write_plan(inner, {{"x.sh", "one\n"}, {"y.sh", "two\n"}}, false).ok());
  EXPECT_EQ(text("a/b/y.sh"), "two\n");
}

TEST_F(PlanFolderTest, OtherContentIsOverwrittenOnlyOnRequest) {
  ASSERT_TRUE(write_plan(folder_.string(), {{"b", "old"}}, false).ok());
  const absl::Status refused = write_plan(folder_.string(), {{"a", "new"}, {"b", "new"}}, false);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("/b\" exists with other content; expected another --output, or --force"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a")) << "nothing is written";
  EXPECT_TRUE(write_plan(folder_.string(), {{"a", "new"}, {"b", "new"}}, true).ok());
  EXPECT_EQ(text("b"), "new");
}

TEST_F(PlanFolderTest, LinksAndFoldersAreRefused) {
  ASSERT_TRUE(write_plan(folder_.string(), {{"target", "old"}}, false).ok());
  std::filesystem::create_symlink(folder_ / "target", folder_ / "link");
  for (const bool overwrite : {false, true}) {
    EXPECT_THAT(std::string(write_plan(folder_.string(), {{"link", "new"}}, overwrite).message()),
                HasSubstr("is not a regular file"));
  }
  EXPECT_EQ(text("target"), "old");
  EXPECT_FALSE(write_plan((folder_ / "target").string(), {{"x", ""}}, false).ok()) << "a file is no folder";
}

}  // namespace
}  // namespace cableway::cli
