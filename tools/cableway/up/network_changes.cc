#include "tools/cableway/up/network_changes.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace cableway::cli {
namespace {

std::string mode_text(mode_t mode) {
  return absl::StrFormat("mode %04o", mode);
}

std::string text_size(const std::string& text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  return absl::StrCat(lines, lines == 1 ? " line" : " lines");
}

std::string file_now(const std::optional<HostFile>& present, const HostFile& wanted) {
  if (!present) return "absent";
  return present->text == wanted.text ? mode_text(present->mode) : "other content";
}

// What an interface that is there lacks now.
struct Lack {
  const PlannedInterface* port;
  const InterfaceFacts* now;
  bool address = false;
  bool mtu = false;
};

std::vector<Lack> lacks_of(const HostPlan& plan, const UpFacts& facts) {
  std::vector<Lack> lacks;
  for (const PlannedInterface& port : plan.ports) {
    const auto found = facts.interfaces.find(port.interface);
    if (found == facts.interfaces.end()) continue;
    const InterfaceFacts& now = found->second;
    // Other than ip, they set up an interface when it has a carrier.
    if (facts.network != NetworkKind::kIp && !now.carrier) continue;
    const bool has_address = std::find(now.addresses.begin(), now.addresses.end(), port.address) != now.addresses.end();
    const Lack lack{&port, &now, !has_address, now.mtu != plan.mtu};
    if (lack.address || lack.mtu) lacks.push_back(lack);
  }
  return lacks;
}

void add_rows(const HostPlan& plan, const Lack& lack, std::vector<ChangeRow>& rows) {
  const std::string& interface = lack.port->interface;
  if (lack.mtu)
    rows.push_back({absl::StrCat("MTU of ", interface), absl::StrCat(lack.now->mtu), absl::StrCat(plan.mtu)});
  if (!lack.address) return;
  const std::string now = lack.now->addresses.empty() ? "none" : absl::StrJoin(lack.now->addresses, ", ");
  rows.push_back({absl::StrCat("address of ", interface), now, lack.port->address});
}

using Words = std::vector<std::string>;

// A configuration that is gone may leave what it has set, so these take it back.
Words address_undo(const Lack& lack) {
  return lack.address ? Words{"ip", "address", "del", lack.port->address, "dev", lack.port->interface} : Words{};
}
Words mtu_undo(const Lack& lack) {
  return lack.mtu ? Words{"ip", "link", "set", "dev", lack.port->interface, "mtu", absl::StrCat(lack.now->mtu)}
                  : Words{};
}

Change hidden_command(std::vector<std::string> run, std::vector<std::string> undo) {
  return {{}, CommandChange{std::move(run), std::move(undo)}};
}

void run_ip(const HostPlan& plan, const std::vector<Lack>& lacks, std::vector<Change>& changes) {
  for (const Lack& lack : lacks) {
    const std::string& interface = lack.port->interface;
    changes.push_back(
        hidden_command({"ip", "link", "set", "dev", interface, "mtu", absl::StrCat(plan.mtu), "up"}, mtu_undo(lack)));
    if (!lack.address) continue;
    changes.push_back(
        hidden_command({"ip", "address", "replace", lack.port->address, "dev", interface}, address_undo(lack)));
  }
}

void run_network_manager(const HostPlan& plan, const UpFacts& facts, bool files_changed, const std::vector<Lack>& lacks,
                         std::vector<Change>& changes) {
  if (files_changed) changes.push_back(hidden_command({"nmcli", "connection", "reload"}, {}));
  for (const PlannedInterface& port : plan.ports) {
    const bool lacks_some =
        std::any_of(lacks.begin(), lacks.end(), [&](const Lack& lack) { return lack.port == &port; });
    const auto now = facts.interfaces.find(port.interface);
    const bool has_cable = now != facts.interfaces.end() && now->second.carrier;
    if (!has_cable || !(lacks_some || files_changed)) continue;
    changes.push_back(hidden_command({"nmcli", "connection", "up", absl::StrCat("cableway-", port.interface)}, {}));
  }
}

// What has to be done after a file has been restored.
std::vector<std::string> reload_words(NetworkKind kind) {
  switch (kind) {
    case NetworkKind::kNetplan:
      return {"netplan", "apply"};
    case NetworkKind::kNetworkManager:
      return {"nmcli", "connection", "reload"};
    case NetworkKind::kIp:
      break;
  }
  return {"systemctl", "daemon-reload"};
}

void add_network_remarks(const HostPlan& plan, const UpFacts& facts, UpChanges& all) {
  for (const std::string& path : facts.other_netplans) {
    all.remarks.push_back(absl::StrCat(path, " has interfaces of the plan, too: netplan merges both files; remove ",
                                       "what is not to stay from it"));
  }
  for (const PlannedInterface& port : plan.ports) {
    if (facts.interfaces.count(port.interface) != 0) continue;
    all.remarks.push_back(absl::StrCat(port.interface, " is not on this host now: its address is not set yet"));
  }
  if (facts.network == NetworkKind::kIp && !facts.systemd_runs) {
    all.remarks.push_back(
        "no netplan, NetworkManager or systemd here: addresses last until the host's next start; run cableway up then");
  }
}

}  // namespace

