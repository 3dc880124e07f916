// The chunks that a sender has given to one circuit, in order, and that are not known to have landed. If the circuit
// ends, some of them have landed and the others have not: which ones, only the receiver's count tells.
//
// One thread at a time. Allocates nothing.
#ifndef CABLEWAY_CORE_FLOW_GIVEN_CHUNKS_H_
#define CABLEWAY_CORE_FLOW_GIVEN_CHUNKS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace cableway {

// Bytes [begin, end) of a message. A message without bytes has one such range, which is empty.
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
  // Chunks given since the circuit began.
  std::uint64_t given() const { return end_; }
  // Of those that are not known to have landed.
  std::uint64_t bytes() const { return bytes_; }
  // Requires room.
  void add(const MessageRange& chunk) {
    chunks_[end_++ % kMax] = chunk;
    bytes_ += chunk.end - chunk.begin;
  }

  // The first `count` chunks since the circuit began have landed. False: more than were given. Fewer than were known
  // before changes nothing.
  bool landed(std::uint64_t count);
  // All messages below this one have landed, over whatever circuit.
  void landed_below(std::uint64_t message);

  // The circuit was fenced when `count` chunks had landed. False: that cannot be, as more were given or fewer are known
  // to have landed. Else calls `again` for each of the others, in order, and forgets all.
  template <typename Again>
  bool settle(std::uint64_t count, const Again& again) {
    if (count < first_ || !landed(count)) return false;
    for (; first_ != end_; forget_first()) again(chunks_[first_ % kMax]);
    return true;
  }
  // For the next circuit in the slot.
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
