// Messages whose every byte can be checked, and buffers that detect reads and writes out of bounds or out of time.
#ifndef CABLEWAY_TESTS_CORE_FLOW_MESSAGE_BUFFERS_H_
#define CABLEWAY_TESTS_CORE_FLOW_MESSAGE_BUFFERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/flow/chunk_link.h"
#include "core/flow/frame.h"

namespace cableway::test {

// Byte `at` of message `message`: adjacent bytes, and the same offset in two messages, differ.
inline std::byte message_byte(std::uint64_t message, std::uint64_t at) {
  const std::uint64_t mixed = (message * 0x9e3779b97f4a7c15 + at) * 0xbf58476d1ce4e5b9;
  return static_cast<std::byte>(mixed >> 56);
}

// A send buffer. The test poisons it once the send is done, so that a late read sends wrong bytes.
class SentMessage {
 public:
  SentMessage(std::uint64_t message, std::size_t bytes) : bytes_(bytes) {
    for (std::size_t i = 0; i < bytes; ++i) bytes_[i] = message_byte(message, i);
  }
  SendBuffer buffer(std::uint32_t key = 0) const { return SendBuffer{bytes_.data(), key}; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  void poison() { std::fill(bytes_.begin(), bytes_.end(), std::byte{0xdd}); }

 private:
  std::vector<std::byte> bytes_;
};

// A receive buffer between two guards. Received bytes are checked and then overwritten, so that a late write is
// detected.
class ReceivedMessage {
 public:
  explicit ReceivedMessage(std::size_t capacity) : capacity_(capacity), bytes_(capacity + 2 * kGuard, kFresh) {}

  Landing landing(std::uint32_t key = 0) { return Landing{bytes_.data() + kGuard, capacity_, key}; }
  std::size_t capacity() const { return capacity_; }
  std::span<std::byte> room() { return std::span(bytes_).subspan(kGuard, capacity_); }

  // Whether it holds message `message` of `size` bytes, and nothing else was written.
  bool holds(std::uint64_t message, std::size_t size) const {
    if (size > capacity_) return false;
    for (std::size_t i = 0; i < size; ++i) {
      if (bytes_[kGuard + i] != message_byte(message, i)) return false;
    }
    return untouched(0, kGuard, kFresh) && untouched(kGuard + size, bytes_.size(), kFresh);
  }
  // As a reader of LL128 sees the memory: it takes a line as whole once the line's last 8 bytes, the flag, have
  // changed. Returns how many lines it takes, or nullopt if one of them is not whole.
  std::optional<std::size_t> lines_read(std::uint64_t message, std::size_t size) const {
    std::size_t read = 0;
    for (std::size_t line = 0; line + kLineBytes <= size; line += kLineBytes) {
      if (untouched(kGuard + line + kLineBytes - kFlagBytes, kGuard + line + kLineBytes, kFresh)) continue;
      ++read;
      for (std::size_t i = line; i < line + kLineBytes; ++i) {
        if (bytes_[kGuard + i] != message_byte(message, i)) return std::nullopt;
      }
    }
    return read;
  }
  void reuse() { std::fill(bytes_.begin(), bytes_.end(), kReused); }
  // Whether nothing was written here since reuse().
  bool still_reused() const { return untouched(0, bytes_.size(), kReused); }

 private:
  static constexpr std::size_t kGuard = 128;
  static constexpr std::size_t kFlagBytes = 8;
  static constexpr std::byte kFresh{0xfe};
  static constexpr std::byte kReused{0xee};

  bool untouched(std::size_t begin, std::size_t end, std::byte as) const {
    return std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(begin),
                       bytes_.begin() + static_cast<std::ptrdiff_t>(end), [as](std::byte byte) { return byte == as; });
  }

  std::size_t capacity_;
  std::vector<std::byte> bytes_;
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_FLOW_MESSAGE_BUFFERS_H_
