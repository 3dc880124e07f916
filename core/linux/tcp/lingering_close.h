// Closes a data socket without losing the last bytes sent. close() on a socket with unread data sends a reset, and a
// reset may overtake the last acknowledgement or the reason of a failure; so the sending side is shut down first, and
// arriving data is discarded, without being copied, until the peer closes too.
//
// All sockets are closed after two seconds at most. Callable from any thread; the work is done on that of `io`.
#ifndef CABLEWAY_CORE_LINUX_TCP_LINGERING_CLOSE_H_
#define CABLEWAY_CORE_LINUX_TCP_LINGERING_CLOSE_H_

#include <boost/asio/io_context.hpp>
#include <cstddef>

#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// What happens to data that the peer has not acknowledged by then: the kernel keeps retransmitting it until the
// connection times out, or discards it.
enum class Unsent { kKeepOffering, kForget };

// For the connections of circuits and cable tests, whose number is bounded by these. The socket's link must no longer
// use its memory (ChunkLink::fence).
void close_lingering(boost::asio::io_context& io, UniqueFd socket, Unsent unsent = Unsent::kKeepOffering);

// For a connection whose set-up is refused. Anyone who reaches a listener may cause these, so what they take is
// bounded: at most kMaxRefused of one `io` stay open, and each is closed with a reset once it has sent more than
// kMaxRefusedBytes. To admit a further one, the oldest whose peer has everything is closed with a reset, or if there is
// none, the oldest. An honest peer has sent nothing but its set-up, and reads the reason although a reset has followed
// it.
inline constexpr std::size_t kMaxRefused = 64;
inline constexpr std::size_t kMaxRefusedBytes = 65536;
void close_refused(boost::asio::io_context& io, UniqueFd socket);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_LINGERING_CLOSE_H_
