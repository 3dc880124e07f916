// Two hosts, n0 and n1, with one wire between their split plugs: two functions each, a PCIe link behind each.
#ifndef CABLEWAY_TESTS_TOOLS_CABLEWAY_DOCTOR_SPLIT_PLUGS_H_
#define CABLEWAY_TESTS_TOOLS_CABLEWAY_DOCTOR_SPLIT_PLUGS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/topology/topology.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::cli {

// Rates are in Mbit/s, by host; 0: not known. A cable's is `cable_mbps`, or that of a slower plug or root at its ends.
struct SplitPlugs {
  std::array<std::uint64_t, 2> plug_mbps{200'000, 200'000};
  std::array<std::array<std::uint64_t, 2>, 2> root_mbps{{{98'300, 98'300}, {98'300, 98'300}}};  // by function
  std::array<bool, 2> one_root{};  // the first is behind both functions
  std::uint64_t cable_mbps = 98'300;
  bool is_switched = false;  // cable c2 joins eth1 of n0 to eth2 of n1, c3 the others

  // Cable c0 joins eth1 of both, c1 eth2 of both.
  routing::Topology topology() const {
    std::vector<routing::Node> nodes;
    for (const std::size_t host : {0, 1}) {
      routing::Node& node = nodes.emplace_back();
      node.name = absl::StrCat("n", host);
      if (plug_mbps[host] != 0) node.plugs = {{"p0", plug_mbps[host]}};
      for (const std::size_t function : {0, 1}) {
        const std::uint64_t rate = root_mbps[host][function];
        if (rate != 0 && (function == 0 || !one_root[host])) node.roots.push_back({absl::StrCat("r", function), rate});
      }
    }
    std::vector<routing::Cable> cables;
    for (std::size_t i = 0; i < (is_switched ? 4 : 2); ++i) {
      routing::Cable& cable = cables.emplace_back();
      cable.name = absl::StrCat("c", i);
      cable.a = port(0, i % 2);
      cable.b = port(1, i < 2 ? i : 3 - i);
      cable.rate_mbps = cable_mbps;
    }
    routing::keep_to_parts(nodes, cables);
    return routing::Topology::create("test", std::move(nodes), std::move(cables)).value();
  }

 private:
  routing::Port port(std::uint32_t host, std::size_t function) const {
    routing::Port made;
    made.node = routing::NodeIndex{host};
    made.interface = absl::StrCat("eth", function + 1);
    made.address = absl::StrCat("10.7.", function, ".", host + 1);
    made.plug = "p0";
    if (root_mbps[host][function] != 0) made.root = absl::StrCat("r", one_root[host] ? 0 : function);
    return made;
  }
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TESTS_TOOLS_CABLEWAY_DOCTOR_SPLIT_PLUGS_H_
