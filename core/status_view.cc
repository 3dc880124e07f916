#include "core/status_view.h"

#include <nlohmann/json.hpp>

namespace cableway {

std::string status_view(const Node& node, const RelayStatus& relay, std::size_t sessions) {
  nlohmann::ordered_json circuits = nlohmann::ordered_json::array();
  for (const CircuitStatus& circuit : relay.circuits) {
    circuits.push_back(
        {{"flow", circuit.flow}, {"path", circuit.path}, {"chunks", circuit.chunks}, {"bytes", circuit.bytes}});
  }
  const nlohmann::ordered_json view = {{"node", node.name()},
                                       {"cluster", node.topology().cluster()},
                                       {"addresses", node.addresses()},
                                       {"relay_port", node.relay_port()},
                                       {"sessions", sessions},
                                       {"relayed",
                                        {{"bytes", relay.bytes},
                                         {"chunks", relay.chunks},
                                         {"circuits_open", relay.circuits.size()},
                                         {"circuits_opened", relay.circuits_opened},
                                         {"circuits_broken", relay.circuits_broken},
                                         {"setups_refused", relay.setups_refused}}},
                                       {"circuits", circuits}};
  // A name that is not UTF-8 is shown with replacement characters; the default is to throw.
  return view.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace cableway
