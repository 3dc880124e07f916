// The changes as data: facts in, steps out.
#include "tools/cableway/up/up_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/cableway/up/network_files.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// "file PATH", "value PATH VALUE", "run COMMAND", "undo COMMAND".
std::vector<std::string> steps_of(const UpChanges& all) {
  std::vector<std::string> steps;
  for (const Change& change : all.changes) {
    if (const auto* file = std::get_if<FileChange>(&change.action)) steps.push_back("file " + file->path);
    if (const auto* value = std::get_if<ValueChange>(&change.action)) {
      steps.push_back(absl::StrCat("value ", value->path, " ", value->wanted));
    }
    if (const auto* command = std::get_if<CommandChange>(&change.action)) {
      if (!command->run.empty()) steps.push_back("run " + absl::StrJoin(command->run, " "));
      if (!command->undo.empty()) steps.push_back("undo " + absl::StrJoin(command->undo, " "));
    }
  }
  return steps;
}

UpRequest with_plan() {
  return {.plan = HostPlan{"n0", 9000, {{"eth1", "10.10.0.1/24", "p0"}}, "expected\n"},
          .user = "",
          .key_text = std::nullopt,
          .force = false};
}

UpFacts plain_facts(NetworkKind network) {
  UpFacts facts;
  facts.network = network;
  facts.systemd_runs = true;
  facts.unit_installed = facts.unit_enabled = facts.unit_active = true;
  facts.group_exists = true;
  facts.key_path = "/etc/cableway/key";
  facts.files[facts.key_path] = std::nullopt;
  facts.files[kSettingsPath] = std::nullopt;
  facts.interfaces["eth1"] = {1500, true, {"10.0.0.9/8"}};
  return facts;
}

UpChanges changes_of(const UpRequest& request, const UpFacts& facts) {
  absl::StatusOr<UpChanges> all = up_changes(request, facts);
  EXPECT_TRUE(all.ok()) << all.status();
  return all.ok() ? *std::move(all) : UpChanges{};
}

TEST(UpChanges, OfARunningNodeWithNetworkManager) {
  const UpChanges all = changes_of(with_plan(), plain_facts(NetworkKind::kNetworkManager));
  EXPECT_THAT(steps_of(all),
              ElementsAre("file /etc/security/limits.d/cableway.conf", "undo nmcli connection reload",
                          "file /etc/NetworkManager/system-connections/cableway-eth1.nmconnection",
                          "run nmcli connection reload", "run nmcli connection up cableway-eth1",
                          "undo ip link set dev eth1 mtu 1500", "undo ip address del 10.10.0.1/24 dev eth1",
                          "undo systemctl try-restart cablewayd.service", "file /etc/cableway/expected.toml",
                          "file /etc/cableway/cableway.toml", "run systemctl restart cablewayd.service"));
  EXPECT_THAT(all.remarks, Contains(HasSubstr("the node has no key")));
}

TEST(UpChanges, AnInterfaceWithoutACableIsNoReasonToApply) {
  UpFacts facts = plain_facts(NetworkKind::kNetplan);
  facts.interfaces["eth1"].carrier = false;
  for (const WantedFile& file : network_files(*with_plan().plan, NetworkKind::kNetplan, true)) {
    facts.files[file.path] = file.file;
  }
  EXPECT_THAT(steps_of(changes_of(with_plan(), facts)), Not(Contains(HasSubstr("netplan"))));
  facts.interfaces["eth1"].carrier = true;
  EXPECT_THAT(steps_of(changes_of(with_plan(), facts)), Contains("run netplan apply"));
}

TEST(UpChanges, AMissingGroupIsMade) {
  UpFacts facts = plain_facts(NetworkKind::kNetplan);
  facts.group_exists = false;
  UpRequest request;
  request.user = "me";
  const std::vector<std::string> steps = steps_of(changes_of(request, facts));
  ASSERT_GE(steps.size(), 4U);
  EXPECT_EQ(steps[0], "run groupadd --system cableway");
  EXPECT_EQ(steps[1], "undo groupdel cableway");
  EXPECT_EQ(steps[2], "run gpasswd -a me cableway");
}

