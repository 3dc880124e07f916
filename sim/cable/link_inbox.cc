#include "sim/cable/link_inbox.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/flow/chunk_checksum.h"

namespace cableway::sim {

std::vector<std::unique_ptr<Slot>> make_memory_slots(std::size_t count, std::size_t bytes) {
  std::vector<std::unique_ptr<Slot>> slots;
  slots.reserve(count);
  for (std::size_t i = 0; i < count; ++i) slots.push_back(std::make_unique<MemorySlot>(bytes));
  return slots;
}

absl::Status LinkInbox::post_landing(std::uint64_t message, const Landing& landing) {
  if (landings_.size() >= kMaxLandings) {
    return absl::ResourceExhaustedError("more receives are posted than a flow may have");
  }
  landings_.push_back(Posted{message, landing});
  return absl::OkStatus();
}

void LinkInbox::end_landing(std::uint64_t message) {
  std::erase_if(landings_, [message](const Posted& each) { return each.message == message; });
}

void LinkInbox::post_slot(Slot& slot) {
  slot.filled = 0;
  slot.drained = 0;
  takes_slots_ = true;
  slots_.push_back(&slot);
}

bool LinkInbox::withdraw_slot(Slot& slot) {
  const auto posted = std::find(slots_.begin(), slots_.end(), &slot);
  if (posted == slots_.end()) return false;
  slots_.erase(posted);
  return true;
}

absl::StatusOr<bool> LinkInbox::take_chunk(const Frame& chunk, const std::byte* payload) {
  const auto posted = std::find_if(landings_.begin(), landings_.end(),
                                   [&](const Posted& each) { return each.message == chunk.message; });
  absl::Status status;
  if (posted != landings_.end()) {
    status = land(*posted, chunk, payload);
  } else if (!takes_slots_) {
    status = absl::InvalidArgumentError(
        absl::StrCat("peer sent data of message ", chunk.message, ", which has not been announced"));
  } else if (slots_.empty()) {
    return false;
  } else {
    status = fill_slot(chunk, payload);
  }
  if (!status.ok()) return status;
  return true;
}

absl::Status LinkInbox::land(const Posted& posted, const Frame& chunk, const std::byte* payload) {
  if (chunk.size > posted.landing.capacity) {
    return absl::InvalidArgumentError(absl::StrCat("message ", chunk.message, " does not fit its receive"));
  }
  if (payload != nullptr && chunk.payload > 0) {
    // Placed before it is checked, as the first parts of large chunks are.
    std::memcpy(posted.landing.data + chunk.offset, payload, chunk.payload);
    if (absl::Status status = check_checksum(chunk, payload); !status.ok()) return status;
  }
  arrived_.push_back(Arrived{chunk, nullptr});
  return absl::OkStatus();
}

absl::Status LinkInbox::fill_slot(const Frame& chunk, const std::byte* payload) {
  auto& slot = static_cast<RegisteredSlot&>(*slots_.front());
  if (payload != nullptr && chunk.payload > slot.capacity()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a chunk of ", chunk.payload, " bytes does not fit a slot of ", slot.capacity()));
  }
  if (payload != nullptr && slot.registered()) {
    if (absl::Status status = check_checksum(chunk, payload); !status.ok()) return status;
  }
  slots_.pop_front();
  if (payload != nullptr && chunk.payload > 0) std::memcpy(slot.data(), payload, chunk.payload);
  slot.filled = chunk.payload;
  arrived_.push_back(Arrived{chunk, &slot});
  return absl::OkStatus();
}

absl::Status LinkInbox::report(ChunkLink::Sink& sink) {
  while (!arrived_.empty()) {
    const Arrived next = arrived_.front();
    arrived_.pop_front();
    absl::Status status;
    if (next.frame.kind != FrameKind::kChunk) {
      status = sink.on_control(next.frame);
    } else if (next.slot != nullptr) {
      status = sink.on_chunk(next.frame, *next.slot);
    } else {
      status = sink.on_landed(next.frame);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void LinkInbox::close() {
  landings_.clear();
  arrived_.clear();
}

}  // namespace cableway::sim
