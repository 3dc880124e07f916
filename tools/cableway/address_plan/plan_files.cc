#include "tools/cableway/address_plan/plan_files.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/shell_text.h"
#include "routing/topology_io/topology_file.h"
#include "tools/cableway/expectation/fitting_tuner.h"
#include "tools/cableway/text/sysctl_name.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

using HostPorts = std::vector<HostPort>;

std::string with_bits(const AddressPlan& plan, const PlannedPort& port) {
  return absl::StrCat(port.address, "/", plan.subnet_bits);
}

std::string link_comment(const HostPort& port) {
  return absl::StrCat("# cable ", port.link->name, ", to ", port.there->host, " ", port.there->interface, " (",
                      port.there->address, ")");
}

// Interfaces of plugs with several functions, whose ARP answers may be mixed up.
std::vector<std::string> twins_of(const HostPorts& ports) {
  std::map<std::string, std::size_t> functions;
  for (const HostPort& port : ports) ++functions[port.here->plug];
  std::vector<std::string> twins;
  for (const HostPort& port : ports) {
    if (!port.here->plug.empty() && functions[port.here->plug] > 1) twins.push_back(port.here->interface);
  }
  return twins;
}

// For the node's settings: CABLEWAY_PORTS=a,b. The tuner only where it is another than the default, as given it counts
// for versions of NCCL, too, with which the default does not.
std::string head_comment(const AddressPlan& plan, const std::string& host, const HostPorts& ports,
                         const std::string& usage) {
  const std::string interfaces = absl::StrJoin(
      ports, ",", [](std::string* out, const HostPort& port) { absl::StrAppend(out, port.here->interface); });
  const std::optional<TunerSetting> tuner = fitting_tuner(plan.expected);
  return absl::StrCat(
      "# Addresses of the cables of ", host, ", by cableway plan addresses. ", usage,
      "\n# Its node: CABLEWAY_NODE=", host, " ", routing::shell_quoted(absl::StrCat("CABLEWAY_PORTS=", interfaces)),
      tuner && *tuner != Settings().tuner ? absl::StrCat(" CABLEWAY_TUNER=", tuner_name(*tuner)) : "", "\n");
}

std::string netplan_text(const AddressPlan& plan, const std::string& host, const HostPorts& ports, int mtu) {
  std::string text = head_comment(
      plan, host, ports,
      absl::StrCat("Install it:\n#   install -m 600 ", host, ".yaml /etc/netplan/90-cableway.yaml && netplan apply"));
  absl::StrAppend(&text, "network:\n  version: 2\n  ethernets:\n");
  for (const HostPort& port : ports) {
    absl::StrAppend(&text, "    ", link_comment(port), "\n",
                    netplan_entry(port.here->interface, with_bits(plan, *port.here), mtu));
  }
  return text;
}

constexpr char kNmcliFunction[] =
    R"sh(set -eu
cable() {
  name="cableway-$1"
  nmcli -g connection.id connection show "$name" > /dev/null 2>&1 ||
    nmcli connection add type ethernet con-name "$name" ifname "$1"
  nmcli connection modify "$name" connection.interface-name "$1" connection.autoconnect yes \
    connection.autoconnect-priority 10 802-3-ethernet.mtu "$3" ipv4.method manual ipv4.addresses "$2" \
    ipv4.never-default yes ipv6.method link-local ipv6.never-default yes
  nmcli connection up "$name" || echo "$1 comes up with its cable" >&2
}
)sh";

std::string nmcli_text(const AddressPlan& plan, const std::string& host, const HostPorts& ports, int mtu) {
  std::string text = absl::StrCat(
      "#!/bin/sh\n", head_comment(plan, host, ports, absl::StrCat("Run it as root: sh ", host, ".sh")), kNmcliFunction);
  for (const HostPort& port : ports) {
    absl::StrAppend(&text, link_comment(port), "\ncable ", routing::shell_quoted(port.here->interface), " ",
                    with_bits(plan, *port.here), " ", mtu, "\n");
  }
  return text;
}

std::string ip_text(const AddressPlan& plan, const std::string& host, const HostPorts& ports, int mtu) {
  std::string text = absl::StrCat(
      "#!/bin/sh\n",
      head_comment(
          plan, host, ports,
          absl::StrCat("Run it as root: sh ", host,
                       ".sh\n# It lasts until the next start, or until NetworkManager changes the interface.")),
      "set -eu\n");
  for (const HostPort& port : ports) {
    const std::string interface = routing::shell_quoted(port.here->interface);
    absl::StrAppend(&text, link_comment(port), "\nip link set dev ", interface, " mtu ", mtu,
                    " up\nip address replace ", with_bits(plan, *port.here), " dev ", interface, "\n");
  }
  const std::vector<std::string> twins = twins_of(ports);
  if (!twins.empty()) text += "# Functions of one plug must not answer ARP for each other.\n";
  for (const std::string& interface : twins) {
    for (const std::string& setting : arp_settings(interface)) {
      absl::StrAppend(&text, "sysctl -q -w ", routing::shell_quoted(setting), "\n");
    }
  }
  return text;
}