bool add_file(const UpFacts& facts, const WantedFile& wanted, std::vector<Change>& changes) {
  const auto found = facts.files.find(wanted.path);
  const std::optional<HostFile> present = found == facts.files.end() ? std::nullopt : found->second;
  if (present && *present == wanted.file) return false;
  const bool unreadable = facts.unreadable.count(wanted.path) != 0;
  const ChangeRow row{wanted.path, unreadable ? "not readable" : file_now(present, wanted.file),
                      absl::StrCat(text_size(wanted.file.text), ", ", mode_text(wanted.file.mode))};
  changes.push_back({{row}, FileChange{wanted.path, wanted.file}});
  return true;
}

void add_sysctl(const HostPlan& plan, const UpFacts& facts, UpChanges& all) {
  const std::vector<std::string> twins = twin_interfaces(plan);
  if (twins.empty()) return;
  add_file(facts, sysctl_file(plan), all.changes);
  for (const std::string& interface : twins) {
    for (const auto& [name, wanted] : {std::pair("arp_ignore", "1"), std::pair("arp_announce", "2")}) {
      const std::string path = arp_parameter(interface, name);
      const auto now = facts.values.find(path);
      if (now == facts.values.end() || now->second == wanted) continue;
      const std::string what = absl::StrCat(name, " of ", interface);
      all.changes.push_back({{{what, now->second, wanted}}, ValueChange{path, wanted}});
    }
  }
}

void add_network(const HostPlan& plan, const UpFacts& facts, UpChanges& all) {
  std::vector<Change> files;
  for (const WantedFile& file : network_files(plan, facts.network, facts.systemd_runs)) add_file(facts, file, files);
  const std::vector<Lack> lacks = lacks_of(plan, facts);
  const bool files_changed = !files.empty();
  if (files_changed) all.changes.push_back(hidden_command({}, reload_words(facts.network)));
  all.changes.insert(all.changes.end(), files.begin(), files.end());
  if (facts.network == NetworkKind::kIp && facts.systemd_runs) {
    if (files_changed) all.changes.push_back(hidden_command({"systemctl", "daemon-reload"}, {}));
    if (!facts.address_unit_enabled) {
      all.changes.push_back(
          {{{kAddressUnit, "not enabled", "enabled"}},
           CommandChange{{"systemctl", "enable", kAddressUnit}, {"systemctl", "disable", kAddressUnit}}});
    }
  }
  for (const Lack& lack : lacks) {
    Change shown = hidden_command({}, {});
    add_rows(plan, lack, shown.rows);
    all.changes.push_back(std::move(shown));
  }
  if (facts.network == NetworkKind::kIp) run_ip(plan, lacks, all.changes);
  if (facts.network == NetworkKind::kNetworkManager)
    run_network_manager(plan, facts, files_changed, lacks, all.changes);
  if (facts.network == NetworkKind::kNetplan && (files_changed || !lacks.empty())) {
    all.changes.push_back(hidden_command({"netplan", "apply"}, {}));
  }
  if (facts.network != NetworkKind::kIp) {
    for (const Lack& lack : lacks) {
      all.changes.push_back(hidden_command({}, mtu_undo(lack)));
      all.changes.push_back(hidden_command({}, address_undo(lack)));
    }
  }
  add_network_remarks(plan, facts, all);
}

}  // namespace cableway::cli
