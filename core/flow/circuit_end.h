// How a circuit of a flow ended, as far as one end of the flow knows. For display.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_END_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_END_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/flow/chunk_checksum.h"
#include "core/flow/chunk_link.h"
#include "core/flow/circuit_name.h"

namespace cableway {

// Sent to the node (core/session/session_message.h).
enum class CircuitEndKind : std::uint8_t {
  kFailed,     // a fault was found here, or found elsewhere on the path and reported here
  kCorrupted,  // damaged bytes were found here
  kStuck,      // nothing landed over this circuit, while chunks landed over others
  kClosed,     // its connection was closed, or the other end retired it, without a reason
  kMoved,      // its source moved to another circuit, or does not need it: the circuit had no fault
};
inline constexpr std::size_t kCircuitEndKinds = static_cast<std::size_t>(CircuitEndKind::kMoved) + 1;

// Stable names for programs: "failed", "corrupted", "stuck", "closed", "moved".
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
  std::string reason;  // names the place where the fault was found
  // At the source: the bytes to be sent again, known once the destination has counted what has landed.
  bool counted = true;
  std::uint64_t bytes_again = 0;
};

// The end kind of a circuit whose link or owner has returned this status.
inline CircuitEndKind end_kind_of(const absl::Status& reason) {
  if (found_corruption(reason)) return CircuitEndKind::kCorrupted;
  // Seen at this end, or reported by the circuit's first relay.
  const bool is_closed = absl::IsCancelled(reason) || says_source_closed(reason);
  return is_closed ? CircuitEndKind::kClosed : CircuitEndKind::kFailed;
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_END_H_
