// `cableway up` on a host in a temporary folder: what it changes, that it then has nothing to do, and --undo.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
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

const std::string kKey(64, 'a');

class UpTest : public ::testing::Test {
 protected:
  UpTest() {
    host_.netplan = {{"eth1", {9000, "10.10.0.1/24"}}, {"eth2", {9000, "10.10.1.1/24"}}};
    host_.write("/etc/cableway/cableway.toml", settings_sample());
  }

  // Of host n0 in a line of two whose plug has two functions.
  Outcome up(std::vector<std::string> more) {
    if (std::find(more.begin(), more.end(), "--undo") == more.end()) {
      more.insert(more.begin(), {"--topology", "line:2", "--interfaces", "eth1+eth2", "--host", "n0"});
    }
    return run(std::move(more));
  }

  Outcome run(std::vector<std::string> arguments) {
    return run_up(host_, std::move(arguments), in_, in_is_terminal_, environment_);
  }

  FakeHost host_;
  std::vector<std::string> environment_ = {"SUDO_USER=me"};
  std::istringstream in_;
  bool in_is_terminal_ = false;
};

TEST_F(UpTest, SetsUpTheHostAndThenHasNothingToDo) {
  host_.write("/etc/cableway/key", kKey, 0600);
  const Outcome first = up({"--yes"});
  ASSERT_EQ(first.exit_status, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("address of eth2"), HasSubstr("10.10.1.1/24"), HasSubstr("user me")));
  EXPECT_THAT(host_.read("/etc/netplan/90-cableway.yaml"),
              AllOf(HasSubstr("\"eth1\":\n"), HasSubstr("mtu: 9000\n      addresses: [\"10.10.0.1/24\"]\n")));
  EXPECT_THAT(host_.read("/etc/sysctl.d/90-cableway.conf"), HasSubstr("net.ipv4.conf.eth2.arp_announce=2\n"));
  EXPECT_EQ(host_.read("/proc/sys/net/ipv4/conf/eth1/arp_ignore"), "1\n");
  EXPECT_THAT(host_.read("/etc/security/limits.d/cableway.conf"), HasSubstr("@cableway - memlock unlimited\n"));
  EXPECT_THAT(host_.read("/etc/cableway/cableway.toml"),
              AllOf(HasSubstr("\nnode = \"n0\"\n"), HasSubstr("\nports = [\"eth1\", \"eth2\"]\n"),
                    HasSubstr("\nkey_file = \"/etc/cableway/key\"\n"),
                    HasSubstr("\nexpect = \"/etc/cableway/expected.toml\"\n")));
  EXPECT_THAT(host_.read("/etc/cableway/expected.toml"), HasSubstr("10.10.1.2"));
  EXPECT_THAT(host_.commands, ElementsAre("gpasswd -a me cableway", "netplan apply",
                                          "systemctl enable cablewayd.service", "systemctl start cablewayd.service"));
  EXPECT_EQ(host_.links["eth1"].mtu, 9000);

  const auto before = host_.tree();
  host_.commands.clear();
  const Outcome second = up({});  // it does not ask, as there is nothing to ask
  EXPECT_EQ(second.exit_status, 0) << second.err;
  EXPECT_EQ(second.out, "nothing to change\n");
  EXPECT_THAT(host_.commands, IsEmpty());
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(UpTest, UndoRestoresEveryByte) {
  host_.write("/etc/cableway/cableway.toml", "# mine\nhello_ms = 200", 0640);
  host_.write("/etc/netplan/90-cableway.yaml", "network: {}\n", 0600);
  const auto before = host_.tree();
  const auto links = host_.links["eth1"];
  ASSERT_EQ(up({"--yes"}).exit_status, 0);
  ASSERT_NE(host_.tree(), before);
  const Outcome undone = up({"--undo", "--yes"});
  EXPECT_EQ(undone.exit_status, 0) << undone.out << undone.err;
  EXPECT_EQ(host_.tree(), before);
  EXPECT_EQ(host_.links["eth1"].mtu, links.mtu);
  EXPECT_EQ(host_.links["eth1"].addresses, links.addresses);
  EXPECT_FALSE(host_.enabled);
  EXPECT_FALSE(host_.active);
  EXPECT_EQ(up({"--undo"}).out, "nothing to take back\n");
}

