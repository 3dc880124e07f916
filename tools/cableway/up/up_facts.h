// What `cableway up` finds on the host: the input of up_changes().
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_UP_FACTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_UP_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cableway/system/host_root.h"
#include "tools/cableway/system/program.h"
#include "tools/cableway/up/host_plan.h"
#include "tools/cableway/up/journal.h"

namespace cableway::cli {

inline constexpr char kSessionGroup[] = "cableway";
inline constexpr char kNodeUnit[] = "cablewayd.service";
inline constexpr char kAddressUnit[] = "cableway-addresses.service";
inline constexpr char kSettingsPath[] = "/etc/cableway/cableway.toml";
inline constexpr char kExpectedPath[] = "/etc/cableway/expected.toml";
inline constexpr char kSysctlPath[] = "/etc/sysctl.d/90-cableway.conf";
inline constexpr char kLimitsPath[] = "/etc/security/limits.d/cableway.conf";

// What keeps the host's addresses: the first of these that the host has.
enum class NetworkKind : std::uint8_t {
  kNetplan,         // a file in /etc/netplan
  kNetworkManager,  // a connection profile for each interface
  kIp,              // ip commands, in a unit that runs them at each start where systemd runs
};

struct UpRequest {
  std::optional<HostPlan> plan;         // nullopt: addresses stay as they are
  std::string user;                     // joins the group; empty: nobody
  std::optional<std::string> key_text;  // a key file's contents; nullopt: the key stays as it is
  bool force = false;                   // settings that differ are replaced
  bool nccl = false;                    // NCCL's settings file gets the line of the preset (nccl_file.h)
};

struct InterfaceFacts {
  int mtu = 0;
  bool carrier = false;
  std::vector<std::string> addresses;  // IPv4, with the length of their prefix
  bool up = true;
};

struct UpFacts {
  NetworkKind network = NetworkKind::kIp;
  bool systemd_runs = false;
  bool unit_installed = false;
  bool unit_enabled = false;
  bool unit_active = false;
  bool address_unit_enabled = false;
  bool restart_due = false;  // the settings have changed under the running node (journal.h)
  bool group_exists = false;
  bool user_is_member = false;
  std::string key_path;                                  // as the settings file says, else the default
  std::map<std::string, std::optional<HostFile>> files;  // of all paths that up_changes() may change
  std::set<std::string> unreadable;                      // those of them that only root may read; as if absent
  std::map<std::string, std::string> values;             // of the kernel's parameters that there are
  std::map<std::string, InterfaceFacts> interfaces;      // all that are there
  std::vector<Record> earlier;                           // the journal's: steps of earlier runs
  std::vector<std::string> other_netplans;               // files that name planned interfaces, too
};

// "/proc/sys/net/ipv4/conf/eth1/arp_ignore"
std::string arp_parameter(const std::string& interface, const std::string& name);

// FailedPrecondition: a file cannot be read, or a program that is needed fails. Changes nothing.
// The key's text is to be wiped with wipe_key().
absl::StatusOr<UpFacts> read_up_facts(const UpRequest& request, const HostRoot& root, const ProgramRunner& runner);

void wipe_key(UpFacts& facts);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_UP_FACTS_H_