TEST(UpChanges, WhatCannotBeDoneHereIsSaid) {
  UpFacts facts = plain_facts(NetworkKind::kIp);
  facts.systemd_runs = false;
  facts.interfaces.clear();
  const UpChanges all = changes_of(with_plan(), facts);
  EXPECT_THAT(all.remarks, Contains("eth1 is not on this host now: its address is not set yet"));
  EXPECT_THAT(all.remarks, Contains(HasSubstr("addresses last until the host's next start")));
  EXPECT_THAT(all.remarks, Contains("systemd does not run here: start cablewayd yourself"));
  facts.unit_installed = false;
  EXPECT_THAT(changes_of(with_plan(), facts).remarks, Contains(HasSubstr("cablewayd.service is not installed")));
  UpFacts merged = plain_facts(NetworkKind::kNetplan);
  merged.other_netplans = {"/etc/netplan/40-cx7.yaml"};
  EXPECT_THAT(changes_of(with_plan(), merged).remarks, Contains(HasSubstr("/etc/netplan/40-cx7.yaml has interfaces")));
}

TEST(UpChanges, AnInterfaceThatIsDownIsNamedAndSetUp) {
  UpFacts facts = plain_facts(NetworkKind::kNetplan);
  facts.interfaces["eth1"].carrier = facts.interfaces["eth1"].up = false;
  const UpChanges all = changes_of(with_plan(), facts);
  EXPECT_THAT(all.remarks, Contains(HasSubstr("eth1 is down now")));
  EXPECT_THAT(steps_of(all),
              AllOf(Contains("undo ip link set dev eth1 down"), Contains("run ip link set dev eth1 up")));
  facts.interfaces["eth1"].up = true;
  const UpChanges waiting = changes_of(with_plan(), facts);
  EXPECT_THAT(waiting.remarks, Contains(HasSubstr("eth1 has no carrier now")));
  EXPECT_THAT(steps_of(waiting), Not(Contains(HasSubstr("ip link"))));
}

TEST(UpChanges, KeysAreWipedFromFactsAndSteps) {
  UpRequest request;
  request.key_text = std::string(64, 'a');
  UpFacts facts = plain_facts(NetworkKind::kNetplan);
  UpChanges all = changes_of(request, facts);
  const auto key_text = [&] {
    for (const Change& change : all.changes) {
      const auto* file = std::get_if<FileChange>(&change.action);
      if (file != nullptr && file->path == facts.key_path) return file->wanted.text;
    }
    return std::string("none");
  };
  EXPECT_EQ(key_text(), request.key_text);
  wipe_key(facts.key_path, all);
  EXPECT_EQ(key_text(), "");
  facts.files[facts.key_path] = HostFile{*request.key_text, 0600};
  wipe_key(facts);
  EXPECT_EQ(facts.files[facts.key_path]->text, "");
}

TEST(UpChanges, AFileThatOnlyRootMayReadIsSaidToBe) {
  UpFacts facts = plain_facts(NetworkKind::kNetplan);
  facts.files[kNetplanPath] = std::nullopt;
  facts.unreadable = {kNetplanPath, facts.key_path};
  const UpChanges all = changes_of(with_plan(), facts);
  EXPECT_THAT(all.remarks, Not(Contains(HasSubstr("no key"))));
  bool said = false;
  for (const Change& change : all.changes) {
    for (const ChangeRow& row : change.rows) said |= row.what == kNetplanPath && row.is == "not readable";
  }
  EXPECT_TRUE(said);
}

TEST(NetworkFiles, ANetworkManagerProfile) {
  const std::vector<WantedFile> files = network_files(*with_plan().plan, NetworkKind::kNetworkManager, true);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].file.mode, 0600U);
  EXPECT_EQ(files[0].file.text, R"(# By cableway up; cableway up --undo removes it.
[connection]
id=cableway-eth1
type=ethernet
interface-name=eth1
autoconnect-priority=10

[ethernet]
mtu=9000

[ipv4]
method=manual
address1=10.10.0.1/24
never-default=true

[ipv6]
method=link-local
never-default=true
)");
}

}  // namespace
}  // namespace cableway::cli