std::string sysctl_text(const std::string& host, const std::vector<std::string>& twins) {
  std::string text = absl::StrCat(
      "# For ", host,
      ", by cableway plan addresses: functions of one plug must not answer ARP for each other. Install it:\n",
      "#   install -m 644 ", host, ".conf /etc/sysctl.d/90-cableway.conf && sysctl --system\n");
  for (const std::string& interface : twins) {
    for (const std::string& setting : arp_settings(interface)) absl::StrAppend(&text, setting, "\n");
  }
  return text;
}

std::string place_text(const PlannedCable& cable, PlannedPort PlannedLink::*end) {
  const PlannedPort& first = cable.links.front().*end;
  if (!first.plug.empty()) return absl::StrCat("plug ", first.plug, " of ", first.host);
  return absl::StrCat(first.interface, " of ", first.host);
}

std::string cabling_file(const AddressPlan& plan) {
  std::string text = "Cables:\n";
  for (const PlannedCable& cable : plan.cables) {
    absl::StrAppend(&text, "  ", cabling_text(cable), "\n");
    if (!cable.left_over.empty()) {
      absl::StrAppend(&text, "    without an address, as the other plug has fewer functions: ",
                      absl::StrJoin(cable.left_over, ", "), "\n");
    }
  }
  TextTable table(
      {{"cable"}, {"from"}, {"plug"}, {"interface"}, {"address"}, {"to"}, {"plug"}, {"interface"}, {"address"}},
      kAnyColumns);
  for (const PlannedCable& cable : plan.cables) {
    for (const PlannedLink& link : cable.links) {
      table.add_row({link.name, link.from.host, link.from.plug, link.from.interface, with_bits(plan, link.from),
                     link.to.host, link.to.plug, link.to.interface, with_bits(plan, link.to)});
    }
  }
  return absl::StrCat(text, "\n", table.text());
}

}  // namespace

// The names of interfaces have no character that needs escaping in double quotes (port_address.h).
std::string netplan_entry(const std::string& interface, const std::string& address, int mtu) {
  return absl::StrCat("    \"", interface,
                      "\":\n      dhcp4: false\n      dhcp6: false\n      link-local: [ipv6]\n      optional: true\n",
                      "      mtu: ", mtu, "\n      addresses: [\"", address, "\"]\n");
}

std::vector<std::string> arp_settings(const std::string& interface) {
  const std::string name = ipv4_sysctl_name(interface);
  return {absl::StrCat(name, ".arp_ignore=1"), absl::StrCat(name, ".arp_announce=2")};
}

std::string cabling_text(const PlannedCable& cable) {
  return absl::StrCat(place_text(cable, &PlannedLink::from), " to ", place_text(cable, &PlannedLink::to));
}

std::map<std::string, HostPorts> ports_by_host(const AddressPlan& plan) {
  std::map<std::string, HostPorts> ports;
  for (const PlannedCable& cable : plan.cables) {
    for (const PlannedLink& link : cable.links) {
      ports[link.from.host].push_back({&link, &link.from, &link.to});
      ports[link.to.host].push_back({&link, &link.to, &link.from});
    }
  }
  return ports;
}

std::vector<PlanFile> plan_files(const AddressPlan& plan, PlanFormat format, int mtu) {
  std::vector<PlanFile> files;
  const std::map<std::string, HostPorts> by_host = ports_by_host(plan);
  for (const std::string& host : plan.hosts) {
    const auto found = by_host.find(host);
    if (found == by_host.end()) continue;
    const HostPorts& ports = found->second;
    switch (format) {
      case PlanFormat::kNetplan:
        files.push_back({absl::StrCat(host, ".yaml"), netplan_text(plan, host, ports, mtu)});
        break;
      case PlanFormat::kNmcli:
        files.push_back({absl::StrCat(host, ".sh"), nmcli_text(plan, host, ports, mtu)});
        break;
      case PlanFormat::kIp:
        files.push_back({absl::StrCat(host, ".sh"), ip_text(plan, host, ports, mtu)});
        break;
    }
    const std::vector<std::string> twins = twins_of(ports);
    if (format != PlanFormat::kIp && !twins.empty()) {
      files.push_back({absl::StrCat(host, ".conf"), sysctl_text(host, twins)});
    }
  }
  files.push_back({kCablingFile, cabling_file(plan)});
  files.push_back(
      {kExpectedFile,
       absl::StrCat("# The cabling that cableway plan addresses planned. CABLEWAY_EXPECT names this file for "
                    "cableway topology and doctor.\n",
                    routing::to_topology_file(plan.expected))});
  return files;
}

}  // namespace cableway::cli
