// Which plugs of which hosts the cables of a topology join.
//
// A topology lists a cable for each pair of functions (interfaces). What is plugged in is a wire: all of its cables
// between the same two jacks. A jack is a plug with its functions, or an interface whose plug is not known.
//
//     spark-0                       spark-1
//     jack p0 {enp1s0f0np0,  ====== jack p1 {enp1s0f1np1,        one wire, two cables
//              enP2p1s0f0np0}                enP2p1s0f1np1}
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_WIRING_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_WIRING_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::cli {

struct Jack {
  std::string node;
  std::string plug;                     // empty: not known
  std::vector<std::string> interfaces;  // in the order of their cables; empty where they are not known
};

// "plug p0 of spark-0 (enp1s0f0np0, enP2p1s0f0np0)", "enp1s0 of n0", or "n0" where neither is known.
std::string jack_text(const Jack& jack);
// "plug p0 of spark-0", or as above where the plug is not known.
std::string short_jack_text(const Jack& jack);
// jack_text() without the node.
std::string jack_text_at_node(const Jack& jack);

// Gives jacks numbers from 0, the same number for the same node and key.
class JackTable {
 public:
  // Adds the interface, unless it is empty, to the jack. A plug's name is that of the first port that has one.
  std::size_t place(const std::string& node, const std::string& key, const std::string& plug,
                    const std::string& interface);
  const Jack& operator[](std::size_t jack) const { return jacks_[jack]; }
  std::size_t size() const { return jacks_.size(); }

 private:
  std::vector<Jack> jacks_;
  std::map<std::pair<std::string, std::string>, std::size_t> by_key_;
};

// The cable of one pair of functions.
struct WireLink {
  std::string a;  // interfaces, empty where they are not known
  std::string b;
  const routing::Cable* cable = nullptr;  // of the topology
};

struct Wire {
  std::size_t a = 0;  // jacks; a's node precedes b's in the topology
  std::size_t b = 0;
  std::vector<WireLink> links;  // at least one, in the topology's order
};

// What identifies the jack of a port at its node.
using JackKey = std::function<std::string(const std::string& node, const routing::Port& port, const routing::Cable&)>;

// By the port's plug, else by its interface; a port with neither is a jack of its own.
std::string own_jack_key(const std::string& node, const routing::Port& port, const routing::Cable& cable);

// All cables that are plugged in, those that no path uses included, in the order of their first cables. The topology
// outlives the result.
std::vector<Wire> wires_of(const routing::Topology& topology, const JackKey& key, JackTable& jacks);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_WIRING_H_
