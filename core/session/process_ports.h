// The TCP ports at which this host's processes accept circuits, as each has announced to its node (ListensAt).
//
// One thread: the node's.
#ifndef CABLEWAY_CORE_SESSION_PROCESS_PORTS_H_
#define CABLEWAY_CORE_SESSION_PROCESS_PORTS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "core/session/flow_ledger.h"
#include "core/session/session_message.h"

namespace cableway {

class ProcessPorts {
 public:
  // A process has one listener: its last message counts.
  void take(const SessionPeer& peer, const ListensAt& message) { ports_[peer.session] = message.port; }
  // The session is over. False: it has announced no port.
  bool left(const SessionPeer& peer) { return ports_.erase(peer.session) > 0; }
  // Ascending, each once.
  std::vector<std::uint16_t> all() const {
    std::vector<std::uint16_t> all;
    for (const auto& [session, port] : ports_) all.push_back(port);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

 private:
  std::map<std::uint64_t, std::uint16_t> ports_;  // by session
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_PROCESS_PORTS_H_
