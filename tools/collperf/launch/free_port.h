// A TCP port of 127.0.0.1 that is free at the time of the call; 0: none.
#ifndef CABLEWAY_TOOLS_COLLPERF_LAUNCH_FREE_PORT_H_
#define CABLEWAY_TOOLS_COLLPERF_LAUNCH_FREE_PORT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace cableway::collperf {

inline std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  close(fd);
  return bound ? ntohs(address.sin_port) : 0;
}

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_LAUNCH_FREE_PORT_H_
