#include "tools/cableway/up/up_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/crypto/key_line.h"
#include "core/settings/settings_file.h"
#include "routing/text/bounded_json.h"
#include "tools/cableway/key/key_file.h"
#include "tools/cableway/up/nccl_file.h"
#include "tools/cableway/up/network_files.h"

namespace cableway::cli {
namespace {

using PlainJson = nlohmann::json;

bool any_exists(const HostRoot& root, const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) { return root.exists(path); });
}

bool succeeds(const ProgramRunner& runner, std::vector<std::string> words) {
  return runner({.words = std::move(words)}).succeeded();
}

NetworkKind network_kind(const HostRoot& root, const ProgramRunner& runner) {
  if (root.has_folder("/etc/netplan") && any_exists(root, {"/usr/sbin/netplan", "/usr/bin/netplan"})) {
    return NetworkKind::kNetplan;
  }
  if (any_exists(root, {"/usr/bin/nmcli"})) {
    const ProgramEnd end = runner({.words = {"nmcli", "-t", "-f", "RUNNING", "general"}});
    if (end.succeeded() && absl::StartsWith(end.out, "running")) return NetworkKind::kNetworkManager;
  }
  return NetworkKind::kIp;
}

absl::Status read_file(const HostRoot& root, const std::string& path, UpFacts& facts) {
  const absl::StatusOr<std::optional<HostFile>> file = root.read(path);
  // For --dry-run without root.
  if (absl::IsPermissionDenied(file.status())) {
    facts.unreadable.insert(path);
    facts.files[path] = std::nullopt;
    return absl::OkStatus();
  }
  if (!file.ok()) return file.status();
  facts.files[path] = *file;
  return absl::OkStatus();
}

// The setting key_file of the settings file.
absl::StatusOr<std::string> key_path_in(const std::optional<HostFile>& settings) {
  if (!settings) return std::string(kDefaultKeyFile);
  const absl::StatusOr<std::vector<GivenSetting>> given = parse_settings_file(settings->text, kSettingsPath);
  if (!given.ok()) return given.status();
  for (const GivenSetting& each : *given) {
    if (each.key == "key_file" && absl::StartsWith(each.value, "/")) return each.value;
  }
  return std::string(kDefaultKeyFile);
}

// Of one interface in the output of `ip -j address show`.
InterfaceFacts interface_facts(const PlainJson& link) {
  InterfaceFacts facts;
  facts.mtu = link.value("mtu", 0);
  const PlainJson flags = link.value("flags", PlainJson::array());
  facts.carrier = std::find(flags.begin(), flags.end(), "LOWER_UP") != flags.end();
  facts.up = std::find(flags.begin(), flags.end(), "UP") != flags.end();
  for (const PlainJson& each : link.value("addr_info", PlainJson::array())) {
    if (each.value("family", "") != "inet") continue;
    facts.addresses.push_back(absl::StrCat(each.value("local", ""), "/", each.value("prefixlen", 0)));
  }
  return facts;
}

