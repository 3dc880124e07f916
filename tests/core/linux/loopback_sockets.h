// TCP connections over loopback, for tests that drive one of the ends directly.
#ifndef CABLEWAY_TESTS_CORE_LINUX_LOOPBACK_SOCKETS_H_
#define CABLEWAY_TESTS_CORE_LINUX_LOOPBACK_SOCKETS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/flow/frame.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host::test {

// A socket that listens on 127.0.0.1, and its port.
struct Listener {
  UniqueFd socket;
  std::uint16_t port = 0;
};
Listener listen_on_loopback(int backlog = 16);
Listener listen_on_loopback_port(std::uint16_t port, int backlog = 16);
UniqueFd connect_to(std::uint16_t port);
UniqueFd accept_from(const Listener& listener);

// Both ends of a connection, blocking. `buffer_bytes`: the requested size of each kernel buffer, 0 for the default.
std::pair<UniqueFd, UniqueFd> connected_pair(int buffer_bytes = 0);

// Writes all bytes, or fails the test.
void write_all(int socket, std::span<const std::byte> bytes);
void write_all(int socket, const std::string& text);
void write_frame(int socket, const Frame& frame, std::span<const std::byte> payload = {});
void write_failure(int socket, const std::string& reason, FailureScope scope = FailureScope::kCircuit);
// Reads `bytes`, or fewer if the connection ends before; fails the test after a long wait.
std::vector<std::byte> read_bytes(int socket, std::size_t bytes);
// The next frame. A truncated or malformed frame fails the test.
Frame read_frame(int socket);
std::string read_text(int socket, std::size_t bytes);
// Whether the peer has closed the connection: nothing is left to read, and there was no reset.
bool reads_end(int socket);

// Calls `step` until `done` holds. False after `limit`, which is long because a busy machine may give a test little
// time.
bool run_until(const std::function<bool()>& done, const std::function<void()>& step,
               std::chrono::milliseconds limit = std::chrono::seconds(100));

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_LOOPBACK_SOCKETS_H_
