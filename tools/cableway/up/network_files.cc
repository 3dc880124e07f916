#include "tools/cableway/up/network_files.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/cableway/address_plan/plan_files.h"
#include "tools/cableway/up/plan_parts.h"

namespace cableway::cli {
namespace {

constexpr mode_t kForAll = 0644;
constexpr mode_t kForRoot = 0600;  // netplan warns of others, NetworkManager refuses them

constexpr char kBy[] = "# By cableway up; cableway up --undo removes it.\n";

WantedFile netplan_file(const HostPlan& plan) {
  std::string text = absl::StrCat(kBy, "network:\n  version: 2\n  ethernets:\n");
  for (const PlannedInterface& port : plan.ports) {
    absl::StrAppend(&text, netplan_entry(port.interface, port.address, plan.mtu));
  }
  return {kNetplanPath, {text, kForRoot}, file_part(kNetplanPath)};
}

// One profile: nm-settings-keyfile(5). It has no UUID: NetworkManager makes one of the file's name.
WantedFile profile_file(const PlannedInterface& port, int mtu) {
  const std::string path =
      absl::StrCat("/etc/NetworkManager/system-connections/cableway-", port.interface, ".nmconnection");
  return {path,
          {absl::StrCat(kBy, "[connection]\nid=cableway-", port.interface, "\ntype=ethernet\ninterface-name=",
                        port.interface, "\nautoconnect-priority=10\n\n[ethernet]\nmtu=", mtu,
                        "\n\n[ipv4]\nmethod=manual\naddress1=", port.address,
                        "\nnever-default=true\n\n[ipv6]\nmethod=link-local\nnever-default=true\n"),
           kForRoot},
          file_part(path)};
}

// A dash: one interface that is not there keeps no other from its address. "%" is special in units, but no interface
// has one in its name (routing/topology/port_address.h).
WantedFile address_unit(const HostPlan& plan) {
  std::string text = absl::StrCat(kBy, "[Unit]\nDescription=Addresses of Cableway's cables\nBefore=", kNodeUnit,
                                  "\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\n");
  for (const PlannedInterface& port : plan.ports) {
    const std::string word = absl::StrCat("\"", absl::StrReplaceAll(port.interface, {{"$", "$$"}}), "\"");
    absl::StrAppend(&text, "ExecStart=-/sbin/ip link set dev ", word, " mtu ", plan.mtu,
                    " up\nExecStart=-/sbin/ip address replace ", port.address, " dev ", word, "\n");
  }
  absl::StrAppend(&text, "\n[Install]\nWantedBy=multi-user.target\n");
  const std::string path = absl::StrCat("/etc/systemd/system/", kAddressUnit);
  return {path, {text, kForAll}, file_part(path)};
}

}  // namespace

std::vector<WantedFile> network_files(const HostPlan& plan, NetworkKind network, bool systemd_runs) {
  std::vector<WantedFile> files;
  switch (network) {
    case NetworkKind::kNetplan:
      files.push_back(netplan_file(plan));
      break;
    case NetworkKind::kNetworkManager:
      for (const PlannedInterface& port : plan.ports) files.push_back(profile_file(port, plan.mtu));
      break;
    case NetworkKind::kIp:
      if (systemd_runs) files.push_back(address_unit(plan));
      break;
  }
  return files;
}

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

WantedFile sysctl_file(const HostPlan& plan) {
  std::string text = absl::StrCat(kBy, "# Functions of one plug must not answer ARP for each other.\n");
  for (const std::string& interface : twin_interfaces(plan)) {
    for (const std::string& setting : arp_settings(interface)) absl::StrAppend(&text, setting, "\n");
  }
  return {kSysctlPath, {text, kForAll}, file_part(kSysctlPath)};
}

}  // namespace cableway::cli
