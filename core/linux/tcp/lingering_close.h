// Closes a data socket without losing what was said last. close() on a socket with unread data sends a reset, and a
// reset may overtake the last acknowledgement or the reason of a failure; so the sending side is shut down first, and
// what still arrives is read and dropped until the peer closes too.
#ifndef CABLEWAY_CORE_LINUX_TCP_LINGERING_CLOSE_H_
#define CABLEWAY_CORE_LINUX_TCP_LINGERING_CLOSE_H_

#include <boost/asio/io_context.hpp>

#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// What the peer has not taken by then: the kernel goes on offering it for as long as the peer lives, or forgets it.
enum class Unsent { kKeepOffering, kForget };

// Shuts down and drains `socket` on `io`'s thread for two seconds at most, then closes it. Any thread may call. The
// memory that the socket's link used must not be touched by it any more (ChunkLink::fence).
void close_lingering(boost::asio::io_context& io, UniqueFd socket, Unsent unsent = Unsent::kKeepOffering);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_LINGERING_CLOSE_H_