TEST_F(UpTest, UndoTakesBackSeveralRuns) {
  const auto before = host_.tree();
  ASSERT_EQ(up({"--yes"}).exit_status, 0);
  host_.netplan = {{"eth1", {1500, "10.10.0.1/24"}}, {"eth2", {1500, "10.10.1.1/24"}}};
  ASSERT_EQ(up({"--yes", "--mtu", "1500"}).exit_status, 0);
  EXPECT_EQ(up({"--undo", "--yes"}).exit_status, 0);
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(UpTest, TheJournalHasOneRecordOfAFileThatSeveralRunsReplace) {
  const auto before = host_.tree();
  ASSERT_EQ(up({"--yes"}).exit_status, 0);
  ASSERT_EQ(up({"--yes", "--mtu", "1500"}).exit_status, 0);
  ASSERT_EQ(up({"--yes", "--mtu", "4200"}).exit_status, 0);
  const nlohmann::json records = nlohmann::json::parse(host_.read(kJournalPath))["records"];
  const auto is_network = [](const nlohmann::json& each) {
    return each.value("path", "") == "/etc/netplan/90-cableway.yaml";
  };
  EXPECT_EQ(std::count_if(records.begin(), records.end(), is_network), 1) << records.dump(1);
  EXPECT_EQ(up({"--undo", "--yes"}).exit_status, 0);
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(UpTest, AJournalThatOthersCanWriteIsRefused) {
  ASSERT_EQ(up({"--yes"}).exit_status, 0);
  const std::string text = host_.read(kJournalPath);
  host_.write(kJournalPath, text, 0666);
  const Outcome refused = up({"--undo", "--yes"});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_THAT(refused.err, HasSubstr("up.json\" can be written by other users than root"));
  host_.write(kJournalPath, text, 0600);
  EXPECT_EQ(up({"--undo", "--yes"}).exit_status, 0);
}

TEST_F(UpTest, UndoLeavesWhatSomeoneElseHasChanged) {
  ASSERT_EQ(up({"--yes"}).exit_status, 0);
  host_.write("/etc/cableway/cableway.toml", "hello_ms = 100\n");
  std::filesystem::remove(host_.at("/etc/sysctl.d/90-cableway.conf"));
  host_.write("/proc/sys/net/ipv4/conf/eth1/arp_ignore", "2\n");
  const Outcome undone = up({"--undo", "--yes", "--json"});
  EXPECT_EQ(undone.exit_status, 1);
  const nlohmann::json left = nlohmann::json::parse(undone.out)["left"];
  ASSERT_EQ(left.size(), 2U) << undone.out;  // a file that was to be removed and is gone is no difference
  EXPECT_EQ(left[0]["what"], "/etc/cableway/cableway.toml");
  EXPECT_EQ(left[0]["reason"], "was changed since");
  EXPECT_EQ(left[1]["what"], "/proc/sys/net/ipv4/conf/eth1/arp_ignore");
  EXPECT_EQ(host_.read("/etc/cableway/cableway.toml"), "hello_ms = 100\n");
  EXPECT_FALSE(host_.has("/etc/netplan/90-cableway.yaml"));
  EXPECT_TRUE(host_.has(kJournalPath));
}

TEST_F(UpTest, UndoOfAFailureInTheMiddle) {
  const auto before = host_.tree();
  host_.failing = "netplan apply";
  const Outcome failed = up({"--yes"});
  EXPECT_EQ(failed.exit_status, 1);
  EXPECT_THAT(failed.err,
              AllOf(HasSubstr("netplan apply failed with exit status 1: it is broken"), HasSubstr("--undo")));
  EXPECT_TRUE(host_.has("/etc/netplan/90-cableway.yaml"));
  EXPECT_FALSE(host_.has("/etc/cableway/expected.toml"));
  EXPECT_FALSE(host_.active);
  host_.failing.clear();
  EXPECT_EQ(up({"--undo", "--yes"}).exit_status, 0);
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(UpTest, GoesOnAfterAFailure) {
  host_.active = true;
  host_.failing = "systemctl restart cablewayd.service";
  EXPECT_EQ(up({"--yes"}).exit_status, 1);
  host_.failing.clear();
  host_.commands.clear();
  EXPECT_EQ(up({"--yes"}).exit_status, 0);
  EXPECT_THAT(host_.commands, ElementsAre("systemctl restart cablewayd.service"));
  EXPECT_EQ(up({}).out, "nothing to change\n");
}

TEST_F(UpTest, DryRunChangesNothing) {
  const auto before = host_.tree();
  const Outcome shown = up({"--dry-run", "--json"});
  EXPECT_EQ(shown.exit_status, 0) << shown.err;
  const nlohmann::json view = nlohmann::json::parse(shown.out);
  EXPECT_FALSE(view["applied"]);
  EXPECT_THAT(view["changes"],
              Contains(nlohmann::json({{"what", "MTU of eth1"}, {"is", "1500"}, {"would_be", "9000"}})));
  EXPECT_EQ(host_.tree(), before);
  EXPECT_THAT(host_.commands, IsEmpty());
}

TEST_F(UpTest, AsksOnATerminalOnly) {
  const auto before = host_.tree();
  const Outcome refused = up({});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("no terminal"), HasSubstr("--yes")));
  in_is_terminal_ = true;
  in_.str("n\nn\n");
  EXPECT_THAT(up({}).err, AllOf(HasSubstr("Add it? [y/N]"), HasSubstr("address of eth1"), HasSubstr("apply? [y/N]")));
  in_.clear();
  in_.str("");
  EXPECT_EQ(up({}).exit_status, 1);  // the end of the input is no yes
  EXPECT_EQ(host_.tree(), before);
  in_.clear();
  in_.str("\ny\n");
  EXPECT_EQ(up({}).exit_status, 0);
  EXPECT_EQ(host_.links["eth1"].mtu, 9000);
  EXPECT_FALSE(host_.has("/etc/nccl.conf")) << "no is the default";
}

TEST_F(UpTest, AConflictingSettingIsNamedBeforeAnyChange) {
  host_.write("/etc/cableway/cableway.toml", "# mine\nnode = \"other\"\n");
  const auto before = host_.tree();
  const Outcome refused = up({"--yes"});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_THAT(refused.err, HasSubstr("cableway.toml:2: node is \"other\"; expected \"n0\", or --force"));
  EXPECT_EQ(host_.tree(), before);
  EXPECT_EQ(up({"--yes", "--force"}).exit_status, 0);
  EXPECT_THAT(host_.read("/etc/cableway/cableway.toml"),
              AllOf(HasSubstr("# mine\nnode = \"n0\"\n"), Not(HasSubstr("other"))));
}

TEST_F(UpTest, TheTunerFitsThePlan) {
  const auto settings_of = [&](const std::string& shape, const std::string& interfaces, std::vector<std::string> more) {
    more.insert(more.begin(), {"--topology", shape, "--interfaces", interfaces, "--host", "n1", "--yes"});
    const Outcome done = run(std::move(more));
    return done.exit_status == 0 ? host_.read("/etc/cableway/cableway.toml") : done.err;
  };
  const std::string settings = "/etc/cableway/cableway.toml";
  host_.write(settings, "");
  EXPECT_THAT(settings_of("ring:4", "eth1,eth2", {}), HasSubstr("\ntuner = \"ring\"\n"));
  EXPECT_THAT(settings_of("line:4", "eth1,eth2", {}), HasSubstr("tuner is \"ring\"; expected \"line\", or --force"));
  EXPECT_THAT(settings_of("line:4", "eth1,eth2", {"--force"}), HasSubstr("\ntuner = \"line\"\n"));
  EXPECT_THAT(settings_of("ring:3", "a+eth1,b+eth2", {"--force"}), HasSubstr("\ntuner = \"sparks\"\n"))
      << "not left for another cabling";
  EXPECT_THAT(settings_of("mesh:4", "a,b,c", {"--force"}), HasSubstr("\ntuner = \"mesh\"\n"));
  host_.write(settings, "tuner = \"off\"\n");
  EXPECT_THAT(settings_of("line:4", "eth1,eth2", {"--force"}), HasSubstr("tuner = \"off\"\n")) << "someone meant that";
  host_.write(settings, "");
  EXPECT_THAT(settings_of("ring:3", "a+eth1,b+eth2", {}), Not(HasSubstr("tuner"))) << "it is the default";
  EXPECT_THAT(settings_of("line:2", "eth1", {"--force"}), Not(HasSubstr("tuner")));
}

TEST_F(UpTest, InstallsAKeyButReplacesNone) {
  host_.write("/key", kKey + "\n", 0600);
  const auto before = host_.tree();
  EXPECT_EQ(up({"--yes", "--key", host_.at("/key")}).exit_status, 0);
  EXPECT_EQ(host_.read("/etc/cableway/key"), kKey + "\n");
  EXPECT_THAT(host_.read(kJournalPath), Not(HasSubstr(kKey)));
  EXPECT_EQ(up({"--key", host_.at("/key")}).out, "nothing to change\n");
  host_.write("/key", std::string(64, 'b'), 0600);
  EXPECT_THAT(up({"--yes", "--key", host_.at("/key")}).err, HasSubstr("has another key"));
  host_.write("/key", kKey + "\n", 0600);
  EXPECT_EQ(up({"--undo", "--yes"}).exit_status, 0);
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(UpTest, WithoutAPlanAddressesStay) {
  EXPECT_EQ(run({"--yes"}).exit_status, 0);
  EXPECT_FALSE(host_.has("/etc/netplan/90-cableway.yaml"));
  EXPECT_EQ(host_.links["eth1"].mtu, 1500);
  EXPECT_TRUE(host_.has("/etc/security/limits.d/cableway.conf"));
  EXPECT_TRUE(host_.active);
  EXPECT_EQ(host_.read("/etc/cableway/cableway.toml"), settings_sample());
}

TEST_F(UpTest, PartsOfAPlanAreRefused) {
  const auto before = host_.tree();
  EXPECT_THAT(run({"--yes", "--mtu", "1500"}).err, HasSubstr("together with --topology"));
  EXPECT_THAT(run({"--yes", "--plan", "p", "--hosts", "a,b"}).err, HasSubstr("together with --topology"));
  EXPECT_THAT(run({"--yes", "--host", "n0"}).err, HasSubstr("expected --plan or --topology"));
  EXPECT_THAT(run({"--yes", "--plan", "p", "--topology", "line:2"}).err, HasSubstr("expected one of them"));
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(UpTest, TakesAPlanFromItsFolder) {
  const std::string plan = host_.at("/plan");
  ASSERT_EQ(run_command({"plan", "addresses", "--topology", "line:2", "--interfaces", "eth1+eth2", "--output", plan})
                .exit_status,
            0);
  EXPECT_EQ(run({"--plan", plan, "--host", "n1.lan", "--yes"}).exit_status, 0);
  EXPECT_THAT(host_.read("/etc/netplan/90-cableway.yaml"), HasSubstr("10.10.0.2/24"));
  EXPECT_EQ(host_.read("/etc/cableway/expected.toml"), host_.read("/plan/expected.toml"));
  EXPECT_THAT(run({"--plan", plan, "--host", "n7", "--yes"}).err, HasSubstr("which has n0, n1; expected --host"));
  EXPECT_THAT(run({"--plan", host_.at("/none"), "--yes"}).err, HasSubstr("addresses.json"));
  host_.write("/plan/expected.toml", "[[nod]]\n");
  EXPECT_THAT(run({"--plan", plan, "--host", "n0", "--yes"}).err, HasSubstr("expected.toml:1: "));
  std::filesystem::copy_file(host_.at("/etc/cableway/expected.toml"), plan + "/expected.toml",
                             std::filesystem::copy_options::overwrite_existing);
  host_.write("/plan/addresses.json", R"({"mtu": 9000, "hosts": [{"node": "n0", "ports": [{"interface": "a b"}]}]})");
  EXPECT_THAT(run({"--plan", plan, "--host", "n0", "--yes"}).err, HasSubstr("\"a b\" is no interface"));
}

TEST_F(UpTest, ALinkIsNeverWrittenThrough) {
  host_.write("/target", "text");
  std::filesystem::create_symlink(host_.at("/target"), host_.at("/etc/netplan/90-cableway.yaml"));
  EXPECT_THAT(up({"--yes"}).err, HasSubstr("90-cableway.yaml\" is a link"));
  EXPECT_EQ(host_.read("/target"), "text");
}

TEST_F(UpTest, ABadJournalIsNamed) {
  host_.write(kJournalPath, "{}", 0600);
  EXPECT_THAT(up({"--undo", "--yes"}).err, HasSubstr("/var/lib/cableway/up.json is no journal"));
  EXPECT_THAT(up({"--yes"}).err, HasSubstr("is no journal"));
}

TEST_F(UpTest, WithIpCommandsAUnitKeepsTheAddresses) {
  std::filesystem::remove(host_.at("/usr/sbin/netplan"));
  const auto before = host_.tree();
  host_.links.erase("eth2");
  const Outcome first = up({"--yes"});
  EXPECT_EQ(first.exit_status, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("eth2 is not on this host now"));
  EXPECT_THAT(host_.read("/etc/systemd/system/cableway-addresses.service"),
              HasSubstr("ExecStart=-/sbin/ip address replace 10.10.0.1/24 dev \"eth1\"\n"));
  EXPECT_THAT(host_.commands,
              AllOf(Contains("systemctl daemon-reload"), Contains("systemctl enable cableway-addresses.service"),
                    Contains("ip address replace 10.10.0.1/24 dev eth1")));
  EXPECT_EQ(host_.links["eth1"].mtu, 9000);
  EXPECT_EQ(up({}).out, "nothing to change\n");
  host_.links.erase("eth2");
  EXPECT_EQ(up({"--undo", "--yes"}).exit_status, 0);
  EXPECT_EQ(host_.tree(), before);
  EXPECT_EQ(host_.links["eth1"].mtu, 1500);
  EXPECT_THAT(host_.links["eth1"].addresses, IsEmpty());
}

}  // namespace
}  // namespace cableway::cli
