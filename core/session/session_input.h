// The messages in a stream of bytes, of which one read may bring several, or a part of one.
#ifndef CABLEWAY_CORE_SESSION_SESSION_INPUT_H_
#define CABLEWAY_CORE_SESSION_SESSION_INPUT_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace cableway {

// Each message follows its length, as encode_session_message() writes it. The buffer has 32 KiB, or the size of the
// longest message that was received.
class SessionInput {
 public:
  // `most`: the bytes of a message, without its length.
  explicit SessionInput(std::size_t most) : most_(most) {}

  // Where further bytes go: room for the rest of the next message at least. Ends what next() returned. Precondition:
  // next() has returned nullopt, or was not called yet.
  std::span<std::byte> room();
  // `bytes` were written to room().
  void filled(std::size_t bytes) { end_ += bytes; }
  // The next message without its length. nullopt: it is incomplete. InvalidArgument: it is longer than `most`.
  absl::StatusOr<std::optional<std::span<const std::byte>>> next();

 private:
  // With its length, once that was received.
  std::size_t next_size() const;

  const std::size_t most_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // of what next() has not returned
  std::size_t end_ = 0;    // of what was received
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_SESSION_INPUT_H_
