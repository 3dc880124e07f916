// The receiving half of a TCP hop at a relay: frame headers are read one by one, a chunk's payload is spliced into the
// pipe of the slot posted for it. A chunk is reported when its header is here, so that its head can go on while its
// tail arrives.
#ifndef CABLEWAY_CORE_LINUX_SLOT_READER_H_
#define CABLEWAY_CORE_LINUX_SLOT_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/chunk_link.h"
#include "core/frame.h"
#include "core/linux/pipe_slot.h"

namespace cableway::linux_ {

class SlotReader {
 public:
  explicit SlotReader(int socket);

  void post_slot(PipeSlot& slot);
  // Reads until the socket is empty, no slot is free, or the slot's pipe is full.
  absl::Status progress(ChunkLink::Owner& owner);
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  enum class Outcome { kAgain, kMustWait };

  absl::StatusOr<Outcome> read_header();
  absl::StatusOr<Outcome> act_on_header(ChunkLink::Owner& owner);
  absl::StatusOr<Outcome> read_payload();
  absl::StatusOr<Outcome> read_failure_text();
  absl::StatusOr<Outcome> count(ssize_t got);

  const int socket_;
  FrameBytes header_{};
  std::size_t header_read_ = 0;
  std::optional<Frame> frame_;   // decoded, and not finished
  PipeSlot* filling_ = nullptr;  // where frame_'s payload goes
  std::vector<PipeSlot*> free_;  // posted and empty
  bool takes_chunks_ = false;    // a slot has been posted: this is the side that data comes from
  std::string failure_text_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_SLOT_READER_H_
