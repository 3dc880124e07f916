#include "tools/cableway/verbs/plan/plan_addresses.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "routing/shapes/topology_generator.h"
#include "routing/text/json_schema.h"
#include "tools/cableway/address_plan/plan_folder.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {
namespace {

constexpr int kLowestMtu = 1280;  // of IPv6, whose link-local addresses nodes fall back to
constexpr int kHighestMtu = 65535;
// In the order of PlanFormat.
constexpr std::array kFormats = {"netplan", "nmcli", "ip"};

// Readers of graphs invent interfaces where the file names none: "to-n1", "cable3" (routing/shapes/port_plan.h).
bool are_invented(const routing::Topology& topology) {
  const auto cables = topology.plugged_cables();
  const auto is_invented = [&](const routing::Port& port, const routing::Port& other) {
    return absl::StartsWith(port.interface, absl::StrCat("to-", topology.node(other.node).name)) ||
           absl::StartsWith(port.interface, "cable");
  };
  return std::all_of(cables.begin(), cables.end(), [&](const routing::Cable& cable) {
    return is_invented(cable.a, cable.b) && is_invented(cable.b, cable.a);
  });
}

bool is_graph_file(const std::string& file) {
  constexpr std::array kEndings = {".dot", ".gv", ".graphml", ".xml"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const char* ending) { return absl::EndsWith(file, ending); });
}

// Whether the topology's interfaces are those of its hosts.
bool has_own_interfaces(const routing::Topology& topology, const std::string& file) {
  if (!file.empty() && routing::is_topology_spec(file)) return false;
  return names_interfaces(topology) && !(is_graph_file(file) && are_invented(topology));
}

std::string sections(const std::vector<PlanFile>& files) {
  std::string text;
  for (const PlanFile& file : files) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", "==> ", file.name, " <==\n", file.text);
  }
  return text;
}

Json end_json(const PlannedCable& cable, PlannedPort PlannedLink::*end) {
  const PlannedPort& first = cable.links.front().*end;
  Json interfaces = Json::array();
  for (const PlannedLink& link : cable.links) interfaces.push_back((link.*end).interface);
  return {{"node", first.host}, {"plug", first.plug.empty() ? Json() : Json(first.plug)}, {"interfaces", interfaces}};
}

Json host_json(const AddressPlan& plan, const std::string& host, const std::vector<HostPort>& host_ports) {
  Json ports = Json::array();
  for (const HostPort& port : host_ports) {
    ports.push_back({{"interface", port.here->interface},
                     {"plug", port.here->plug.empty() ? Json() : Json(port.here->plug)},
                     {"address", absl::StrCat(port.here->address, "/", plan.subnet_bits)},
                     {"cable", port.link->name},
                     {"neighbour", port.there->host},
                     {"neighbour_interface", port.there->interface}});
  }
  return {{"node", host}, {"ports", std::move(ports)}};
}

class PlanAddressesVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "plan addresses",
        .summary = "addresses for the cables of a cluster, what to plug in where, and the topology to expect",
        .notes =
            "Each pair of functions gets a subnet. Without --output all files are printed. Without --interfaces, a "
            "file's "
            "own interfaces\nand plugs are kept; a shape, and a file that names none, gets those of DGX Sparks: plug "
            "p0 is "
            "enp1s0f0np0+enP2p1s0f0np0,\np1 is enp1s0f1np1+enP2p1s0f1np1. Addresses in a file are replaced.",
        .examples = {"cableway plan addresses --topology ring:4 --hosts spark-0,spark-1,spark-2,spark-3 --output plan",
                     "cableway plan addresses --topology torus:4x4 --interfaces eth1,eth2,eth3,eth4 --format ip",
                     "cableway plan addresses --topology ring:3 --interfaces spark --interfaces n2=ens1f0,ens1f1",
                     "cableway plan addresses --topology sparks:2 --json | jq .cables"},
        .arguments = {
            json_flag(json_), topology_option(file_, "--topology,--file"),
            list_option("--hosts", "H0,H1,..", hosts_,
                        "names for the topology's nodes, in their order; default: their own"),
            texts_option(
                "--interfaces", "[HOST=]PLUGS", interfaces_,
                "the interfaces of a host's plugs, plugs between commas, functions of one plug joined by +, as\n"
                "in eth1+eth2,eth3+eth4; or spark. HOST=: of this host only; without it: of all other hosts"),
            text_option("--subnet", "RANGE", range_, "the range that is divided into subnets"),
            number_option("--prefix", kShortestPrefix, kLongestPrefix, prefix_, "the length of each subnet's prefix"),
            number_option("--mtu", kLowestMtu, kHighestMtu, mtu_, "MTU of every interface"),
            choice_option("--format", {kFormats.begin(), kFormats.end()}, format_, "format of the files for each host"),
            text_option("--output", "DIR", folder_, "write the files to this folder"),
            flag("--force", force_, "with --output: overwrite files of other content")}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, file_, invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    const absl::StatusOr<AddressPlan> plan = make_plan(known->topology);
    if (!plan.ok()) return plan.status();
    const auto* const format = std::find(kFormats.begin(), kFormats.end(), format_);
    const std::vector<PlanFile> files = plan_files(*plan, static_cast<PlanFormat>(format - kFormats.begin()), mtu_);
    if (!folder_.empty()) {
      if (absl::Status status = write_plan(folder_, files, force_); !status.ok()) return status;
    }
    if (json_) return Answer{address_plan_json(*plan, format_, mtu_, files)};
    return Answer{folder_.empty() ? sections(files) : written_text(*plan, files)};
  }

 private:
  absl::StatusOr<AddressPlan> make_plan(const routing::Topology& topology) const {
    const absl::StatusOr<SubnetRange> range = SubnetRange::parse(range_, prefix_);
    if (!range.ok()) return range.status();
    const absl::StatusOr<std::vector<std::string>> hosts = host_names(topology, hosts_);
    if (!hosts.ok()) return hosts.status();
    PlanOptions options{.hosts = hosts_, .plugs = std::nullopt};
    if (!interfaces_.empty() || !has_own_interfaces(topology, file_)) {
      absl::StatusOr<PlugsByHost> plugs = parse_plugs_by_host(interfaces_, *hosts);
      if (!plugs.ok()) return plugs.status();
      options.plugs = *std::move(plugs);
    }
    return plan_addresses(topology, options, *range);
  }

  std::string written_text(const AddressPlan& plan, const std::vector<PlanFile>& files) const {
    std::string text = absl::StrCat("written to ", folder_, ":");
    for (const PlanFile& file : files) absl::StrAppend(&text, " ", file.name);
    absl::StrAppend(&text, "\n\n");
    for (const PlannedCable& cable : plan.cables) absl::StrAppend(&text, cabling_text(cable), "\n");
    return text;
  }

  bool json_ = false;
  bool force_ = false;
  std::string file_;
  std::vector<std::string> hosts_;
  std::vector<std::string> interfaces_;
  std::string range_ = "10.10.0.0/16";
  int prefix_ = 24;
  int mtu_ = 9000;
  std::string format_ = kFormats[0];
  std::string folder_;
};

}  // namespace

std::unique_ptr<Verb> plan_addresses_verb() {
  return std::make_unique<PlanAddressesVerb>();
}

std::string address_plan_json(const AddressPlan& plan, const std::string& format, int mtu,
                              const std::vector<PlanFile>& files) {
  Json view = {{routing::kSchemaMember, routing::kJsonSchema}, {"format", format}, {"mtu", mtu}};
  view["hosts"] = Json::array();
  const auto ports = ports_by_host(plan);
  for (const std::string& host : plan.hosts) {
    const auto found = ports.find(host);
    view["hosts"].push_back(host_json(plan, host, found == ports.end() ? std::vector<HostPort>{} : found->second));
  }
  view["cables"] = Json::array();
  for (const PlannedCable& cable : plan.cables) {
    Json subnets = Json::array();
    for (const PlannedLink& link : cable.links) subnets.push_back(link.subnet);
    view["cables"].push_back({{"from", end_json(cable, &PlannedLink::from)},
                              {"to", end_json(cable, &PlannedLink::to)},
                              {"subnets", std::move(subnets)}});
  }
  view["files"] = Json::array();
  for (const PlanFile& file : files) view["files"].push_back({{"name", file.name}, {"text", file.text}});
  return view.dump(2) + "\n";
}

}  // namespace cableway::cli
