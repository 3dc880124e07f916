// How events name a circuit (core/event/event_code.h).
#ifndef CABLEWAY_CORE_CIRCUIT_CIRCUIT_EVENTS_H_
#define CABLEWAY_CORE_CIRCUIT_CIRCUIT_EVENTS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/event/event.h"

namespace cableway {

// describe_path(), or nodes_on_path() if that exceeds 512 bytes, so that a reason that follows is not truncated.
std::string circuit_text(const CircuitSetup& setup);

// "path" (nodes_on_path()), "flow" (16 hex digits), "from" and "to" (nodes).
EventFields circuit_fields(const CircuitSetup& setup);
// The same fields and "reason".
EventFields circuit_fields(const CircuitSetup& setup, const absl::Status& reason);

// The reason in an event's text: quoted, since it may be the words of a peer, which must not pass for this node's.
std::string reason_text(const absl::Status& reason);

// A flow's ID as events and `cableway flows` show it: 16 hex digits.
std::string flow_text(std::uint64_t flow);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_CIRCUIT_EVENTS_H_
