#include "sim/stub_rdma/stub_network.h"

#include <algorithm>

namespace cableway::sim {
namespace {

constexpr std::uint32_t kFirstPair = 0x11;  // as on devices, which reserve the first ones
constexpr std::uint32_t kSequenceMask = 0xffffff;
// The actions: a write lands, a write left on the wire by a fenced sender lands, a completion is reported.
constexpr std::size_t kActions = 3;
constexpr std::size_t kCompletes = 2;
constexpr std::uint32_t kStepsSlow = 64;  // average steps until the slow action changes

bool perform(StubQueuePair& pair, std::size_t action) {
  if (action == 0) return pair.deliver();
  return action == 1 ? pair.deliver_late() : pair.complete();
}

}  // namespace

StubDevice& StubNetwork::add_device() {
  devices_.push_back(std::make_unique<StubDevice>(static_cast<std::uint16_t>(devices_.size() + 1)));
  return *devices_.back();
}

std::unique_ptr<StubQueuePair> StubNetwork::make_queue_pair(StubDevice& device) {
  const auto number = static_cast<std::uint32_t>(kFirstPair + pairs_.size());
  auto pair = std::make_unique<StubQueuePair>(*this, device, number, random_() & kSequenceMask);
  pairs_.push_back(pair.get());
  return pair;
}

std::pair<std::unique_ptr<StubQueuePair>, std::unique_ptr<StubQueuePair>> StubNetwork::make_pair(StubDevice& left,
                                                                                                 StubDevice& right) {
  auto left_pair = make_queue_pair(left);
  auto right_pair = make_queue_pair(right);
  note_misuse(left_pair->connect(right_pair->endpoint()));
  note_misuse(right_pair->connect(left_pair->endpoint()));
  return {std::move(left_pair), std::move(right_pair)};
}

bool StubNetwork::step() {
  if (pairs_.empty()) return false;
  if (random_() % kStepsSlow == 0) slow_ = random_() % (pairs_.size() * kActions);
  const std::size_t first = random_() % pairs_.size();
  const std::size_t first_action = random_() % kActions;
  for (const bool spare_slow : {true, false}) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (act((first + i) % pairs_.size(), first_action, spare_slow)) return true;
    }
  }
  return false;
}

bool StubNetwork::act(std::size_t pair, std::size_t first_action, bool spare_slow) {
  if (pairs_[pair] == nullptr) return false;
  for (std::size_t i = 0; i < kActions; ++i) {
    const std::size_t action = (first_action + i) % kActions;
    // A device retries a lost acknowledgement only after a long time.
    const bool is_slow =
        slow_ == pair * kActions + action || (action == kCompletes && pairs_[pair]->misses_acknowledgement());
    if (spare_slow && is_slow) continue;
    if (perform(*pairs_[pair], action)) return true;
  }
  return false;
}

void StubNetwork::deliver_all() {
  for (bool moved = true; moved;) {
    moved = false;
    for (StubQueuePair* pair : pairs_) {
      for (std::size_t action = 0; pair != nullptr && action < kActions; ++action) {
        while (perform(*pair, action)) moved = true;
      }
    }
  }
}

StubQueuePair* StubNetwork::find(std::uint32_t number) const {
  const std::uint32_t place = number - kFirstPair;
  return place < pairs_.size() ? pairs_[place] : nullptr;
}

void StubNetwork::forget(std::uint32_t number) {
  pairs_[number - kFirstPair] = nullptr;
}

std::size_t StubNetwork::choose_late_writes(std::size_t outstanding) {
  const std::size_t most = std::min(outstanding, settings_.max_late_writes);
  return most == 0 ? 0 : random_() % (most + 1);
}

}  // namespace cableway::sim
