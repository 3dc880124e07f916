// How a circuit of a flow has ended, as one end of the flow knows it. For display.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_END_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_END_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/flow/chunk_checksum.h"
#include "core/flow/circuit_name.h"

namespace cableway {

// Sent to the node (core/session/session_message.h).
enum class CircuitEndKind : std::uint8_t {
  kFailed,     // a fault was found here, or elsewhere on the path and its reason was sent here
  kCorrupted,  // damaged bytes were found here
  kStuck,      // nothing landed over it, while chunks landed over others
  kClosed,     // its connection was closed, or the other end has retired it, without a reason
  kMoved,      // its source has left it for another one, or does not need it: nothing was wrong with it
};
inline constexpr std::size_t kCircuitEndKinds = static_cast<std::size_t>(CircuitEndKind::kMoved) + 1;

// For programs: "failed", "corrupted", "stuck", "closed", "moved".
inline absl::string_view name_of(CircuitEndKind kind) {
  switch (kind) {
    case CircuitEndKind::kFailed:
      return "failed";
    case CircuitEndKind::kCorrupted:
      return "corrupted";
    case CircuitEndKind::kStuck:
      return "stuck";
    case CircuitEndKind::kClosed:
      return "closed";
    case CircuitEndKind::kMoved:
      return "moved";
  }
  return "failed";
}

struct CircuitEnd {
  CircuitName circuit{0, 0};  // generation 0: none
  CircuitEndKind kind = CircuitEndKind::kFailed;
  std::string reason;  // with the place where it was found
  // At the source: what has to be sent again, once the destination has counted what has landed.
  bool counted = true;
  std::uint64_t bytes_again = 0;
};

// Of a circuit whose link, or whose owner, has given this status.
inline CircuitEndKind end_kind_of(const absl::Status& reason) {
  if (found_corruption(reason)) return CircuitEndKind::kCorrupted;
  return absl::IsCancelled(reason) ? CircuitEndKind::kClosed : CircuitEndKind::kFailed;
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_END_H_
