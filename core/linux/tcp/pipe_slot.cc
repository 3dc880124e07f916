#include "core/linux/tcp/pipe_slot.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/tcp/relay_memory.h"

namespace cableway::host {

absl::StatusOr<std::unique_ptr<PipeSlot>> PipeSlot::create(std::uint32_t bytes) {
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot create a pipe for a slot");
  auto slot = std::make_unique<PipeSlot>(UniqueFd(ends[0]), UniqueFd(ends[1]));
  // Halves the size until the kernel accepts it; the default size of pipe2() is the minimum.
  for (std::uint32_t size = bytes; size > 65536; size /= 2) {
    if (::fcntl(slot->write_end(), F_SETPIPE_SZ, size) >= 0) break;
  }
  return slot;
}

void PipeSlot::clear() {
  // Only a circuit that ended in the middle of a chunk leaves data. `head` is unused by then and serves as the buffer.
  if (in_pipe() > 0) {
    while (uninterrupted([&] { return ::read(read_end(), head.data(), head.size()); }) > 0) continue;
  }
  Slot::clear();
  head_filled = 0;
}

void PipeSlot::widen() {
  static_cast<void>(::fcntl(write_end(), F_SETPIPE_SZ, kWidePipeBytes));
}

bool PipeSlot::narrow() {
  // The kernel rejects a size smaller than the contents.
  return ::fcntl(write_end(), F_SETPIPE_SZ, kFloorPipeBytes) != -1 || errno != EBUSY;
}

int PipeSlot::capacity() const {
  return ::fcntl(write_end_.get(), F_GETPIPE_SZ);
}

absl::StatusOr<std::vector<std::unique_ptr<Slot>>> make_pipe_slots(std::size_t count, std::uint32_t bytes) {
  std::vector<std::unique_ptr<Slot>> slots;
  slots.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    absl::StatusOr<std::unique_ptr<PipeSlot>> slot = PipeSlot::create(bytes);
    if (!slot.ok()) return slot.status();
    slots.push_back(*std::move(slot));
  }
  return slots;
}

}  // namespace cableway::host
