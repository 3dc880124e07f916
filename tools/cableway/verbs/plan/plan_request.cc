#include "tools/cableway/verbs/plan/plan_request.h"

#include <optional>
#include <utility>

#include "routing/shapes/topology_generator.h"
#include "tools/cableway/node/topology_source.h"

namespace cableway::cli {
namespace {

constexpr int kLowestMtu = 1280;  // of IPv6, whose link-local addresses nodes fall back to
constexpr int kHighestMtu = 65535;

// Whether the topology's interfaces are those of its hosts.
bool has_own_interfaces(const routing::Topology& topology, const std::string& file) {
  if (!file.empty() && routing::is_topology_spec(file)) return false;
  return names_interfaces(topology);
}

}  // namespace

std::vector<Argument> PlanRequest::arguments() {
  return {
      topology_option(file_, "--topology,--file"),
      list_option("--hosts", "H0,H1,..", hosts_, "names for the topology's nodes, in their order; default: their own"),
      texts_option("--interfaces", "[HOST=]PLUGS", interfaces_,
                   "the interfaces of a host's plugs, plugs between commas, functions of one plug joined by +, as\n"
                   "in eth1+eth2,eth3+eth4; or spark. HOST=: of this host only; without it: of all other hosts"),
      text_option("--subnet", "RANGE", range_, "the range that is divided into subnets"),
      number_option("--prefix", kShortestPrefix, kLongestPrefix, prefix_, "the length of each subnet's prefix"),
      number_option("--mtu", kLowestMtu, kHighestMtu, mtu_, "MTU of every interface")};
}

bool PlanRequest::has_details() const {
  return !hosts_.empty() || !interfaces_.empty() || range_ != kDefaultRange || prefix_ != kDefaultPrefix ||
         mtu_ != kDefaultMtu;
}

absl::StatusOr<AddressPlan> PlanRequest::make(const Invocation& invocation) const {
  const absl::StatusOr<KnownTopology> known =
      find_topology(invocation.settings, file_, invocation.surroundings.node_deadline);
  if (!known.ok()) return known.status();
  return plan_of(known->topology);
}

absl::StatusOr<AddressPlan> PlanRequest::plan_of(const routing::Topology& topology) const {
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

}  // namespace cableway::cli
