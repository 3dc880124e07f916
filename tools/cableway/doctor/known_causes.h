// The faults of ports that the node reports. Silence, a neighbour that does not answer, and a topology in parts follow
// from them: `doctor` has one finding for each cause, and none for what follows.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_KNOWN_CAUSES_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_KNOWN_CAUSES_H_

#include <map>
#include <string>
#include <vector>

#include "core/event/event_code.h"
#include "tools/cableway/node/node_answer.h"

namespace cableway::cli {

class KnownCauses {
 public:
  KnownCauses() = default;
  // `problems` of the node of that name, as in core/view/status_view.h. Throws Json::exception if they are malformed.
  explicit KnownCauses(const Json& problems, std::string node = "");

  // `events` as in core/view/events_view.h. Of each port the neighbour whose cable was lost last counts.
  void add_losses(const Json& events);
  // A node that is reached over another cable runs, whatever the state of its lost cable. After add_losses().
  void add_reached(const std::string& node);

  struct LostNeighbour {
    std::string node;
    std::string interface;
    bool has_left = false;  // it was stopped
    bool lives = false;
  };
  // nullptr: none is known.
  const LostNeighbour* lost_neighbour(const std::string& interface) const;

  // Why no neighbour is known on a port that has a carrier: what arrives there is refused.
  bool explain_silence(const std::string& interface) const;
  // Why that node, at the other end of a cable of that port, hears no answer: what it sends is refused here, or nothing
  // can be sent. `is_heard`: it is among the neighbours here, so a refusal that names no node is about another one.
  bool explain_no_answer(const std::string& interface, const std::string& node, bool is_heard) const;
  // Why the cable to that node, which is heard, is not up.
  bool explain_neighbour(const std::string& interface, const std::string& node) const;
  // Why datagrams to a neighbour of that port could not be sent.
  bool explain_unsent(const std::string& interface) const;
  // Two nodes have one name, and this port, or any, hears one of them: what this node says of it may be of either.
  bool hears_namesakes(const std::string& interface) const;
  // Whether two nodes have this name.
  bool has_namesake(const std::string& node) const;
  // Whether any two nodes have the same name.
  bool has_namesakes() const { return has(EventCode::kNameTaken); }
  // Whether another node has the name of this one: then neighbours may use only their cables to the other one.
  bool is_namesake() const;
  // Whether this problem follows from another one.
  bool follows(const std::string& code) const;
  bool has_of_cable(EventCode code, const std::string& cable) const;

 private:
  struct Cause {
    std::string code;
    std::string interface;  // empty: of no port
    std::string neighbour;  // empty: of none
    std::string cable;      // empty: of none
  };

  bool has(EventCode code) const;

  std::string node_;  // empty: not known
  std::vector<Cause> causes_;
  std::map<std::string, LostNeighbour> lost_;  // by port
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_KNOWN_CAUSES_H_
