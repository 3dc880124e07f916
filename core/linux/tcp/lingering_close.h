// Closes a data socket without losing the last bytes sent. close() on a socket with unread data sends a reset, and a
// reset may overtake the last acknowledgement or the reason of a failure; so the sending side is shut down first, and
// arriving data is discarded until the peer closes too.
#ifndef CABLEWAY_CORE_LINUX_TCP_LINGERING_CLOSE_H_
#define CABLEWAY_CORE_LINUX_TCP_LINGERING_CLOSE_H_

#include <boost/asio/io_context.hpp>

#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// What happens to data that the peer has not acknowledged by then: the kernel keeps retransmitting it until the
// connection times out, or discards it.
enum class Unsent { kKeepOffering, kForget };

// Shuts down and drains `socket` on `io`'s thread for at most two seconds, then closes it. Callable from any thread.
// The socket's link must no longer use its memory (ChunkLink::fence).
void close_lingering(boost::asio::io_context& io, UniqueFd socket, Unsent unsent = Unsent::kKeepOffering);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_LINGERING_CLOSE_H_
