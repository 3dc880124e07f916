// The files of an address plan: one or two per host, the cabling list, and the expected topology.
//
//     netplan  HOST.yaml for /etc/netplan
//     nmcli    HOST.sh, a shell script that adds or changes one connection per interface
//     ip       HOST.sh, a shell script whose effect lasts until the host's next start
//     all      cabling.txt, expected.toml
//
// Both scripts may run again: they set the same state. Where a plug has several functions, Linux by default lets one
// answer ARP for the other's address (doctor's ARP_ANSWERED_FOR_TWIN). arp_ignore=1 and arp_announce=2 of its
// interfaces prevent that: the ip script sets them, and netplan and nmcli, which cannot, get HOST.conf for
// /etc/sysctl.d.
//
// IPv6 link-local addresses stay on, so that nodes still find a cable that is in a wrong plug, whose addresses
// do not fit.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLAN_FILES_H_
#define CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLAN_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/cableway/address_plan/address_plan.h"

namespace cableway::cli {

enum class PlanFormat : std::uint8_t { kNetplan, kNmcli, kIp };

struct PlanFile {
  std::string name;  // without a folder; valid for a file, and unique among those of a plan
  std::string text;
};

inline constexpr char kCablingFile[] = "cabling.txt";
inline constexpr char kExpectedFile[] = "expected.toml";

// Those of the hosts in their order, then kCablingFile and kExpectedFile. Hosts without a cable have none. Pure.
std::vector<PlanFile> plan_files(const AddressPlan& plan, PlanFormat format, int mtu);

// An interface's entry below "ethernets:" of a netplan file. `address`: with its prefix's length.
std::string netplan_entry(const std::string& interface, const std::string& address, int mtu);
// The parameters that keep an interface from answering ARP for others, as in sysctl.d(5):
// "net.ipv4.conf.eth1.arp_..=1".
std::vector<std::string> arp_settings(const std::string& interface);

// A planned port of a host, and the other end of its cable.
struct HostPort {
  const PlannedLink* link;
  const PlannedPort* here;
  const PlannedPort* there;
};
// By host, in the order of their subnets. The plan outlives the result.
std::map<std::string, std::vector<HostPort>> ports_by_host(const AddressPlan& plan);

// "plug p0 of spark-0 to plug p1 of spark-1"; interfaces where plugs have no name.
std::string cabling_text(const PlannedCable& cable);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLAN_FILES_H_
