// FrameSocket: length-prefixed frames over a connected TCP socket, without blocking.
//
// A frame is a 4-byte little-endian length, a type byte, and `length` bytes of payload. Received data is not trusted: a
// frame above the limit or of an unknown type ends the connection with an error. Used by one thread.
#ifndef CABLEWAY_TOOLS_COLLPERF_FRAME_SOCKET_H_
#define CABLEWAY_TOOLS_COLLPERF_FRAME_SOCKET_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace cableway::collperf {

using Clock = std::chrono::steady_clock;

// For error messages.
inline double seconds_of(std::chrono::milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

// An owned file descriptor, closed on destruction.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept;
  ~OwnedFd();

  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

enum class FrameType : std::uint8_t { kHello = 1, kWelcome = 2, kGather = 3, kGathered = 4, kAbort = 5, kAlive = 6 };

struct Frame {
  FrameType type;
  std::string payload;
};

inline constexpr std::uint32_t kHelloLimit = 64 * 1024;
inline constexpr std::uint32_t kFrameLimit = 64 * 1024 * 1024;

class FrameSocket {
 public:
  // Takes ownership of a connected socket and makes it non-blocking.
  FrameSocket(OwnedFd fd, std::uint32_t payload_limit);

  int fd() const { return fd_.get(); }
  void set_payload_limit(std::uint32_t limit) { payload_limit_ = limit; }

  // Sends a whole frame, waiting for buffer space until `deadline`.
  absl::Status send(FrameType type, const std::string& payload, Clock::time_point deadline);

  // Reads the available bytes, without waiting. Fails when the peer closed or the stream is malformed; frames received
  // before that can still be taken.
  absl::Status pump();

  // The oldest whole frame.
  std::optional<Frame> take();
  // The type of the oldest whole frame.
  std::optional<FrameType> next() const;

  // When bytes were last received; initially, the time of construction.
  Clock::time_point last_heard() const { return last_heard_; }
  // For a peer that was not expected to send until now.
  void restart_silence() { last_heard_ = Clock::now(); }

  // Shuts down the sending direction.
  void shutdown();

 private:
  absl::Status check_header() const;

  OwnedFd fd_;
  std::uint32_t payload_limit_;
  std::string received_;
  Clock::time_point last_heard_ = Clock::now();
};

// Waits until one of the descriptors has something to read, at most `limit`.
void wait_readable(const std::vector<int>& fds, std::chrono::milliseconds limit);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_FRAME_SOCKET_H_
