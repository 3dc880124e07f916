// `cableway up` on a host that an earlier run, or another program, has changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <istream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "core/settings/settings_sample.h"
#include "tests/tools/cableway/up/fake_host.h"
#include "tools/cableway/up/journal.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Input that says yes, after `act`.
class ActingInput final : public std::streambuf {
 public:
  explicit ActingInput(std::function<void()> act) : act_(std::move(act)) {}

 protected:
  int_type underflow() override {
    if (was_read_) return traits_type::eof();
    was_read_ = true;
    act_();
    setg(text_, text_, text_ + sizeof text_);
    return traits_type::to_int_type(*text_);
  }

 private:
  const std::function<void()> act_;
  bool was_read_ = false;
  char text_[2] = {'y', '\n'};
};

class UpAgainTest : public ::testing::Test {
 protected:
  UpAgainTest() {
    host_.write("/etc/cableway/cableway.toml", settings_sample());
    // So that the question about the changes is the only one.
    host_.write("/etc/nccl.conf", "NCCL_ENV_PLUGIN=libnccl-net-cableway.so\n");
  }

  // `asked`: what happens while the question is on the terminal.
  Outcome up(
      std::vector<std::string> arguments, const std::function<void()>& asked = [] {}) {
    ActingInput input(asked);
    std::istream in(&input);
    return run_up(host_, std::move(arguments), in, true);
  }

  // Of host n0 in a line of two.
  Outcome plan(const std::string& interfaces, std::vector<std::string> more = {"--yes", "--force"}) {
    more.insert(more.begin(), {"--topology", "line:2", "--interfaces", interfaces, "--host", "n0"});
    return up(more);
  }

  void without_netplan() { std::filesystem::remove(host_.at("/usr/sbin/netplan")); }

  FakeHost host_;
};

TEST_F(UpAgainTest, ALaterPlanTakesBackWhatOnlyTheEarlierOneHas) {
  without_netplan();
  const auto before = host_.tree();
  ASSERT_EQ(plan("eth1+eth2").exit_status, 0);
  ASSERT_THAT(host_.links["eth2"].addresses, ElementsAre("10.10.1.1/24"));
  ASSERT_EQ(host_.read("/proc/sys/net/ipv4/conf/eth2/arp_ignore"), "1\n");

  const Outcome later = plan("eth1");
  EXPECT_EQ(later.exit_status, 0) << later.err;
  EXPECT_THAT(later.out, AllOf(HasSubstr("address 10.10.1.1/24 of eth2"), HasSubstr("of an earlier plan"),
                               Not(HasSubstr("address 10.10.0.1/24 of eth1"))));
  EXPECT_THAT(host_.links["eth2"].addresses, IsEmpty());
  EXPECT_EQ(host_.links["eth2"].mtu, 1500);
  EXPECT_THAT(host_.links["eth1"].addresses, ElementsAre("10.10.0.1/24"));
  EXPECT_EQ(host_.links["eth1"].mtu, 9000);
  EXPECT_EQ(host_.read("/proc/sys/net/ipv4/conf/eth2/arp_ignore"), "0\n");
  EXPECT_FALSE(host_.has("/etc/sysctl.d/90-cableway.conf"));
  EXPECT_EQ(plan("eth1", {}).out, "nothing to change\n");

  const Outcome undone = up({"--undo", "--yes"});
  EXPECT_EQ(undone.exit_status, 0) << undone.out;
  EXPECT_EQ(host_.tree(), before);
  EXPECT_THAT(host_.links["eth1"].addresses, IsEmpty());
}

TEST_F(UpAgainTest, ProfilesOfAnEarlierPlanGo) {
  without_netplan();
  host_.write("/usr/bin/nmcli", "");
  host_.nmcli_runs = true;
  ASSERT_EQ(plan("eth1+eth2").exit_status, 0);
  const std::string profile = "/etc/NetworkManager/system-connections/cableway-eth2.nmconnection";
  ASSERT_TRUE(host_.has(profile));
  host_.commands.clear();
  ASSERT_EQ(plan("eth1").exit_status, 0);
  EXPECT_FALSE(host_.has(profile));
  EXPECT_THAT(host_.commands, Contains("nmcli connection reload"));
}

