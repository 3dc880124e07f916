// The settings of a node, the plugin and the command line: from options, the environment and the settings file, in this
// order of precedence. docs/settings.md documents the table of core/settings/settings_table.h.
#ifndef CABLEWAY_CORE_SETTINGS_SETTINGS_H_
#define CABLEWAY_CORE_SETTINGS_SETTINGS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/discovery/control_channel.h"
#include "core/ports/port_selector.h"
#include "core/pulse/pulse.h"
#include "core/settings/http_address.h"
#include "core/settings/port_range.h"
#include "routing/topology/topology.h"

namespace cableway {

inline constexpr char kDefaultSettingsFile[] = "/etc/cableway/cableway.toml";
inline constexpr char kDefaultSessionDir[] = "/run/cableway";

// The transport of hops: kAuto is RDMA if both ends' ports have it, else TCP; the others allow only one.
enum class TransportSetting : std::uint8_t { kAuto, kTcp, kVerbs };

// The paths that one flow uses at once: its first one, also those parallel to it, also others while they are idle.
enum class MultipathSetting : std::uint8_t { kOff, kBundle, kAll };

// The cabling of a job's nodes, for the choice of NCCL's algorithms (nccl_adapter/tuner); kOff: NCCL chooses alone.
// kSparks: a ring of hosts each of whose plugs is two ports, behind a PCIe link each; kRing: of hosts whose plugs are
// one port. A mesh has a cable between any two nodes.
enum class TunerSetting : std::uint8_t { kOff, kSparks, kRing, kLine, kMesh };
inline constexpr std::size_t kTunerSettings = 5;

struct Settings {
  std::string config;  // the settings file that was read, empty: none
  std::string node;    // default: the host's name
  std::string cluster = "cableway";
  std::vector<PortSelector> ports;      // empty: not set
  std::string runtime_dir = "default";  // names the session socket; several nodes on one host that share a network
                                        // namespace each have their own
  std::string session_dir = kDefaultSessionDir;  // folder of the session sockets of nodes that run as root
  std::string session_group;  // whose users may open sessions with such a node, "*": all; empty: group cableway, if
                              // there is one
  std::string log_level = "info";   // the name of an EventSeverity
  std::string log_file;             // empty: standard error
  std::string key_file;             // file with the cluster's shared secret, empty: none
  std::string daemon;               // path of the cablewayd binary that the plugin starts
  std::chrono::seconds linger{30};  // how long a node started by a job keeps running after its last use
  std::uint16_t relay_port = routing::kDefaultRelayPort;  // TCP
  std::uint16_t control_port = kDefaultControlPort;       // UDP
  std::uint16_t pulse_port = kDefaultPulsePort;           // UDP
  PortRange data_ports;                                   // TCP, where processes listen for data
  std::chrono::milliseconds hello{100};
  std::chrono::milliseconds hold{1000};  // at least kHellosPerHold times hello
  std::chrono::milliseconds pulse{10};   // 0: no pulses
  std::chrono::seconds path_wait{30};    // a flow without a circuit may keep its application waiting
  bool drain = false;
  MultipathSetting multipath = MultipathSetting::kAll;
  bool checksum = false;  // of chunks over TCP (core/flow/chunk_checksum.h)
  bool preset = true;     // the plugin may set NCCL's variables (nccl_adapter/preset)
  TunerSetting tuner = TunerSetting::kSparks;
  TransportSetting transport = TransportSetting::kAuto;
  std::uint8_t rdma_service_level = 0;       // 0 to 7
  std::uint8_t rdma_traffic_class = 0;       // in the packets' IP header
  std::uint8_t rdma_timeout = 18;            // unacknowledged packets are retransmitted after 4.096 us * 2^this
  std::uint8_t rdma_retries = 6;             // number of retransmissions
  std::chrono::microseconds relay_spin{20};  // busy-poll time of an idle relay before it sleeps
  std::uint64_t relay_memory = 2ULL << 30;   // bytes that relayed circuits may use
  std::string expect;                        // file of the expected topology, for the command line; empty: none
  std::optional<HttpAddress> http;           // of the page and the metrics; not set: none are served
  std::string http_token_file;               // file with the token that their readers must have, empty: none
  bool cable_test = true;                    // neighbours and this node's operator may run cable tests

  // The origin of each setting, by its key: "FILE:LINE", "CABLEWAY_NODE" or "--node". Defaults have no entry.
  std::map<std::string, std::string> origins;
};

inline constexpr int kHellosPerHold = 3;

// One setting as given by an option, a variable or the file.
struct GivenSetting {
  std::string key;
  std::string value;
  std::string origin;    // as in Settings::origins
  bool in_file = false;  // the origin is a line of a file, so messages add the key
};

struct SettingSources {
  std::function<const char*(const char*)> environment;  // a variable's value, or nullptr
  std::string host_name;
  std::vector<GivenSetting> options;
  std::vector<GivenSetting> file;  // from parse_settings_file()
};

// InvalidArgument names where the setting at fault is given, its value and what was expected. An empty variable counts
// as unset. Does not detect unknown variables that begin with CABLEWAY_: see check_names().
absl::StatusOr<Settings> settings_from(const SettingSources& sources);

// From the environment alone.
absl::StatusOr<Settings> settings_from(const std::function<const char*(const char*)>& get, std::string host_name);

// The value of `key` from the options, else from the environment.
std::optional<GivenSetting> given_outside_file(const SettingSources& sources, std::string_view key);

// InvalidArgument for the first name that begins with CABLEWAY_ and is not a setting. `environment` is a
// null-terminated array of NAME=VALUE.
absl::Status check_names(const char* const* environment);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_SETTINGS_H_
