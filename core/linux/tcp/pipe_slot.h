// A relay slot for TCP: a kernel pipe. splice(2) moves pages from the upstream socket into it and from it into the
// downstream socket, so the payload is not copied through this process; except for its head, which is read together
// with the header and stored in the slot itself. A small payload fits the head entirely: copying it is cheaper than
// splicing.
#ifndef CABLEWAY_CORE_LINUX_TCP_PIPE_SLOT_H_
#define CABLEWAY_CORE_LINUX_TCP_PIPE_SLOT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/flow/chunk_link.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

class PipeSlot final : public Slot {
 public:
  // At most this many payload bytes are copied through `head` instead of being spliced; a payload of at most this size
  // is copied whole.
  static constexpr std::uint32_t kHeadBytes = 4096;

  // A pipe of `bytes`, or as large as the kernel allows this user: fs.pipe-max-size, and two pages once the user's
  // pipes have reached fs.pipe-user-pages-soft. A smaller pipe makes the relay slower, never wrong.
  static absl::StatusOr<std::unique_ptr<PipeSlot>> create(std::uint32_t bytes);

  PipeSlot(UniqueFd read_end, UniqueFd write_end) : read_end_(std::move(read_end)), write_end_(std::move(write_end)) {}

  void clear() override;
  void widen() override;
  bool narrow() override;

  int read_end() const { return read_end_.get(); }
  int write_end() const { return write_end_.get(); }
  // The bytes that fit if they arrive in whole pages.
  int capacity() const;
  // Payload bytes in the pipe now. Can exceed capacity(): for large packets the kernel puts more than a page into each
  // of the pipe's buffers.
  std::uint32_t in_pipe() const { return filled - std::max(drained, head_filled); }

  // The payload's first `head_filled` bytes; the rest is in the pipe.
  std::array<std::byte, kHeadBytes> head;
  std::uint32_t head_filled = 0;

 private:
  UniqueFd read_end_;
  UniqueFd write_end_;
};

absl::StatusOr<std::vector<std::unique_ptr<Slot>>> make_pipe_slots(std::size_t count, std::uint32_t bytes);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_PIPE_SLOT_H_
