// Plans the addresses of a cluster whose hosts are joined by direct cables: which plug of which host each cable joins,
// and a subnet for each pair of functions.
//
//     ring:3 of DGX Sparks            c0 10.10.0.0/24   spark-0 enp1s0f0np0   .1   spark-1 enp1s0f1np1   .2
//     spark-0.p0 ==== spark-1.p1      c1 10.10.1.0/24   spark-0 enP2p1s0f0np0 .1   spark-1 enP2p1s0f1np1 .2
//     spark-1.p0 ==== spark-2.p1      c2 10.10.2.0/24   spark-1 enp1s0f0np0   .1   spark-2 enp1s0f1np1   .2
//     spark-2.p0 ==== spark-0.p1      ..
#ifndef CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_ADDRESS_PLAN_H_
#define CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_ADDRESS_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "tools/cableway/address_plan/host_plugs.h"
#include "tools/cableway/address_plan/subnet_range.h"

namespace cableway::cli {

struct PlanOptions {
  std::vector<std::string> hosts;    // new names of the topology's nodes, in their order; empty: their own
  std::optional<PlugsByHost> plugs;  // nullopt: the topology's interfaces and plugs
};

// One interface with its planned address.
struct PlannedPort {
  std::string host;
  std::string plug;  // empty: not known
  std::string interface;
  std::string address;
};

// The cable of one pair of functions.
struct PlannedLink {
  std::string name;    // of the cable in the expected topology
  std::string subnet;  // with its prefix
  PlannedPort from;    // has the first address of the subnet, `to` the second
  PlannedPort to;
};

// What is plugged in: the links between two plugs.
struct PlannedCable {
  std::vector<PlannedLink> links;      // at least one; the first names both plugs
  std::vector<std::string> left_over;  // functions of the plugs that have no counterpart: "enP2p1s0f0np0 of spark-0"
};

struct AddressPlan {
  std::vector<std::string> hosts;    // in the topology's order
  std::vector<PlannedCable> cables;  // in the order of their subnets
  int subnet_bits = 0;
  routing::Topology expected;  // with interfaces, plugs and addresses
};

// The names of the topology's nodes with the options' names in their places. InvalidArgument: another number of names,
// one that is not valid, or one given twice.
absl::StatusOr<std::vector<std::string>> host_names(const routing::Topology& topology,
                                                    const std::vector<std::string>& hosts);

// Whether some port of the topology names its interface.
bool names_interfaces(const routing::Topology& topology);

// Pure; the same arguments give the same plan. Cables are numbered in the natural order of their names if every cable
// has a name of its own, else in the topology's order. With `options.plugs`, a topology in which no node has more than
// two cables gets each of its rings and lines cabled from the first plug of a host to the second of the next; in any
// other, a host's plugs take its cables in their order, unless the topology itself names plugs. InvalidArgument names
// the host, port or cable at fault: a host with more cables than plugs, a port with several cables (a switch), a cable
// through routers, too few subnets.
absl::StatusOr<AddressPlan> plan_addresses(const routing::Topology& topology, const PlanOptions& options,
                                           const SubnetRange& range);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_ADDRESS_PLAN_H_
