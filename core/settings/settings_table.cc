#include "core/settings/settings_table.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/settings/http_address.h"
#include "routing/text/node_name.h"
#include "routing/topology/topology.h"

namespace cableway {
namespace {

using Form = Setting::Form;
using Refused = std::optional<std::string_view>;

constexpr std::size_t kMaxPathBytes = 4095;  // PATH_MAX without the zero byte
constexpr std::size_t kMaxRuntimeDirBytes = 80;
constexpr std::size_t kMaxSessionDirBytes = 80;
constexpr std::size_t kMaxGroupBytes = 32;  // as the kernel's tools limit names
constexpr std::size_t kMaxPorts = 64;
constexpr std::int64_t kHighestPort = 65535;
// The names of EventSeverity.
constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warning", "error"};
// In the order of TransportSetting.
constexpr std::array<std::string_view, 3> kTransports = {"auto", "tcp", "verbs"};
constexpr std::array<std::string_view, 3> kMultipaths = {"off", "bundle", "all"};
// In the order of TunerSetting.
constexpr std::array<std::string_view, kTunerSettings> kTuners = {"off", "sparks", "ring", "line", "mesh"};
constexpr std::array<std::string_view, 2> kTruths = {"true", "false"};
constexpr std::array<std::string_view, 2> kSwitch = {"on", "off"};

constexpr bool kReloads = true;

constexpr std::string_view kNameForm = "1 to 63 letters, digits, '.', '_' or '-', the first neither '.' nor '-'";
constexpr std::string_view kPath = "a path of 1 to 4095 bytes without control characters";
constexpr std::string_view kPortList =
    "at most 64 interfaces or prefixes, such as eth1,10.7.0.0/16 (an array of them in the file, too)";

std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < lowest || value > highest) return std::nullopt;
  return value;
}

template <std::string Settings::*kMember>
Refused set_name(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  if (!routing::is_valid_name(text, routing::kMaxNodeNameBytes)) return text;
  settings.*kMember = std::string(text);
  return std::nullopt;
}

template <std::string Settings::*kMember>
Refused set_path(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  const auto is_control = [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); };
  if (text.empty() || text.size() > kMaxPathBytes || std::any_of(text.begin(), text.end(), is_control)) return text;
  settings.*kMember = std::string(text);
  return std::nullopt;
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); });
}

Refused set_runtime_dir(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  if (text.empty() || text.size() > kMaxRuntimeDirBytes || !is_visible(text)) return text;
  settings.runtime_dir = std::string(text);
  return std::nullopt;
}

Refused set_session_dir(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  if (text.size() < 2 || text.size() > kMaxSessionDirBytes || text.front() != '/' || text.back() == '/') return text;
  if (!is_visible(text)) return text;
  settings.session_dir = std::string(text);
  return std::nullopt;
}

Refused set_session_group(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  if (text.empty() || text.size() > kMaxGroupBytes || !is_visible(text) || text.find(':') != std::string_view::npos) {
    return text;
  }
  settings.session_group = std::string(text);
  return std::nullopt;
}

Refused set_log_level(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  const std::string_view level = text == "warn" ? "warning" : text;  // NCCL calls it so
  if (std::find(kLogLevels.begin(), kLogLevels.end(), level) == kLogLevels.end()) return text;
  settings.log_level = std::string(level);
  return std::nullopt;
}

// Enumerators by their names, in the order of their values.
template <auto kMember, const auto& kNames>
Refused set_named(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  const auto* const named = std::find(kNames.begin(), kNames.end(), text);
  if (named == kNames.end()) return text;
  using Member = std::remove_reference_t<decltype(settings.*kMember)>;
  settings.*kMember = static_cast<Member>(named - kNames.begin());
  return std::nullopt;
}

template <auto kMember, const auto& kNames>
std::string show_named(const Settings& settings) {
  return std::string(kNames[static_cast<std::size_t>(settings.*kMember)]);
}

// Numbers, and durations in their own unit.
template <auto kMember>
Refused set_number(const Setting& setting, std::string_view text, Settings& settings) {
  const std::optional<std::int64_t> value = whole_number(text, setting.lowest, setting.highest);
  if (!value) return text;
  using Member = std::remove_reference_t<decltype(settings.*kMember)>;
  settings.*kMember = static_cast<Member>(*value);
  return std::nullopt;
}

template <bool Settings::*kMember>
Refused set_truth(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  if (text != "true" && text != "false") return text;
  settings.*kMember = text == "true";
  return std::nullopt;
}

template <bool Settings::*kMember>
Refused set_switch(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  if (text != "on" && text != "off") return text;
  settings.*kMember = text == "on";
  return std::nullopt;
}

template <bool Settings::*kMember>
std::string show_switch(const Settings& settings) {
  return settings.*kMember ? "on" : "off";
}

