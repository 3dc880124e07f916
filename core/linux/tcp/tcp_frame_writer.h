// The sending half of a TCP hop: control frames from a small queue, and one chunk at a time from memory or from a slot,
// written without blocking. A partly written frame is completed before any other, so frames never interleave.
#ifndef CABLEWAY_CORE_LINUX_TCP_TCP_FRAME_WRITER_H_
#define CABLEWAY_CORE_LINUX_TCP_TCP_FRAME_WRITER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "core/flow/chunk_link.h"
#include "core/flow/frame.h"
#include "core/linux/tcp/pipe_slot.h"
#include "core/rdma/registered_slot.h"

namespace cableway::host {

class TcpFrameWriter {
 public:
  // `checksums`: whether chunks from memory get a checksum if their frame has none.
  TcpFrameWriter(int socket, bool checksums) : socket_(socket), checksums_(checksums) {}

  bool can_send() const { return !chunk_active_; }
  // Requires can_send(). The memory or slot must stay valid until progress() reports it sent.
  void begin(const Frame& chunk, const std::byte* payload);
  void begin(const Frame& chunk, PipeSlot& slot);
  void begin(const Frame& chunk, RegisteredSlot& slot);
  absl::Status queue(const Frame& control);
  bool has_queued() const { return controls_begin_ != controls_end_; }

  // Writes until nothing is left, the kernel accepts no more, or the slot's next bytes have not arrived.
  absl::Status progress(ChunkLink::Sink& sink);

  // Tries once to send the reason of the circuit's failure, after all queued frames: an acknowledgement queued just
  // before the end must not be lost. Sends nothing in the middle of a frame.
  void try_send_failure(absl::string_view reason, FailureScope scope);

  std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  enum class Outcome { kAllWritten, kMustWait };

  void begin_chunk(const Frame& chunk, const std::byte* memory);
  absl::StatusOr<Outcome> write_controls();
  absl::StatusOr<Outcome> write_chunk();
  // Writes the header and the payload's first `bytes`, which are in memory. `more`: MSG_MORE if the payload continues,
  // else 0.
  absl::StatusOr<Outcome> write_header_and_memory(std::uint32_t bytes, int more);
  absl::StatusOr<Outcome> write_from_slot();
  absl::StatusOr<Outcome> write_from_pipe();
  bool within_chunk() const { return chunk_active_ && header_written_ > 0; }

  const int socket_;
  const bool checksums_;
  std::array<std::byte, kMaxQueuedControls * kFrameHeaderBytes> controls_;
  std::size_t controls_begin_ = 0;  // bytes of controls_ that are written
  std::size_t controls_end_ = 0;    // bytes of controls_ that are queued

  bool chunk_active_ = false;
  FrameBytes header_{};
  std::size_t header_written_ = 0;
  std::uint32_t payload_bytes_ = 0;
  std::uint32_t payload_written_ = 0;
  const std::byte* memory_ = nullptr;
  PipeSlot* slot_ = nullptr;               // set if the chunk is in a pipe
  RegisteredSlot* memory_slot_ = nullptr;  // set if it is in a slot's memory
  std::uint64_t bytes_written_ = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_TCP_FRAME_WRITER_H_
