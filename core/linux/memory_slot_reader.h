// The receiving half of a TCP hop at a relay whose other hop goes over RDMA: payloads are read into the registered
// memory of the slot posted for them, and a chunk is reported when it is whole, because a device sends no chunk that
// is still arriving.
#ifndef CABLEWAY_CORE_LINUX_MEMORY_SLOT_READER_H_
#define CABLEWAY_CORE_LINUX_MEMORY_SLOT_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/chunk_link.h"
#include "core/frame.h"
#include "core/rdma_slot.h"

namespace cableway::linux_ {

class MemorySlotReader {
 public:
  explicit MemorySlotReader(int socket);

  void post_slot(RdmaSlot& slot);
  // ChunkLink::withdraw_slot().
  bool withdraw_slot(RdmaSlot& slot);
  // Reads until the socket is empty or no slot is free.
  absl::Status progress(ChunkLink::Owner& owner);
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  enum class Outcome { kAgain, kMustWait };

  absl::StatusOr<Outcome> step(ChunkLink::Owner& owner);
  absl::StatusOr<Outcome> take_header();
  absl::StatusOr<Outcome> act_on_header(ChunkLink::Owner& owner);
  absl::StatusOr<Outcome> take_payload(ChunkLink::Owner& owner);
  absl::StatusOr<Outcome> take_failure_text();
  // Reads what is missing of `bytes` at `to`, of which `have` are there. kAgain: they all are.
  absl::StatusOr<Outcome> read(std::byte* to, std::size_t bytes, std::size_t& have);

  const int socket_;
  std::array<std::byte, kMaxFailureText> staging_;  // a header, or the text of a failure
  std::size_t staged_ = 0;
  std::optional<Frame> frame_;   // decoded, and not finished
  RdmaSlot* filling_ = nullptr;  // where frame_'s payload goes
  std::size_t filled_ = 0;
  std::vector<RdmaSlot*> free_;  // posted and empty
  bool takes_chunks_ = false;    // a slot has been posted: this is the side that data comes from
  std::uint64_t bytes_read_ = 0;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_MEMORY_SLOT_READER_H_
