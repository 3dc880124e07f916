#include "tools/cableway/address_plan/address_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_name.h"
#include "routing/topology/pcie_rate.h"
#include "tools/cableway/address_plan/plug_choice.h"
#include "tools/cableway/expectation/wiring.h"

namespace cableway::cli {
namespace {

using routing::Topology;

// Of a DGX Spark.
constexpr std::uint64_t kSparkPlugRateMbps = 200'000;
constexpr std::uint64_t kSparkLinkRateMbps = routing::pcie_rate_mbps(32, 4);

absl::Status refused(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

// One function of each end.
struct Functions {
  routing::Port a;  // without an address
  routing::Port b;
  std::uint64_t rate_mbps = 0;
  std::string name;  // empty: to be numbered
  std::optional<double> latency_us;
};

// A wire with its functions; `swapped`: from b to a.
struct LaidWire {
  std::vector<Functions> functions;
  bool swapped = false;
  std::vector<std::string> left_over;
};

class Planner {
 public:
  Planner(const Topology& topology, const PlanOptions& options, const SubnetRange& range)
      : topology_(topology), options_(options), range_(range) {}

  absl::StatusOr<AddressPlan> plan() {
    absl::StatusOr<std::vector<std::string>> hosts = host_names(topology_, options_.hosts);
    if (!hosts.ok()) return hosts.status();
    hosts_ = *std::move(hosts);
    if (absl::Status status = read_wires(); !status.ok()) return status;
    if (absl::Status status = options_.plugs ? lay_on_plugs() : keep_ports(); !status.ok()) return status;
    if (absl::Status status = check_room(); !status.ok()) return status;
    return number_subnets();
  }

 private:
  const std::string& host(routing::NodeIndex node) const { return hosts_[node.value]; }

  // Direct cables only: each port ends one cable, and each jack one wire.
  absl::Status read_wires() {
    if (topology_.plugged_cables().empty()) return refused("the topology has no cable; expected one at least");
    wires_ = wires_of(topology_, own_jack_key, jacks_);
    std::map<std::pair<std::string, std::string>, std::size_t> cables_of_port;
    for (const routing::Cable& cable : topology_.plugged_cables()) {
      if (cable.routed) {
        return refused(absl::StrCat("cable ", cable.name, " leads through IP routers; expected direct cables only"));
      }
      for (const routing::Port* port : {&cable.a, &cable.b}) {
        if (!port->interface.empty()) ++cables_of_port[{topology_.node(port->node).name, port->interface}];
      }
    }
    for (const auto& [port, count] : cables_of_port) {
      if (count > 1) return refuse_switch(absl::StrCat("interface ", port.second, " of ", port.first), count);
    }
    std::vector<std::size_t> wires_at(jacks_.size(), 0);
    for (const Wire& wire : wires_) {
      ++wires_at[wire.a];
      ++wires_at[wire.b];
    }
    for (std::size_t jack = 0; jack < jacks_.size(); ++jack) {
      if (wires_at[jack] > 1) return refuse_switch(jack_text(jacks_[jack]), wires_at[jack]);
    }
    // Numbered names give the order in which the cables were listed; else it is that of their nodes.
    const bool are_named = std::none_of(topology_.plugged_cables().begin(), topology_.plugged_cables().end(),
                                        [&](const routing::Cable& cable) { return own_cable_name(cable).empty(); });
    if (!are_named) return absl::OkStatus();
    std::stable_sort(wires_.begin(), wires_.end(), [](const Wire& left, const Wire& right) {
      return routing::natural_less(left.links.front().cable->name, right.links.front().cable->name);
    });
    return absl::OkStatus();
  }

  static absl::Status refuse_switch(const std::string& what, std::size_t count) {
    return refused(
        absl::StrCat(what, " ends ", count,
                     " cables, as on a switch; expected direct cables: hosts on a switch need one subnet and a "
                     "plan of their own"));
  }

  // The topology's interfaces and plugs.
  absl::Status keep_ports() {
    for (const Wire& wire : wires_) {
      LaidWire laid;
      for (const WireLink& link : wire.links) {
        const routing::Cable& cable = *link.cable;
        if (link.a.empty() || link.b.empty()) {
          return refused(absl::StrCat("cable ", cable.name,
                                      " does not name its interfaces, as others do; expected "
                                      "an interface at both of its ends, or --interfaces"));
        }
        laid.functions.push_back({cable.a, cable.b, cable.rate_mbps, own_cable_name(cable), cable.latency_us});
      }
      laid_.push_back(std::move(laid));
    }
    for (const routing::Node& node : topology_.nodes()) nodes_.push_back(node);
    return absl::OkStatus();
  }

  std::string own_cable_name(const routing::Cable& cable) const {
    return routing::has_default_name(topology_, cable) ? "" : cable.name;
  }

  // The options' interfaces.
  absl::Status lay_on_plugs() {
    if (absl::Status status = check_plug_counts(); !status.ok()) return status;
    std::vector<HostPair> pairs;
    for (const Wire& wire : wires_) {
      const routing::Cable& cable = *wire.links.front().cable;
      pairs.push_back({cable.a.node.value, cable.b.node.value, cable.a.plug, cable.b.plug});
    }
    std::vector<std::size_t> counts;
    for (const std::string& name : hosts_) counts.push_back(options_.plugs->of(name).plugs.size());
    const std::vector<ChosenPlugs> chosen = choose_plugs(pairs, counts);
    for (const routing::Node& node : topology_.nodes()) {
      nodes_.push_back({.name = node.name, .relay_port = node.relay_port, .draining = node.draining});
    }
    for (std::size_t i = 0; i < wires_.size(); ++i) laid_.push_back(lay(wires_[i], chosen[i]));
    return absl::OkStatus();
  }

  absl::Status check_plug_counts() const {
    std::vector<std::size_t> cables(hosts_.size(), 0);
    for (const Wire& wire : wires_) {
      ++cables[wire.links.front().cable->a.node.value];
      ++cables[wire.links.front().cable->b.node.value];
    }
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const HostPlugs& plugs = options_.plugs->of(hosts_[i]);
      if (cables[i] <= plugs.plugs.size()) continue;
      const std::string list = absl::StrJoin(plugs.plugs, ", ", [](std::string* out, const auto& functions) {
        absl::StrAppend(out, absl::StrJoin(functions, "+"));
      });
      return refused(
          absl::StrCat("host ", hosts_[i], " has ", cables[i], " cables, but ", plugs.plugs.size(),
                       plugs.plugs.size() == 1 ? " plug (" : " plugs (", list,
                       "); expected at most as many cables as plugs: a smaller topology, or --interfaces with "
                       "all plugs of the host"));
    }
    return absl::OkStatus();
  }

  struct End {
    routing::NodeIndex node;
    const HostPlugs* host = nullptr;
    std::size_t plug = 0;

    std::string plug_name() const { return absl::StrCat("p", plug); }
    const std::vector<std::string>& functions() const { return host->plugs[plug]; }
    routing::Port port(std::size_t function) const {
      return {.node = node,
              .interface = functions()[function],
              .address = {},
              .plug = plug_name(),
              .root = host->is_spark ? absl::StrCat("r", function) : ""};
    }
  };

  LaidWire lay(const Wire& wire, const ChosenPlugs& chosen) {
    const routing::Cable& cable = *wire.links.front().cable;
    const End a{cable.a.node, &options_.plugs->of(host(cable.a.node)), chosen.at_a};
    const End b{cable.b.node, &options_.plugs->of(host(cable.b.node)), chosen.at_b};
    LaidWire laid;
    laid.swapped = chosen.at_b < chosen.at_a;
    const std::size_t count = std::min(a.functions().size(), b.functions().size());
    const bool keeps_names = count == wire.links.size();
    const std::uint64_t rate = wire_rate(wire, a, b);
    for (const End* end : {&a, &b}) add_parts(*end, rate);
    for (std::size_t i = 0; i < count; ++i) {
      const routing::Cable& named = *wire.links[keeps_names ? i : 0].cable;
      laid.functions.push_back({a.port(i), b.port(i), std::min({rate, link_rate(a), link_rate(b)}),
                                keeps_names ? own_cable_name(named) : "", cable.latency_us});
    }
    for (const End* end : {&a, &b}) {
      for (std::size_t i = count; i < end->functions().size(); ++i) {
        laid.left_over.push_back(absl::StrCat(end->functions()[i], " of ", host(end->node)));
      }
    }
    return laid;
  }

  // What the wire carries: as the topology states it, but that of a Spark's plugs where it states none.
  std::uint64_t wire_rate(const Wire& wire, const End& a, const End& b) const {
    std::uint64_t rate = 0;
    for (const WireLink& link : wire.links) rate = std::max(rate, link.cable->rate_mbps);
    const routing::Cable& first = *wire.links.front().cable;
    const auto plug_a = routing::stated_rate_mbps(topology_.node(first.a.node).plugs, first.a.plug);
    const auto plug_b = routing::stated_rate_mbps(topology_.node(first.b.node).plugs, first.b.plug);
    if (plug_a && plug_b) return std::min(*plug_a, *plug_b);
    const bool are_sparks = a.host->is_spark && b.host->is_spark;
    return are_sparks && rate == routing::kDefaultRateMbps ? kSparkPlugRateMbps : rate;
  }

  static std::uint64_t link_rate(const End& end) {
    return end.host->is_spark ? kSparkLinkRateMbps : routing::kMaxRateMbps;
  }

  void add_parts(const End& end, std::uint64_t rate) {
    if (end.functions().size() < 2 && !end.host->is_spark) return;
    routing::Node& node = nodes_[end.node.value];
    node.plugs.push_back({end.plug_name(), rate});
    if (end.host->is_spark && node.roots.empty()) node.roots = {{"r0", kSparkLinkRateMbps}, {"r1", kSparkLinkRateMbps}};
  }

  absl::Status check_room() const {
    std::size_t links = 0;
    for (const LaidWire& wire : laid_) links += wire.functions.size();
    if (links > routing::kMaxCables) {
      return refused(
          absl::StrCat("the plan has ", links, " pairs of functions; expected at most ", routing::kMaxCables));
    }
    if (links <= range_.count()) return absl::OkStatus();
    return refused(absl::StrCat("--subnet has ", range_.count(), " subnets of /", range_.subnet_bits(), "; expected ",
                                links, " at least, one for each pair of functions of ", laid_.size(),
                                " cables: a larger --subnet, or a longer --prefix"));
  }

  // Own names only where every cable has one, so that none clashes with a number.
  bool has_names() const {
    return std::all_of(laid_.begin(), laid_.end(), [](const LaidWire& wire) {
      return std::none_of(wire.functions.begin(), wire.functions.end(),
                          [](const Functions& each) { return each.name.empty(); });
    });
  }

  absl::StatusOr<AddressPlan> number_subnets() {
    const bool keeps_names = has_names();
    std::vector<routing::Cable> cables;
    std::vector<PlannedCable> planned;
    for (const LaidWire& wire : laid_) {
      planned.emplace_back().left_over = wire.left_over;
      for (const Functions& each : wire.functions) {
        const std::size_t number = cables.size();
        routing::Cable cable{.name = keeps_names ? each.name : absl::StrCat("c", number),
                             .a = each.a,
                             .b = each.b,
                             .rate_mbps = each.rate_mbps,
                             .latency_us = each.latency_us};
        cable.a.address = range_.address(number, wire.swapped ? 2 : 1);
        cable.b.address = range_.address(number, wire.swapped ? 1 : 2);
        PlannedLink link{cable.name, range_.subnet(number), planned_port(cable.a), planned_port(cable.b)};
        if (wire.swapped) std::swap(link.from, link.to);
        planned.back().links.push_back(std::move(link));
        cables.push_back(std::move(cable));
      }
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].name = hosts_[i];
    absl::StatusOr<Topology> expected = Topology::create(topology_.cluster(), std::move(nodes_), std::move(cables));
    if (!expected.ok()) return expected.status();
    return AddressPlan{hosts_, std::move(planned), range_.subnet_bits(), *std::move(expected)};
  }

  PlannedPort planned_port(const routing::Port& port) const {
    return {host(port.node), port.plug, port.interface, port.address};
  }

  const Topology& topology_;
  const PlanOptions& options_;
  const SubnetRange& range_;
  std::vector<std::string> hosts_;
  JackTable jacks_;
  std::vector<Wire> wires_;
  std::vector<routing::Node> nodes_;  // with the topology's names
  std::vector<LaidWire> laid_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> host_names(const Topology& topology, const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  for (const routing::Node& node : topology.nodes()) names.push_back(node.name);
  if (hosts.empty()) return names;
  if (hosts.size() != names.size()) {
    return refused(absl::StrCat("--hosts has ", hosts.size(), hosts.size() == 1 ? " name" : " names", "; expected ",
                                names.size(), ", one for each node: ", absl::StrJoin(names, ",")));
  }
  std::set<std::string> known;
  for (const std::string& name : hosts) {
    if (!routing::is_valid_name(name, routing::kMaxNodeNameBytes)) {
      return refused(absl::StrCat("--hosts: ", routing::in_quotes(name), " ",
                                  routing::name_fault(name, routing::kMaxNodeNameBytes)));
    }
    if (!known.insert(name).second)
      return refused(absl::StrCat("--hosts names ", name, " twice; expected each host once"));
  }
  return hosts;
}

bool names_interfaces(const Topology& topology) {
  const auto cables = topology.plugged_cables();
  return std::any_of(cables.begin(), cables.end(), [](const routing::Cable& cable) {
    return !cable.a.interface.empty() || !cable.b.interface.empty();
  });
}

absl::StatusOr<AddressPlan> plan_addresses(const Topology& topology, const PlanOptions& options,
                                           const SubnetRange& range) {
  return Planner(topology, options, range).plan();
}

}  // namespace cableway::cli
