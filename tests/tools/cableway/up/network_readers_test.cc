// netplan and NetworkManager read what `cableway up` writes: their own readers, without daemons. Skipped where
// tools/readers.sh has not unpacked them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/tools/cableway/up/fake_host.h"
#include "tools/cableway/system/program.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNetplanFile[] = "/etc/netplan/90-cableway.yaml";
constexpr char kProfileFile[] = "/etc/NetworkManager/system-connections/cableway-eth2.nmconnection";

std::string reader(const std::string& name) {
  return absl::StrCat(CABLEWAY_READERS, "/", name);
}

class NetworkReadersTest : public ::testing::Test {
 protected:
  void set_up_host() {
    std::istringstream in;
    const Outcome done =
        run_up(host_, {"--topology", "line:2", "--interfaces", "eth1+eth2", "--host", "n0", "--yes"}, in, false);
    ASSERT_EQ(done.exit_status, 0) << done.err;
  }

  ProgramEnd netplan() const {
    return run_program({.words = {reader("netplan-generate"), "--root-dir", host_.root()}});
  }

  // Parses a profile as NetworkManager does, and writes it again.
  static ProgramEnd network_manager(const std::string& profile) {
    return run_program(
        {.words = {reader("nmcli"), "--offline", "connection", "modify", "connection.autoconnect", "yes"},
         .input = profile});
  }

  FakeHost host_;
};

TEST_F(NetworkReadersTest, NetplanReadsTheFile) {
  if (!std::filesystem::exists(reader("netplan-generate"))) GTEST_SKIP() << "tools/setup.sh --all unpacks netplan";
  set_up_host();
  const ProgramEnd end = netplan();
  EXPECT_EQ(end.exit_status, 0) << end.err;
  EXPECT_EQ(end.err, "");
  EXPECT_THAT(
      host_.read("/run/systemd/network/10-netplan-eth2.network"),
      AllOf(HasSubstr("\nName=eth2\n"), HasSubstr("\nAddress=10.10.1.1/24\n"),
            HasSubstr("\nLinkLocalAddressing=ipv6\n"), HasSubstr("\nMTUBytes=9000\n"), Not(HasSubstr("DHCP="))));

  const std::string good = host_.read(kNetplanFile);
  host_.write(kNetplanFile, absl::StrReplaceAll(good, {{"10.10.1.1/24", "10.10.1.1"}}), 0600);
  const ProgramEnd refused = netplan();
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_THAT(refused.err, HasSubstr("missing /prefixlength"));
}

TEST_F(NetworkReadersTest, NetworkManagerReadsTheProfile) {
  if (!std::filesystem::exists(reader("nmcli"))) GTEST_SKIP() << "tools/setup.sh --all unpacks nmcli";
  std::filesystem::remove(host_.at("/usr/sbin/netplan"));
  host_.write("/usr/bin/nmcli", "");
  host_.nmcli_runs = true;
  set_up_host();
  const std::string profile = host_.read(kProfileFile);
  const ProgramEnd end = network_manager(profile);
  EXPECT_EQ(end.exit_status, 0) << end.err;
  EXPECT_THAT(end.out, AllOf(HasSubstr("\nid=cableway-eth2\n"), HasSubstr("\ninterface-name=eth2\n"),
                             HasSubstr("\nautoconnect-priority=10\n"), HasSubstr("\n[ethernet]\nmtu=9000\n"),
                             HasSubstr("\n[ipv4]\naddress1=10.10.1.1/24\nmethod=manual\nnever-default=true\n"),
                             HasSubstr("\nmethod=link-local\nnever-default=true\n")));

  EXPECT_NE(network_manager(absl::StrReplaceAll(profile, {{"10.10.1.1/24", "10.10.1.256/24"}})).exit_status, 0);
  EXPECT_THAT(network_manager(absl::StrReplaceAll(profile, {{"mtu=", "mtus="}})).out, Not(HasSubstr("mtu")));
}

}  // namespace
}  // namespace cableway::cli