absl::Status read_interfaces(const ProgramRunner& runner, UpFacts& facts) {
  constexpr routing::JsonBounds kBounds = {.bytes = std::size_t{1} << 20, .depth = 8, .values = 100'000};
  const ProgramCall call{.words = {"ip", "-j", "address", "show"}};
  const ProgramEnd end = runner(call);
  if (!end.succeeded()) return absl::FailedPreconditionError(failure_text(call, end));
  const absl::StatusOr<PlainJson> links = routing::parse_bounded_json(end.out, "ip -j address show", kBounds, "links");
  if (!links.ok()) return links.status();
  try {
    for (const PlainJson& link : *links) {
      if (link.is_object()) facts.interfaces[link.value("ifname", "")] = interface_facts(link);
    }
  } catch (const PlainJson::exception& error) {
    return absl::FailedPreconditionError(absl::StrCat("ip -j address show has an unknown form: ", error.what()));
  }
  return absl::OkStatus();
}

// What earlier plans have changed, as it is now.
absl::Status read_earlier(const HostRoot& root, UpFacts& facts) {
  for (const Record& record : facts.earlier) {
    const auto* const file = std::get_if<FileRecord>(&record);
    if (file != nullptr && facts.files.count(file->path) == 0) {
      if (absl::Status status = read_file(root, file->path, facts); !status.ok()) return status;
    }
    if (const auto* const value = std::get_if<ValueRecord>(&record)) {
      if (const std::optional<std::string> now = root.read_value(value->path)) facts.values[value->path] = *now;
    }
  }
  return absl::OkStatus();
}

absl::Status read_plan_facts(const HostPlan& plan, const HostRoot& root, const ProgramRunner& runner, UpFacts& facts) {
  for (const WantedFile& file : network_files(plan, facts.network, facts.systemd_runs)) {
    if (absl::Status status = read_file(root, file.path, facts); !status.ok()) return status;
  }
  for (const char* path : {kSysctlPath, kExpectedPath}) {
    if (absl::Status status = read_file(root, path, facts); !status.ok()) return status;
  }
  for (const std::string& interface : twin_interfaces(plan)) {
    for (const char* name : {"arp_ignore", "arp_announce"}) {
      const std::string path = arp_parameter(interface, name);
      if (const std::optional<std::string> value = root.read_value(path)) facts.values[path] = *value;
    }
  }
  if (facts.network == NetworkKind::kNetplan) {
    for (const std::string& name : root.names_in("/etc/netplan")) {
      const std::string path = "/etc/netplan/" + name;
      const absl::StatusOr<std::optional<HostFile>> file = root.read(path);
      if (path == kNetplanPath || !absl::EndsWith(name, ".yaml") || !file.ok() || !*file) continue;
      const bool names_one = std::any_of(plan.ports.begin(), plan.ports.end(), [&](const PlannedInterface& port) {
        return absl::StrContains((*file)->text, absl::StrCat(port.interface, ":")) ||
               absl::StrContains((*file)->text, absl::StrCat("\"", port.interface, "\""));
      });
      if (names_one) facts.other_netplans.push_back(path);
    }
  }
  if (absl::Status status = read_earlier(root, facts); !status.ok()) return status;
  return read_interfaces(runner, facts);
}

void read_group(const std::string& user, const HostRoot& root, UpFacts& facts) {
  const absl::StatusOr<std::optional<HostFile>> groups = root.read("/etc/group");
  if (!groups.ok() || !*groups) return;
  for (const absl::string_view line : absl::StrSplit((*groups)->text, '\n')) {
    const std::vector<std::string> fields = absl::StrSplit(line, ':');
    if (fields.size() != 4 || fields[0] != kSessionGroup) continue;
    facts.group_exists = true;
    const std::vector<std::string> members = absl::StrSplit(fields[3], ',');
    facts.user_is_member = std::find(members.begin(), members.end(), user) != members.end();
  }
}

void read_service(const HostRoot& root, const ProgramRunner& runner, UpFacts& facts) {
  facts.systemd_runs = root.has_folder("/run/systemd/system");
  std::vector<std::string> places;
  for (const char* folder : {"/etc", "/usr/lib", "/lib", "/usr/local/lib"}) {
    places.push_back(absl::StrCat(folder, "/systemd/system/", kNodeUnit));
  }
  facts.unit_installed = any_exists(root, places);
  if (!facts.systemd_runs) return;
  facts.unit_enabled = facts.unit_installed && succeeds(runner, {"systemctl", "is-enabled", "--quiet", kNodeUnit});
  facts.unit_active = facts.unit_installed && succeeds(runner, {"systemctl", "is-active", "--quiet", kNodeUnit});
}

}  // namespace

std::string arp_parameter(const std::string& interface, const std::string& name) {
  return absl::StrCat("/proc/sys/net/ipv4/conf/", interface, "/", name);
}

absl::StatusOr<UpFacts> read_up_facts(const UpRequest& request, const HostRoot& root, const ProgramRunner& runner) {
  UpFacts facts;
  for (const char* path : {kSettingsPath, kLimitsPath}) {
    if (absl::Status status = read_file(root, path, facts); !status.ok()) return status;
  }
  if (request.nccl) {
    if (absl::Status status = read_file(root, kNcclFile, facts); !status.ok()) return status;
  }
  const absl::StatusOr<std::string> key_path = key_path_in(facts.files[kSettingsPath]);
  if (!key_path.ok()) return key_path.status();
  facts.key_path = *key_path;
  if (absl::Status status = read_file(root, facts.key_path, facts); !status.ok()) return status;
  // The journal is root's alone; for --dry-run others need it not.
  if (absl::StatusOr<Journal> journal = read_journal(root); journal.ok()) {
    facts.restart_due = journal->restart_due;
    facts.earlier = std::move(journal->records);
  }
  read_group(request.user, root, facts);
  read_service(root, runner, facts);
  if (!request.plan) return facts;
  facts.network = network_kind(root, runner);
  if (facts.network == NetworkKind::kIp && facts.systemd_runs) {
    facts.address_unit_enabled = succeeds(runner, {"systemctl", "is-enabled", "--quiet", kAddressUnit});
  }
  if (absl::Status status = read_plan_facts(*request.plan, root, runner, facts); !status.ok()) return status;
  return facts;
}

void wipe_key(UpFacts& facts) {
  const auto key = facts.files.find(facts.key_path);
  if (key != facts.files.end() && key->second) wipe(key->second->text);
}

}  // namespace cableway::cli
