// Handling of frames that arrive at a relay over TCP, common to all kinds of slots.
#ifndef CABLEWAY_CORE_LINUX_TCP_RELAY_FRAME_H_
#define CABLEWAY_CORE_LINUX_TCP_RELAY_FRAME_H_

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/flow/chunk_link.h"

namespace cableway::host {

// Whether a chunk follows, which needs a slot; a control frame is passed to `sink` here. InvalidArgument: a protocol
// violation of the peer. `takes_chunks`: data flows in this direction.
inline absl::StatusOr<bool> is_relayed_chunk(const Frame& frame, bool takes_chunks, ChunkLink::Sink& sink) {
  if (is_control(frame.kind)) {
    if (absl::Status status = sink.on_control(frame); !status.ok()) return status;
    return false;
  }
  if (frame.kind != FrameKind::kChunk) {
    return absl::InvalidArgumentError(
        absl::StrCat("peer sent a frame ", to_text(frame.kind), " on a circuit that is already set up"));
  }
  if (!takes_chunks) return absl::InvalidArgumentError("peer sent a chunk against the circuit's direction");
  return true;
}

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_RELAY_FRAME_H_
