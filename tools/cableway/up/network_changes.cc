#include "tools/cableway/up/network_changes.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/cableway/up/plan_parts.h"

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
  bool up = false;
};

std::vector<Lack> lacks_of(const HostPlan& plan, const UpFacts& facts) {
  std::vector<Lack> lacks;
  for (const PlannedInterface& port : plan.ports) {
    const auto found = facts.interfaces.find(port.interface);
    if (found == facts.interfaces.end()) continue;
    const InterfaceFacts& now = found->second;
    // Other than ip, they set up an interface when it has a carrier.
    const bool waits = facts.network != NetworkKind::kIp && !now.carrier;
    const bool has_address = std::find(now.addresses.begin(), now.addresses.end(), port.address) != now.addresses.end();
    const Lack lack{&port, &now, !has_address && !waits, now.mtu != plan.mtu && !waits, !now.up};
    if (lack.address || lack.mtu || lack.up) lacks.push_back(lack);
  }
  return lacks;
}

void add_rows(const HostPlan& plan, const Lack& lack, std::vector<ChangeRow>& rows) {
  const std::string& interface = lack.port->interface;
  if (lack.up) rows.push_back({absl::StrCat("state of ", interface), "down", "up"});
  if (lack.mtu)
    rows.push_back({absl::StrCat("MTU of ", interface), absl::StrCat(lack.now->mtu), absl::StrCat(plan.mtu)});
  if (!lack.address) return;
  const std::string now = lack.now->addresses.empty() ? "none" : absl::StrJoin(lack.now->addresses, ", ");
  rows.push_back({absl::StrCat("address of ", interface), now, lack.port->address});
}

using Words = std::vector<std::string>;

Change hidden_command(Words run, Words undo, PlanPart part = {}) {
  return {{}, CommandChange{std::move(run), std::move(undo)}, std::move(part)};
}

// A configuration that is gone may leave what it has set, so these take it back.
void add_undo_of_link(const Lack& lack, std::vector<Change>& changes) {
  const std::string& interface = lack.port->interface;
  if (lack.up) {
    changes.push_back(hidden_command({}, {"ip", "link", "set", "dev", interface, "down"}, state_part(interface)));
  }
  if (!lack.mtu) return;
  changes.push_back(hidden_command({}, {"ip", "link", "set", "dev", interface, "mtu", absl::StrCat(lack.now->mtu)},
                                   mtu_part(interface)));
}

void add_undo_of_address(const Lack& lack, std::vector<Change>& changes) {
  const PlannedInterface& port = *lack.port;
  if (!lack.address) return;
  changes.push_back(
      hidden_command({}, {"ip", "address", "del", port.address, "dev", port.interface}, address_part(port)));
}

void run_ip(const HostPlan& plan, const std::vector<Lack>& lacks, std::vector<Change>& changes) {
  for (const Lack& lack : lacks) {
    const std::string& interface = lack.port->interface;
    add_undo_of_link(lack, changes);
    changes.push_back(hidden_command({"ip", "link", "set", "dev", interface, "mtu", absl::StrCat(plan.mtu), "up"}, {}));
    if (!lack.address) continue;
    add_undo_of_address(lack, changes);
    changes.push_back(hidden_command({"ip", "address", "replace", lack.port->address, "dev", interface}, {}));
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

void add_network_remarks(const HostPlan& plan, const UpFacts& facts, UpChanges& all) {
  for (const std::string& path : facts.other_netplans) {
    all.remarks.push_back(absl::StrCat(path, " has interfaces of the plan, too: netplan merges both files; remove ",
                                       "what is not to stay from it"));
  }
  for (const PlannedInterface& port : plan.ports) {
    const auto now = facts.interfaces.find(port.interface);
    if (now == facts.interfaces.end()) {
      all.remarks.push_back(absl::StrCat(port.interface, " is not on this host now: its address is not set yet"));
    } else if (!now->second.carrier) {
      const char* const why = now->second.up ? " has no carrier now: no cable, or a port there that is down"
                                             : " is down now: it is set up, and has its address once it has a cable";
      all.remarks.push_back(absl::StrCat(port.interface, why));
    }
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
  changes.push_back({{row}, FileChange{wanted.path, wanted.file}, wanted.part});
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
      all.changes.push_back({{{what, now->second, wanted}}, ValueChange{path, wanted}, file_part(path)});
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
           CommandChange{{"systemctl", "enable", kAddressUnit}, {"systemctl", "disable", kAddressUnit}},
           unit_part()});
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
  const bool lacks_more =
      std::any_of(lacks.begin(), lacks.end(), [](const Lack& each) { return each.address || each.mtu; });
  if (facts.network == NetworkKind::kNetplan && (files_changed || lacks_more)) {
    all.changes.push_back(hidden_command({"netplan", "apply"}, {}));
  }
  if (facts.network != NetworkKind::kIp) {
    for (const Lack& lack : lacks) {
      add_undo_of_link(lack, all.changes);
      if (lack.up) all.changes.push_back(hidden_command({"ip", "link", "set", "dev", lack.port->interface, "up"}, {}));
      add_undo_of_address(lack, all.changes);
    }
  }
  add_network_remarks(plan, facts, all);
}

}  // namespace cableway::cli