Refused set_ports(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  std::vector<PortSelector> ports;
  for (absl::string_view part : absl::StrSplit(absl::string_view(text.data(), text.size()), ',')) {
    if (text.empty()) break;
    part = absl::StripAsciiWhitespace(part);
    absl::StatusOr<PortSelector> port = parse_port_selector({part.data(), part.size()});
    if (!port.ok()) return std::string_view(part.data(), part.size());
    if (ports.size() == kMaxPorts) return text;
    ports.push_back(*std::move(port));
  }
  settings.ports = std::move(ports);
  return std::nullopt;
}

Refused set_data_ports(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  if (text == "0") {
    settings.data_ports = {};
    return std::nullopt;
  }
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return text;
  const std::optional<std::int64_t> low = whole_number(text.substr(0, dash), 1, kHighestPort);
  const std::optional<std::int64_t> high = whole_number(text.substr(dash + 1), 1, kHighestPort);
  if (!low || !high || *low > *high) return text;
  settings.data_ports = {static_cast<std::uint16_t>(*low), static_cast<std::uint16_t>(*high)};
  return std::nullopt;
}

struct ByteUnit {
  char letter;
  int shift;
};
constexpr std::array<ByteUnit, 3> kByteUnits = {{{'G', 30}, {'M', 20}, {'K', 10}}};

Refused set_relay_memory(const Setting& setting, std::string_view text, Settings& settings) {
  std::string_view number = text;
  int shift = 0;
  for (const ByteUnit& unit : kByteUnits) {
    if (text.empty() || text.back() != unit.letter) continue;
    shift = unit.shift;
    number.remove_suffix(1);
  }
  const std::optional<std::int64_t> value = whole_number(number, 1, setting.highest >> shift);
  if (!value || (*value << shift) < setting.lowest) return text;
  settings.relay_memory = static_cast<std::uint64_t>(*value) << shift;
  return std::nullopt;
}

std::string show_relay_memory(const Settings& settings) {
  for (const ByteUnit& unit : kByteUnits) {
    const std::uint64_t whole = settings.relay_memory >> unit.shift;
    if (whole << unit.shift == settings.relay_memory) return absl::StrCat(whole, std::string(1, unit.letter));
  }
  return absl::StrCat(settings.relay_memory);
}

Refused set_http(const Setting& /*setting*/, std::string_view text, Settings& settings) {
  std::optional<HttpAddress> address = parse_http_address(text);
  if (!address) return text;
  settings.http = *std::move(address);
  return std::nullopt;
}

std::string show_http(const Settings& settings) {
  return settings.http ? to_text(*settings.http) : "";
}

template <std::string Settings::*kMember>
std::string show_text(const Settings& settings) {
  return settings.*kMember;
}

template <auto kMember>
std::string show_number(const Settings& settings) {
  return absl::StrCat(settings.*kMember);
}

template <auto kMember>
std::string show_duration(const Settings& settings) {
  return absl::StrCat((settings.*kMember).count());
}

template <bool Settings::*kMember>
std::string show_truth(const Settings& settings) {
  return settings.*kMember ? "true" : "false";
}

std::string show_ports(const Settings& settings) {
  std::string text;
  for (const PortSelector& port : settings.ports) absl::StrAppend(&text, text.empty() ? "" : ",", to_text(port));
  return text;
}

std::string show_data_ports(const Settings& settings) {
  if (settings.data_ports == PortRange{}) return "0";
  return absl::StrCat(settings.data_ports.low, "-", settings.data_ports.high);
}

