// Finds which jacks of an expected and of a found topology are the same.
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_SHARED_JACKS_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_SHARED_JACKS_H_

#include <map>
#include <string>
#include <utility>

#include "routing/topology/topology.h"

namespace cableway::cli {

// A JackKey (wiring.h) for both topologies: their ports of one plug have the same key. The expectation's plug decides,
// then the plug of the found topology, which may have another name, then the interface.
class SharedJacks {
 public:
  SharedJacks(const routing::Topology& expected, const routing::Topology& found);

  std::string operator()(const std::string& node, const routing::Port& port, const routing::Cable& cable) const;

  // Whether some interface is in both topologies, so that ports can be identified by their names; true where nothing
  // was found.
  bool tell_ports() const;

 private:
  using Interface = std::pair<std::string, std::string>;  // a node and its interface
  using Plugs = std::map<Interface, std::string>;         // empty where none is named

  static Plugs plugs_of(const routing::Topology& topology);

  Plugs expected_;
  Plugs found_;
  std::map<std::pair<std::string, std::string>, std::string> expected_name_;  // of a node's found plug
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_SHARED_JACKS_H_
