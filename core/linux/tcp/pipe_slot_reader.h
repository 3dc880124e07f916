// The receiving half of a TCP hop at a relay: frame headers and small payloads are read in bulk, the rest of a larger
// payload is spliced into the pipe of the slot posted for it. A chunk is reported when its header has arrived, so that
// its head can be sent while its tail arrives.
//
// It remembers that the socket is empty and does not read again until on_readable(): for small messages, reads that
// find nothing would cost more than those that do.
#ifndef CABLEWAY_CORE_LINUX_TCP_PIPE_SLOT_READER_H_
#define CABLEWAY_CORE_LINUX_TCP_PIPE_SLOT_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/flow/chunk_link.h"
#include "core/flow/frame.h"
#include "core/linux/tcp/pipe_slot.h"

namespace cableway::host {

class PipeSlotReader {
 public:
  explicit PipeSlotReader(int socket);

  void post_slot(PipeSlot& slot);
  // ChunkLink::withdraw_slot().
  bool withdraw_slot(PipeSlot& slot);
  // Limits the payload bytes in a pipe from now on. Bytes already in it stay.
  void bound_pipes(std::uint32_t bytes) { max_in_pipe_ = bytes; }
  // Event from the poller: bytes have arrived or, if `ended`, the last bytes have.
  void on_readable(bool ended);
  // Reads until the socket is empty, no slot is free, or the slot's pipe is full.
  absl::Status progress(ChunkLink::Sink& sink);
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  enum class Outcome { kAgain, kMustWait };

  absl::StatusOr<Outcome> read_header();
  absl::StatusOr<Outcome> handle_header(ChunkLink::Sink& sink);
  absl::StatusOr<Outcome> read_payload();
  absl::StatusOr<Outcome> read_failure_text();
  absl::StatusOr<Outcome> stage();
  absl::StatusOr<Outcome> splice_payload(PipeSlot& slot);
  absl::StatusOr<Outcome> count(ssize_t got);
  void copy_staged_payload(PipeSlot& slot);
  std::size_t staged() const { return staged_end_ - staged_begin_; }

  const int socket_;
  // Bytes read and not consumed yet: [staged_begin_, staged_end_). At most a header and a slot's head.
  std::array<std::byte, kFrameHeaderBytes + PipeSlot::kHeadBytes> staging_;
  std::size_t staged_begin_ = 0;
  std::size_t staged_end_ = 0;
  bool readable_ = true;         // false: known to be empty
  bool ended_ = false;           // the final, empty read reports the reason
  std::optional<Frame> frame_;   // decoded, not finished
  PipeSlot* filling_ = nullptr;  // receives frame_'s payload
  std::vector<PipeSlot*> free_;  // posted and empty
  std::uint32_t max_in_pipe_ = kMaxChunkBytes;
  bool takes_chunks_ = false;  // a slot has been posted: data arrives on this side
  std::uint64_t bytes_read_ = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_PIPE_SLOT_READER_H_
