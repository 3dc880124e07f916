// The receiving half of a hop in memory: the landings and slots posted by its owner, and received frames that are not
// yet reported.
#ifndef CABLEWAY_SIM_CABLE_LINK_INBOX_H_
#define CABLEWAY_SIM_CABLE_LINK_INBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/flow/chunk_link.h"
#include "core/rdma/registered_slot.h"

namespace cableway::sim {

// A slot in memory that is not registered with any device; with no bytes, it only counts payload.
class MemorySlot final : public RegisteredSlot {
 public:
  explicit MemorySlot(std::size_t bytes) : MemorySlot(std::vector<std::byte>(bytes)) {}

 private:
  explicit MemorySlot(std::vector<std::byte> bytes) : RegisteredSlot(bytes, {}), bytes_(std::move(bytes)) {}

  std::vector<std::byte> bytes_;
};

std::vector<std::unique_ptr<Slot>> make_memory_slots(std::size_t count, std::size_t bytes);

class LinkInbox {
 public:
  absl::Status post_landing(std::uint64_t message, const Landing& landing);
  void end_landing(std::uint64_t message);
  // Requires a RegisteredSlot, registered or not, since the relay's other hop may use RDMA.
  void post_slot(Slot& slot);
  bool withdraw_slot(Slot& slot);
  std::size_t slots_posted() const { return slots_.size(); }

  // Places a chunk into its landing or a slot. `payload` may be null: then bytes are only counted. False: the chunk has
  // to wait for a slot. An error: the peer broke the protocol, or the payload's checksum is wrong where it leaves the
  // cable for memory.
  absl::StatusOr<bool> take_chunk(const Frame& chunk, const std::byte* payload);
  void take_control(const Frame& control) { arrived_.push_back(Arrived{control, nullptr}); }

  // Reports received frames, each once. An error is the one that the sink returned.
  absl::Status report(ChunkLink::Sink& sink);
  bool empty() const { return arrived_.empty(); }
  // Drops landings and unreported frames, so that nothing is written any more.
  void close();

 private:
  struct Arrived {
    Frame frame;
    Slot* slot = nullptr;
  };
  struct Posted {
    std::uint64_t message = 0;
    Landing landing;
  };

  absl::Status land(const Posted& posted, const Frame& chunk, const std::byte* payload);
  absl::Status fill_slot(const Frame& chunk, const std::byte* payload);

  std::deque<Arrived> arrived_;
  std::vector<Posted> landings_;
  std::deque<Slot*> slots_;
  bool takes_slots_ = false;  // a slot has been posted: data without a landing waits for a slot
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_LINK_INBOX_H_
