// The chunks that a sender has given to one circuit, in order, and that are not known to have landed. When the
// circuit ends, only the receiver's count shows which of them have landed.
//
// One thread at a time. Allocates nothing.
#ifndef CABLEWAY_CORE_FLOW_GIVEN_CHUNKS_H_
#define CABLEWAY_CORE_FLOW_GIVEN_CHUNKS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace cableway {

// The bytes [begin, end) of a message. A message without bytes has one such range, which is empty.
struct MessageRange {
  std::uint64_t message = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const MessageRange&, const MessageRange&) = default;
};

class GivenChunks {
 public:
  static constexpr std::size_t kMax = 64;

  std::size_t size() const { return end_ - first_; }
  bool full() const { return size() == kMax; }
  // The number of chunks given since the circuit began.
  std::uint64_t given() const { return end_; }
  // The bytes of the chunks that are not known to have landed.
  std::uint64_t bytes() const { return bytes_; }
  // Requires that full() is false.
  void add(const MessageRange& chunk) {
    chunks_[end_++ % kMax] = chunk;
    bytes_ += chunk.end - chunk.begin;
  }

  // The first `count` chunks since the circuit began have landed. False: fewer were given. A count below an earlier
  // one changes nothing.
  bool landed(std::uint64_t count);
  // All messages below this one have landed, over any circuit.
  void landed_below(std::uint64_t message);

  // The circuit was fenced when `count` chunks had landed. False: the count is impossible, since fewer were given or
  // more are known to have landed. Else calls `again` for each remaining chunk, in order, and forgets all.
  template <typename Again>
  bool settle(std::uint64_t count, const Again& again) {
    if (count < first_ || !landed(count)) return false;
    for (; first_ != end_; forget_first()) again(chunks_[first_ % kMax]);
    return true;
  }
  // Starts over for the next circuit in the slot.
  void begin() { first_ = end_ = bytes_ = 0; }

 private:
  void forget_first() {
    const MessageRange& chunk = chunks_[first_++ % kMax];
    bytes_ -= chunk.end - chunk.begin;
  }

  std::array<MessageRange, kMax> chunks_;
  std::uint64_t first_ = 0;  // counted since the circuit began
  std::uint64_t end_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_GIVEN_CHUNKS_H_
