// Topologies generated from a spec such as "ring:8" or "torus:4x4@100Gbit/s,2us".
//
//     SPEC  = SHAPE [ "@" VALUE [ "," VALUE ] ]
//     VALUE = a rate (100Gbit/s, 40Mbit/s, 100G) or a latency (1us, 500ns, 1ms) of every cable; at most one of each.
//             Defaults: kDefaultRateMbps, and a latency that is not known. Of sparks, the rate of a plug: 200Gbit/s
//
//     line:N           N nodes in a row                                         2 to 4096
//     ring:N           a line closed to a ring                                  3 to 4096
//     mesh:N           a cable between every two nodes                          2 to 362
//     star:N           n0 with a cable to each of the others                    3 to 4096
//     switch:N         every node has one port, on one switch                   2 to 362
//     torus:AxB        a closed grid, also torus:AxBxC; a dimension of two has one cable, not two   2x2 to 4096 nodes
//     hypercube:D      2^D nodes, D cables at each                              1 to 12
//     random:N,K       K cables at each of N nodes, random but connected; SEED in random:N,K,SEED selects another graph
//                      (0 is that of random:N,K); N * K is even                 3 to 4096 nodes, 2 to N-1 cables each
//     dragonfly:GxN    G groups, each a full mesh of N nodes, and one cable between every two groups, spread over their
//                      nodes                                                    2 groups of 2 to 4096 nodes
//     rings:N          two rings of N, with a bridge between their first nodes  3 to 2048
//     twins:N          a ring of split ports: every wire is two cables between the same two plugs; twins:2: two nodes
//                      with one wire                                            2 to 4096
//     sparks:N         a ring of DGX Sparks: every wire is two cables between the same two plugs, every node has two
//                      PCIe links of 98.3 Gbit/s, each with one port of either plug; sparks:2: two hosts joined by both
//                      plugs                                                    2 to 4096
//
// Nodes are n0, n1, .. and cables c0, c1, ..; shapes.h defines which nodes each cable joins, port_plan.h the interfaces
// and addresses: those of `tools/lab` for the shapes that it supports. On a switch every pair of nodes is a cable
// "n0-n1", as nodes discover it. The cluster name is always "cableway".
#ifndef CABLEWAY_ROUTING_SHAPES_TOPOLOGY_GENERATOR_H_
#define CABLEWAY_ROUTING_SHAPES_TOPOLOGY_GENERATOR_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// Whether `text` is a spec, valid or not, rather than a file name: lower-case letters followed by a colon. A file with
// such a name is written "./ring:8".
bool is_topology_spec(std::string_view text);

// Pure: the same spec always gives the same topology. The result is connected. InvalidArgument reads "spec "..": what
// is wrong; what was expected".
absl::StatusOr<Topology> generate_topology(std::string_view spec);

// "line:N, ring:N, ..": the forms of all shapes, for messages and help.
std::string topology_spec_forms();

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_SHAPES_TOPOLOGY_GENERATOR_H_