TEST_F(UpAgainTest, WhatSomeoneHasChangedOfAnEarlierPlanStays) {
  without_netplan();
  ASSERT_EQ(plan("eth1+eth2").exit_status, 0);
  host_.write("/proc/sys/net/ipv4/conf/eth2/arp_ignore", "2\n");
  host_.links["eth2"].addresses.clear();
  const Outcome later = plan("eth1");
  EXPECT_EQ(later.exit_status, 0) << later.err;
  EXPECT_THAT(later.err, HasSubstr("eth2/arp_ignore, of an earlier plan, was changed since: it stays as it is"));
  EXPECT_EQ(host_.read("/proc/sys/net/ipv4/conf/eth2/arp_ignore"), "2\n");
  EXPECT_THAT(later.out, HasSubstr("forgotten"));
  EXPECT_THAT(host_.commands, Not(Contains(HasSubstr("address del 10.10.1.1/24"))));
}

TEST_F(UpAgainTest, AnInterfaceThatWasDownIsDownAfterUndo) {
  without_netplan();
  host_.links["eth1"].up = false;
  const Outcome first = plan("eth1");
  EXPECT_THAT(first.out, HasSubstr("state of eth1"));
  EXPECT_TRUE(host_.links["eth1"].up);
  EXPECT_EQ(up({"--undo", "--yes"}).exit_status, 0);
  EXPECT_FALSE(host_.links["eth1"].up);
}

TEST_F(UpAgainTest, WhatSomeoneChangesWhileItAsksIsNotOverwritten) {
  const std::string mine = "hello_ms = 100\n";
  host_.write("/key", std::string(64, 'a'), 0600);
  const Outcome changed = up({"--key", host_.at("/key")}, [&] { host_.write("/etc/cableway/cableway.toml", mine); });
  EXPECT_EQ(changed.exit_status, 1);
  EXPECT_THAT(changed.err, HasSubstr("the host has changed while this was shown"));
  EXPECT_EQ(host_.read("/etc/cableway/cableway.toml"), mine);
  EXPECT_FALSE(host_.has("/etc/cableway/key"));
  EXPECT_EQ(up({"--key", host_.at("/key")}).exit_status, 0);
  EXPECT_TRUE(host_.has("/etc/cableway/key"));
}

TEST_F(UpAgainTest, OneAtATime) {
  const HostRoot root(host_.root());
  const auto before = host_.tree();
  {
    const auto lock = root.lock(kUpLockPath);
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_THAT(up({"--yes"}).err, HasSubstr("cableway-up.lock\" is locked by another process"));
    EXPECT_THAT(up({"--undo", "--yes"}).err, HasSubstr("is locked by another process"));
    EXPECT_EQ(up({"--dry-run"}).exit_status, 0);
    EXPECT_EQ(host_.tree(), before);
  }
  EXPECT_EQ(up({"--yes"}).exit_status, 0);
}

TEST_F(UpAgainTest, AKeyThatOthersCanReadIsMadeRootsOwn) {
  const std::string key(64, 'a');
  host_.write("/etc/cableway/key", key, 0644);
  const Outcome mended = up({"--yes"});
  EXPECT_EQ(mended.exit_status, 0) << mended.err;
  EXPECT_THAT(mended.out, AllOf(HasSubstr("mode 0644"), HasSubstr("mode 0600")));
  struct stat status {};
  ASSERT_EQ(::stat(host_.at("/etc/cableway/key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  EXPECT_THAT(host_.read(kJournalPath), Not(HasSubstr(key)));
}

TEST_F(UpAgainTest, APlanOfMoreThanAMegabyteIsReadAgain) {
  host_.netplan = {{"eth1", {9000, "10.10.0.1/24"}}};
  const std::string folder = host_.at("/plan");
  ASSERT_EQ(run_command({"plan", "addresses", "--topology", "line:2", "--interfaces", "eth1", "--output", folder})
                .exit_status,
            0);
  std::string expected = host_.read("/plan/expected.toml");
  while (expected.size() < std::size_t{2} << 20) expected += "# " + std::string(900, 'x') + "\n";
  host_.write("/plan/expected.toml", expected);
  EXPECT_EQ(up({"--plan", folder, "--host", "n0", "--yes"}).exit_status, 0);
  expected += "# other\n";
  host_.write("/plan/expected.toml", expected);
  const Outcome again = up({"--plan", folder, "--host", "n0", "--yes"});
  EXPECT_EQ(again.exit_status, 0) << again.err;
  EXPECT_EQ(host_.read("/etc/cableway/expected.toml"), expected);
  EXPECT_EQ(up({"--undo", "--yes"}).exit_status, 0);
  EXPECT_FALSE(host_.has("/etc/cableway/expected.toml"));
}

}  // namespace
}  // namespace cableway::cli
