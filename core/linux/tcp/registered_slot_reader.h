// The receiving half of a TCP hop at a relay whose other hop goes over RDMA: payloads are read into the registered
// memory of the slot posted for them, and a chunk is reported when it is complete, because a device cannot send a chunk
// that is still arriving.
#ifndef CABLEWAY_CORE_LINUX_TCP_REGISTERED_SLOT_READER_H_
#define CABLEWAY_CORE_LINUX_TCP_REGISTERED_SLOT_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/flow/chunk_link.h"
#include "core/flow/frame.h"
#include "core/rdma/registered_slot.h"

namespace cableway::host {

class RegisteredSlotReader {
 public:
  // `checksums`: a chunk's checksum is checked before the chunk is reported.
  RegisteredSlotReader(int socket, bool checksums);

  void post_slot(RegisteredSlot& slot);
  // ChunkLink::withdraw_slot().
  bool withdraw_slot(RegisteredSlot& slot);
  // Reads until the socket is empty or no slot is free.
  absl::Status progress(ChunkLink::Sink& sink);
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  enum class Outcome { kAgain, kMustWait };

  absl::StatusOr<Outcome> step(ChunkLink::Sink& sink);
  absl::StatusOr<Outcome> read_header();
  absl::StatusOr<Outcome> handle_header(ChunkLink::Sink& sink);
  absl::StatusOr<Outcome> read_payload(ChunkLink::Sink& sink);
  absl::StatusOr<Outcome> read_failure_text();
  // Reads the missing part of `bytes` at `to`, of which `have` have arrived. kAgain: all have.
  absl::StatusOr<Outcome> read(std::byte* to, std::size_t bytes, std::size_t& have);

  const int socket_;
  const bool checksums_;
  std::array<std::byte, kMaxFailureText> staging_;  // a header, or the text of a failure
  std::size_t staged_ = 0;
  std::optional<Frame> frame_;         // decoded, not finished
  RegisteredSlot* filling_ = nullptr;  // receives frame_'s payload
  std::size_t filled_ = 0;
  std::vector<RegisteredSlot*> free_;  // posted and empty
  bool takes_chunks_ = false;          // a slot has been posted: data arrives on this side
  std::uint64_t bytes_read_ = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_REGISTERED_SLOT_READER_H_
