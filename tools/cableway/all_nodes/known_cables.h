// The cables to nodes that do not answer, as the nodes that answer know them: a node is cut off where all of them are
// down, and a finding tells why.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_KNOWN_CABLES_H_
#define CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_KNOWN_CABLES_H_

#include <map>
#include <string>

#include "tools/cableway/all_nodes/cable_end.h"
#include "tools/cableway/all_nodes/node_documents.h"

namespace cableway::cli {

class KnownCables {
 public:
  // Throws Json::exception if its view `doctor` is malformed; then nothing was added.
  void add(const NodeDocument& node);
  // A finding at `here` tells what is wrong with its cable to that node; one of silence alone tells nothing.
  void has_fault(const CableEnd& here, const std::string& node);

  bool lead_to(const std::string& node) const { return by_node_.contains(node); }
  // Whether cables to it are known, all are down, and one has a fault at least.
  bool cut_off(const std::string& node) const;

 private:
  struct Cable {
    bool is_up = false;
    bool has_fault = false;
  };

  std::map<std::string, std::map<CableEnd, Cable>> by_node_;  // the node, and the end at the node that knows the cable
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_KNOWN_CABLES_H_
