// What a hostile node sends once it has a neighbour: each function sends one kind of false information.
#ifndef CABLEWAY_TOOLS_BENCH_HOSTILE_LIES_H_
#define CABLEWAY_TOOLS_BENCH_HOSTILE_LIES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "routing/topology/port_address.h"
#include "sim/nodes/lying_node.h"
#include "tools/bench/hostile/paced_calls.h"

namespace cableway::bench {

// Nodes that do not exist, with so many cables each to the nodes that follow in a ring, behind this node.
void invent_nodes(sim::LyingNode& node, std::size_t nodes, std::size_t cables_each);

// Cables of this node, and of nodes that do not exist, with addresses that others have.
void claim_addresses(sim::LyingNode& node, const std::vector<routing::PortAddress>& addresses);

// Again and again, an advertisement of each of these nodes in turn, without cables, and with the last version of a
// boot nonce from `boot_nonce` on.
std::unique_ptr<PacedCalls> forge(sim::LyingNode& node, Clock& clock, std::vector<std::string> names,
                                  std::uint64_t boot_nonce, std::uint64_t per_second);

// Again and again its own advertisement, in which a cable to an invented node comes and goes.
std::unique_ptr<PacedCalls> renew_own(sim::LyingNode& node, Clock& clock, std::uint64_t per_second);

// Again and again the advertisements of invented nodes in turn, whose draining flag toggles.
std::unique_ptr<PacedCalls> renew_invented(sim::LyingNode& node, Clock& clock, std::uint64_t per_second);

// Again and again a list of as many TCP ports as a node may announce, half of them others than before.
std::unique_ptr<PacedCalls> renew_ports(sim::LyingNode& node, Clock& clock, std::uint64_t per_second);

}  // namespace cableway::bench

#endif  // CABLEWAY_TOOLS_BENCH_HOSTILE_LIES_H_
