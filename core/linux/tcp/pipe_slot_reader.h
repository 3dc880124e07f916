// The receiving half of a TCP hop at a relay: frame headers and small payloads are read in bulk, the rest of a larger
// payload is spliced into the pipe of the slot posted for it. A chunk is reported when its header is here, so that its
// head can go on while its tail arrives.
//
// It remembers that the socket is empty and does not ask again until it hears of on_readable(): for small messages the
// calls that find nothing would cost more than those that do.
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
  // How many payload bytes a pipe may hold from now on. What is in it stays.
  void bound_pipes(std::uint32_t bytes) { most_in_pipe_ = bytes; }
  // The poller's news: bytes have come, or, if `ended`, nothing follows those that have.
  void on_readable(bool ended);
  // Reads until the socket is empty, no slot is free, or the slot's pipe is full.
  absl::Status progress(ChunkLink::Sink& sink);
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  enum class Outcome { kAgain, kMustWait };

  absl::StatusOr<Outcome> take_header();
  absl::StatusOr<Outcome> act_on_header(ChunkLink::Sink& sink);
  absl::StatusOr<Outcome> take_payload();
  absl::StatusOr<Outcome> take_failure_text();
  absl::StatusOr<Outcome> stage();
  absl::StatusOr<Outcome> splice_payload(PipeSlot& slot);
  absl::StatusOr<Outcome> count(ssize_t got);
  void take_staged_payload(PipeSlot& slot);
  std::size_t staged() const { return staged_end_ - staged_begin_; }

  const int socket_;
  // What has been read and not taken: [staged_begin_, staged_end_). At most a header and a slot's head.
  std::array<std::byte, kFrameHeaderBytes + PipeSlot::kHeadBytes> staging_;
  std::size_t staged_begin_ = 0;
  std::size_t staged_end_ = 0;
  bool readable_ = true;         // as far as is known
  bool ended_ = false;           // the last read that finds nothing will say why
  std::optional<Frame> frame_;   // decoded, and not finished
  PipeSlot* filling_ = nullptr;  // where frame_'s payload goes
  std::vector<PipeSlot*> free_;  // posted and empty
  std::uint32_t most_in_pipe_ = kMaxChunkBytes;
  bool takes_chunks_ = false;  // a slot has been posted: this is the side that data comes from
  std::uint64_t bytes_read_ = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_PIPE_SLOT_READER_H_
