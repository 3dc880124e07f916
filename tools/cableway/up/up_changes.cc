#include "tools/cableway/up/up_changes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/crypto/key_line.h"
#include "core/crypto/key_ring.h"
#include "core/settings/settings_file.h"
#include "tools/cableway/expectation/fitting_tuner.h"
#include "tools/cableway/key/key_file.h"
#include "tools/cableway/up/earlier_plan.h"
#include "tools/cableway/up/nccl_file.h"
#include "tools/cableway/up/network_changes.h"
#include "tools/cableway/up/settings_edit.h"

namespace cableway::cli {
namespace {

constexpr mode_t kReadable = 0644;
constexpr char kTunerKey[] = "tuner";

constexpr char kNewSettings[] =
    "# Settings of Cableway on this host; `cablewayd --sample-config` prints all there are.\n";
constexpr char kLimits[] =
    "# By cableway up: RDMA locks the memory that it registers, and jobs of these users register some.\n"
    "@cableway - memlock unlimited\n";

void add_group(const UpRequest& request, const UpFacts& facts, UpChanges& all) {
  if (!facts.group_exists) {
    all.changes.push_back({{{absl::StrCat("group ", kSessionGroup), "absent", "there"}},
                           CommandChange{{"groupadd", "--system", kSessionGroup}, {"groupdel", kSessionGroup}}});
  }
  if (request.user.empty() || facts.user_is_member) return;
  all.changes.push_back(
      {{{absl::StrCat("user ", request.user), "no member", absl::StrCat("in group ", kSessionGroup)}},
       CommandChange{{"gpasswd", "-a", request.user, kSessionGroup}, {"gpasswd", "-d", request.user, kSessionGroup}}});
  all.remarks.push_back(absl::StrCat("user ", request.user, " is in the group after the next login"));
}

// Whether a key file is there in the end.
absl::StatusOr<bool> add_key(const UpRequest& request, const UpFacts& facts, UpChanges& all) {
  const std::optional<HostFile>& present = facts.files.at(facts.key_path);
  if (facts.unreadable.count(facts.key_path) != 0) return true;
  constexpr mode_t kOthers = 077;
  if (present && (present->mode & kOthers) != 0) {
    // A command, since the journal keeps the earlier text of files; and an undo must not make the key readable again.
    all.changes.push_back({{{facts.key_path, absl::StrFormat("mode %04o", present->mode), "mode 0600"}},
                           CommandChange{{"chmod", "600", facts.key_path}, {}}});
  }
  if (!request.key_text) {
    if (!present) {
      all.remarks.push_back(
          "the node has no key: cableway key new on one host, cableway key copy to the others, then "
          "cableway up again");
    }
    return present.has_value();
  }
  if (!present) {
    all.changes.push_back(
        {{{facts.key_path, "absent", "the key"}}, FileChange{facts.key_path, {*request.key_text, kKeyMode}}});
    return true;
  }
  const absl::StatusOr<KeyRing> wanted = KeyRing::parse(*request.key_text);
  const absl::StatusOr<KeyRing> now = KeyRing::parse(present->text);
  if (wanted.ok() && now.ok() && *wanted == *now) return true;
  return absl::FailedPreconditionError(
      absl::StrCat(facts.key_path, " has another key; docs/security.md has the steps of a change of the key"));
}

// The default is written over another value only, as a value that is given counts for versions of NCCL, too, with which
// the default does not. A tuner that is off stays off. A malformed file is edit_settings()'s to report.
bool writes_tuner(TunerSetting fitting, const UpFacts& facts) {
  const std::optional<HostFile>& present = facts.files.at(kSettingsPath);
  const absl::StatusOr<std::vector<GivenSetting>> given =
      parse_settings_file(present ? present->text : "", kSettingsPath);
  if (!given.ok()) return false;
  const auto now = std::find_if(given->begin(), given->end(), [](const auto& each) { return each.key == kTunerKey; });
  return now == given->end() ? fitting != Settings().tuner : now->value != tuner_name(TunerSetting::kOff);
}

std::vector<WantedSetting> wanted_settings(const UpRequest& request, const UpFacts& facts, bool has_key) {
  std::vector<WantedSetting> wanted;
  if (request.plan) {
    std::vector<std::string> interfaces;
    for (const PlannedInterface& port : request.plan->ports) interfaces.push_back(port.interface);
    wanted.push_back({"node", request.plan->host});
    wanted.push_back({"ports", absl::StrJoin(interfaces, ",")});
    wanted.push_back({"expect", kExpectedPath});
    if (request.plan->tuner && writes_tuner(*request.plan->tuner, facts)) {
      wanted.push_back({kTunerKey, tuner_name(*request.plan->tuner)});
    }
  }
  if (has_key) wanted.push_back({"key_file", facts.key_path});
  return wanted;
}

// Whether the file is changed.
absl::StatusOr<bool> add_settings(const UpRequest& request, const UpFacts& facts, bool has_key, UpChanges& all) {
  const std::optional<HostFile>& present = facts.files.at(kSettingsPath);
  const std::vector<WantedSetting> wanted = wanted_settings(request, facts, has_key);
  absl::StatusOr<SettingsEdit> edit =
      edit_settings(present ? present->text : kNewSettings, kSettingsPath, wanted, request.force);
  if (!edit.ok()) return edit.status();
  if (edit->changes.empty()) return false;
  Change change{{}, FileChange{kSettingsPath, {std::move(edit->text), present ? present->mode : kReadable}}};
  for (const SettingChange& each : edit->changes) {
    change.rows.push_back({absl::StrCat("setting ", each.key), each.before.value_or("not set"), each.after});
  }
  all.changes.push_back(std::move(change));
  return true;
}

absl::Status add_nccl(const UpFacts& facts, UpChanges& all) {
  const std::optional<HostFile>& present = facts.files.at(kNcclFile);
  absl::StatusOr<std::optional<std::string>> text = with_env_plugin(present ? present->text : "");
  if (!text.ok()) return text.status();
  if (!*text) return absl::OkStatus();
  const bool unreadable = facts.unreadable.count(kNcclFile) != 0;
  all.changes.push_back(
      {{{absl::StrCat(kEnvPluginVariable, " in ", kNcclFile), unreadable ? "not readable" : "not set", kEnvPlugin}},
       FileChange{kNcclFile, {**std::move(text), present ? present->mode : kReadable}}});
  all.remarks.push_back(absl::StrCat(kNcclFile, ": with ", kEnvPluginVariable,
                                     " jobs need no environment variables (NCCL 2.28.7 and later); every host of a job "
                                     "needs the line, so run cableway up --nccl on all"));
  return absl::OkStatus();
}

void add_service(const UpFacts& facts, bool needs_restart, UpChanges& all) {
  if (!facts.unit_installed) {
    all.remarks.push_back(absl::StrCat(kNodeUnit, " is not installed: docs/settings.md says how"));
    return;
  }
  if (!facts.systemd_runs) {
    all.remarks.push_back("systemd does not run here: start cablewayd yourself");
    return;
  }
  if (!facts.unit_enabled) {
    all.changes.push_back({{{kNodeUnit, "not enabled", "enabled"}},
                           CommandChange{{"systemctl", "enable", kNodeUnit}, {"systemctl", "disable", kNodeUnit}}});
  }
  if (!facts.unit_active) {
    all.changes.push_back({{{kNodeUnit, "not running", "running"}},
                           CommandChange{{"systemctl", "start", kNodeUnit}, {"systemctl", "stop", kNodeUnit}, true}});
  } else if (needs_restart) {
    all.changes.push_back({{{kNodeUnit, "running", "restarted, which ends this host's flows"}},
                           CommandChange{{"systemctl", "restart", kNodeUnit}, {}, true}});
  }
}

}  // namespace

absl::StatusOr<UpChanges> up_changes(const UpRequest& request, const UpFacts& facts) {
  UpChanges all;
  add_group(request, facts, all);
  add_file(facts, {kLimitsPath, {kLimits, kReadable}}, all.changes);
  if (request.nccl) {
    if (absl::Status status = add_nccl(facts, all); !status.ok()) return status;
  }
  if (request.plan) {
    add_earlier_plan(*request.plan, facts, all);
    add_sysctl(*request.plan, facts, all);
    add_network(*request.plan, facts, all);
  }
  // Taken back, a node that ran before starts again with its earlier settings.
  UpChanges node;
  if (request.plan) add_file(facts, {kExpectedPath, {request.plan->expected, kReadable}}, node.changes);
  const absl::StatusOr<bool> has_key = add_key(request, facts, node);
  if (!has_key.ok()) return has_key.status();
  const absl::StatusOr<bool> settings_changed = add_settings(request, facts, *has_key, node);
  if (!settings_changed.ok()) return settings_changed.status();
  if (*settings_changed && facts.unit_active) {
    all.changes.push_back({{}, CommandChange{{}, {"systemctl", "try-restart", kNodeUnit}}});
  }
  // Moved, so that the key has no further copy.
  std::move(node.changes.begin(), node.changes.end(), std::back_inserter(all.changes));
  all.remarks.insert(all.remarks.end(), node.remarks.begin(), node.remarks.end());
  add_service(facts, *settings_changed || facts.restart_due, all);
  return all;
}

void wipe_key(const std::string& key_path, UpChanges& all) {
  for (Change& change : all.changes) {
    auto* const file = std::get_if<FileChange>(&change.action);
    if (file != nullptr && file->path == key_path) wipe(file->wanted.text);
  }
}

}  // namespace cableway::cli
