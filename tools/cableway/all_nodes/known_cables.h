// The cables to nodes that do not answer, as reported by the nodes that answer: a node is cut off if all of them are
// down and a finding names the cause.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_KNOWN_CABLES_H_
#define CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_KNOWN_CABLES_H_

#include <cstddef>
#include <map>
#include <string>

#include "tools/cableway/all_nodes/cable_end.h"
#include "tools/cableway/all_nodes/node_documents.h"

namespace cableway::cli {

class KnownCables {
 public:
  // Throws Json::exception if its view `doctor` is malformed; then nothing was added.
  void add(const NodeDocument& node);
  // A finding at `here` names a fault of its cable to that node. Silence alone is none: the node may be stopped.
  void has_fault(const CableEnd& here, const std::string& node);

  // Cables to the node, up or down.
  std::size_t number_to(const std::string& node) const;
  // Whether cables to it are known, all are down, and one has a fault at least.
  bool cut_off(const std::string& node) const;

 private:
  struct Cable {
    bool is_up = false;
    bool has_fault = false;
  };

  std::map<std::string, std::map<CableEnd, Cable>> by_node_;  // by the node, then by the cable's other end
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_KNOWN_CABLES_H_
