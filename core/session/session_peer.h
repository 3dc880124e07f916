// The process at the other end of a session.
#ifndef CABLEWAY_CORE_SESSION_SESSION_PEER_H_
#define CABLEWAY_CORE_SESSION_SESSION_PEER_H_

#include <cstdint>

namespace cableway {

// A process may have several sessions.
struct SessionPeer {
  std::uint64_t session = 0;  // unique on the node; 0: the node itself
  std::int64_t process = 0;   // process ID; 0 if unknown, as of one in another PID namespace
  std::uint32_t user = 0;     // user ID
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_SESSION_PEER_H_
