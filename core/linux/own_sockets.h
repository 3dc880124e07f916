// Which sockets of this process are Cableway's, so that a forked child can let go of its copies. A copy that stays open
// keeps a connection up after its owner has closed it or died, and shutting one down would end the owner's connection.
#ifndef CABLEWAY_CORE_LINUX_OWN_SOCKETS_H_
#define CABLEWAY_CORE_LINUX_OWN_SOCKETS_H_

namespace cableway::linux_ {

// To be called for every socket as soon as it exists. It need not be called when one is closed. Any thread.
void note_own_socket(int socket);

// Closes those that are still what they were when they were noted. For a child right after fork(): calls nothing but
// what is async-signal-safe.
void close_own_sockets();

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_OWN_SOCKETS_H_
