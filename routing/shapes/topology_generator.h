// Topologies that need no file: from a spec such as "ring:8" or "torus:4x4@100Gbit/s,2us".
//
//     SPEC  = SHAPE [ "@" VALUE [ "," VALUE ] ]
//     VALUE = a rate (100Gbit/s, 40Mbit/s, 100G) or a latency (1us, 500ns, 1ms) of every cable; one of each at most
//
//     line:N           N nodes in a row                                         2 to 4096
//     ring:N           a row that is closed                                     3 to 4096
//     mesh:N           a cable between every two nodes                          2 to 362
//     star:N           n0 with a cable to each of the others                    3 to 4096
//     switch:N         every node has one port, on one switch                   2 to 362
//     torus:AxB        a closed grid, torus:AxBxC too; a dimension of two has one cable, not two    2x2 to 4096 nodes
//     hypercube:D      2^D nodes, D cables at each                              1 to 12
//     random:N,K       K cables at each of N nodes, as chance will have it but connected; random:N,K,SEED has another
//                      chance (0 is that of random:N,K); N * K is even          3 to 4096 nodes, 2 to N-1 cables each
//     dragonfly:GxN    G groups, each a full mesh of N nodes, and one cable between every two groups, spread over their
//                      nodes                                                    2 groups of 2 to 4096 nodes
//     rings:N          two rings of N, and a bridge between their first nodes   3 to 2048
//     twins:N          a ring of split ports: every wire is two cables, between the same two plugs   3 to 4096
//
// Nodes are n0, n1, .. and cables c0, c1, ..; shapes.h says which cable joins which nodes, port_plan.h which interfaces
// and addresses they have: those of `tools/lab` for the shapes that it knows. On a switch every pair of nodes is a
// cable "n0-n1", as nodes discover it. All have the cluster name "cableway".
#ifndef CABLEWAY_ROUTING_SHAPES_TOPOLOGY_GENERATOR_H_
#define CABLEWAY_ROUTING_SHAPES_TOPOLOGY_GENERATOR_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// Whether `text` is meant as a spec, right or wrong, and not as the name of a file: lower-case letters, then a colon.
// A file of such a name is "./ring:8".
bool is_topology_spec(std::string_view text);

// Pure: the same spec gives the same topology, always. The result is connected. InvalidArgument reads "spec "..": what
// is wrong; what was expected".
absl::StatusOr<Topology> generate_topology(std::string_view spec);

// "line:N, ring:N, ..": the shapes, for messages and help.
std::string topology_spec_forms();

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_SHAPES_TOPOLOGY_GENERATOR_H_