constexpr Setting kSettings[] = {
    {"config", Form::kFile, kPath, 0, 0, "/etc/cableway/cableway.toml, if there is one",
     "the settings file; one named here must exist", set_path<&Settings::config>, show_text<&Settings::config>},
    {"node", Form::kText, kNameForm, 0, 0, "the host's name", "this node's name, with its domain if it has one",
     set_name<&Settings::node>, show_text<&Settings::node>},
    {"cluster", Form::kText, kNameForm, 0, 0, "", "nodes of one cluster find each other; names the session socket, too",
     set_name<&Settings::cluster>, show_text<&Settings::cluster>},
    {"ports", Form::kList, kPortList, 0, 0, "not set", "which interfaces have cables", set_ports, show_ports},
    {"runtime_dir", Form::kText, "1 to 80 visible ASCII characters", 0, 0, "",
     "names the session socket; several nodes in one network namespace each need their own", set_runtime_dir,
     show_text<&Settings::runtime_dir>},
    {"session_dir", Form::kText, "an absolute path of 2 to 80 visible ASCII characters, without / at its end", 0, 0, "",
     "folder of the session socket of a node that runs as root; the same for the node and its jobs", set_session_dir,
     show_text<&Settings::session_dir>},
    {"session_group", Form::kText, "a group's name or number, or * for every user", 0, 0,
     "cableway, if there is such a group, else root alone",
     "whose members may open sessions with a node that runs as root and that no job has started", set_session_group,
     show_text<&Settings::session_group>},
    {"log", Form::kText, "debug, info, warning (or warn), error", 0, 0, "", "the lowest severity that is logged",
     set_log_level, show_text<&Settings::log_level>, kLogLevels, kReloads},
    {"log_file", Form::kFile, kPath, 0, 0, "standard error", "where the log goes", set_path<&Settings::log_file>,
     show_text<&Settings::log_file>},
    {"key_file", Form::kFile, kPath, 0, 0, "none", "the secret that the nodes of the cluster share",
     set_path<&Settings::key_file>, show_text<&Settings::key_file>},
    {"daemon", Form::kFile, kPath, 0, 0, "beside the plugin",
     "path of the cablewayd that the plugin starts where no node runs", set_path<&Settings::daemon>,
     show_text<&Settings::daemon>},
    {"linger", Form::kNumber, "seconds", 0, 86400, "",
     "how long a node started by a job keeps running after its last use, and after the 10 s in which the process that "
     "started it may connect",
     set_number<&Settings::linger>, show_duration<&Settings::linger>},
    {"relay_port", Form::kNumber, "a TCP port", 1, kHighestPort, "", "where this node accepts circuits to relay",
     set_number<&Settings::relay_port>, show_number<&Settings::relay_port>},
    {"control_port", Form::kNumber, "a UDP port", 1, kHighestPort, "",
     "where nodes receive hellos; the same on every node", set_number<&Settings::control_port>,
     show_number<&Settings::control_port>},
    {"pulse_port", Form::kNumber, "a UDP port", 1, kHighestPort, "",
     "where nodes receive pulses; the same on every node", set_number<&Settings::pulse_port>,
     show_number<&Settings::pulse_port>},
    {"data_ports", Form::kTextOrNumber, "TCP ports 1 to 65535, such as 20000-20999, or 0 for any that is free", 0, 0,
     "", "where processes receive data, for firewalls", set_data_ports, show_data_ports},
    {"hello_ms", Form::kNumber, "milliseconds", 10, 10000, "", "how often a node sends a hello over each of its cables",
     set_number<&Settings::hello>, show_duration<&Settings::hello>},
    {"hold_ms", Form::kNumber, "milliseconds", 30, 120000, "",
     "how long a cable may be silent before it counts as down; at least 3 times hello_ms", set_number<&Settings::hold>,
     show_duration<&Settings::hold>},
    {"pulse_ms", Form::kNumber, "milliseconds", 0, kMaxPulseIntervalMs, "",
     "how often a node sends a pulse over each of its cables; one without a sign of life for about 3.5 intervals, "
     "or that drops large packets, is not used, and one that loses packets is used last; 0: no pulses, none of these "
     "is "
     "found",
     set_number<&Settings::pulse>, show_duration<&Settings::pulse>},
    {"path_wait", Form::kNumber, "seconds", 0, 86400, "",
     "how long a flow without a circuit waits for another path; 0: it fails with its last circuit. The "
     "shorter setting of its two ends applies",
     set_number<&Settings::path_wait>, show_duration<&Settings::path_wait>},
    {"drain", Form::kTruth, "true or false", 0, 0, "", "no paths lead through this node, from its start on",
     set_truth<&Settings::drain>, show_truth<&Settings::drain>, kTruths, kReloads},
    {"multipath", Form::kText, "off, bundle or all", 0, 0, "",
     "which paths one flow uses at once: bundle is its first path and those parallel to it, as over a second cable "
     "between the same nodes; all is these and others, while no other flow's own path needs their ports and their "
     "relays have time; unless off, a flow that carries much also has a circuit in reserve",
     set_named<&Settings::multipath, kMultipaths>, show_named<&Settings::multipath, kMultipaths>, kMultipaths},
    {"checksum", Form::kText, "on or off", 0, 0, "",
     "over TCP, data gets a CRC32C where it is sent, which is checked where it arrives, if it has one: what a cable "
     "changes is sent again over another circuit",
     set_switch<&Settings::checksum>, show_switch<&Settings::checksum>, kSwitch},
    {"preset", Form::kText, "on or off", 0, 0, "",
     "the plugin, where NCCL loads it as its env plugin too and a node runs, sets those of NCCL's variables that a job "
     "over these cables needs and that nothing else sets; given as on, it does so without a node, too, and the plugin "
     "starts one",
     set_switch<&Settings::preset>, show_switch<&Settings::preset>, kSwitch},
    {"tuner", Form::kText, "off, sparks, ring, line or mesh", 0, 0, "",
     "the cabling for which the plugin chooses NCCL's algorithm of an all_reduce, with one rank on each of 3 to 8 "
     "nodes, in cable order: sparks is a ring whose plugs have two ports each; off: NCCL chooses alone. The same on "
     "all hosts of a job: a connection between two that "
     "choose differently is refused. Before NCCL 2.28 only where it is given",
     set_named<&Settings::tuner, kTuners>, show_named<&Settings::tuner, kTuners>, kTuners},
    {"transport", Form::kText, "auto, tcp or verbs", 0, 0, "",
     "the transport of hops: auto is RDMA if both ends of a cable have it, else TCP; verbs refuses a cable without "
     "RDMA",
     set_named<&Settings::transport, kTransports>, show_named<&Settings::transport, kTransports>, kTransports},
    {"rdma_service_level", Form::kNumber, "a priority", 0, 7, "", "of traffic over RDMA, on networks with priorities",
     set_number<&Settings::rdma_service_level>, show_number<&Settings::rdma_service_level>},
    {"rdma_traffic_class", Form::kNumber, "a byte", 0, 255, "",
     "in the IP header of traffic over RDMA: DSCP in the upper six bits, ECN in the lower two",
     set_number<&Settings::rdma_traffic_class>, show_number<&Settings::rdma_traffic_class>},
    {"rdma_timeout", Form::kNumber, "an exponent", 1, 31, "",
     "a device retransmits what is not acknowledged within 4.096 us * 2^this: 18 is 1.07 s",
     set_number<&Settings::rdma_timeout>, show_number<&Settings::rdma_timeout>},
    {"rdma_retries", Form::kNumber, "times", 0, 7, "",
     "number of retransmissions before the cable counts as dead; soft-RoCE retries forever with 7",
     set_number<&Settings::rdma_retries>, show_number<&Settings::rdma_retries>},
    {"relay_spin_us", Form::kNumber, "microseconds", 0, 1000000, "",
     "busy-poll time of an idle relay before it sleeps, also for completions: longer lowers latency, and costs up to a "
     "core",
     set_number<&Settings::relay_spin>, show_duration<&Settings::relay_spin>},
    {"relay_memory", Form::kTextOrNumber, "1M to 1024G: bytes, or with K, M or G a power of 1024 of them", 1LL << 20,
     1LL << 40, "",
     "memory that circuits relayed by this node may use, as the kernel counts it: up to half is leased to the busy "
     "ones, the rest bounds their number; more circuits are refused",
     set_relay_memory, show_relay_memory},
    {"http", Form::kText, "ADDRESS:PORT, such as 127.0.0.1:7473 or [::1]:7473", 0, 0, "not set",
     "where this node serves its page and its Prometheus metrics; an address that is not the loopback's needs "
     "http_token_file",
     set_http, show_http},
    {"http_token_file", Form::kFile, kPath, 0, 0, "none",
     "the secret that readers of the page and the metrics must have", set_path<&Settings::http_token_file>,
     show_text<&Settings::http_token_file>},
    {"cable_test", Form::kTruth, "true or false", 0, 0, "",
     "cableway doctor, here and on neighbours, may send data over a cable for a second to measure its throughput",
     set_truth<&Settings::cable_test>, show_truth<&Settings::cable_test>, kTruths, kReloads},
    {"expect", Form::kFile, kPath, 0, 0, "none",
     "the expected topology, with which cableway topology and doctor compare the one that was found; a file or a "
     "shape, as of cableway --file",
     set_path<&Settings::expect>, show_text<&Settings::expect>},
};

std::string spelled(const Setting& setting, std::string_view prefix, char joint, char (*letter)(unsigned char)) {
  std::string text(prefix);
  for (const char c : setting.key) text += c == '_' ? joint : letter(static_cast<unsigned char>(c));
  return text;
}

}  // namespace

std::span<const Setting> all_settings() {
  return kSettings;
}

const Setting* find_setting(std::string_view key) {
  const auto* const found =
      std::find_if(std::begin(kSettings), std::end(kSettings), [&](const Setting& known) { return known.key == key; });
  return found == std::end(kSettings) ? nullptr : found;
}

std::string variable_of(const Setting& setting) {
  return spelled(setting, "CABLEWAY_", '_', absl::ascii_toupper);
}

std::string option_of(const Setting& setting) {
  return spelled(setting, "--", '-', absl::ascii_tolower);
}

std::string expected_of(const Setting& setting) {
  const absl::string_view takes(setting.takes.data(), setting.takes.size());
  if (setting.form != Form::kNumber) return std::string(takes);
  return absl::StrCat(takes, ", ", setting.lowest, " to ", setting.highest);
}

}  // namespace cableway
