#include "sim/stub_rdma/stub_network.h"

#include <algorithm>

namespace cableway::sim {
namespace {

constexpr std::uint32_t kFirstPair = 0x11;  // as on devices, which keep the first ones for themselves
constexpr std::uint32_t kSequenceMask = 0xffffff;
// A write lands, one lands that its sender has left on the wire, a completion is reported.
constexpr std::size_t kDeeds = 3;
constexpr std::size_t kCompletes = 2;
constexpr std::uint32_t kStepsSlow = 64;  // on average, until another one is slow

bool do_deed(StubQueuePair& pair, std::size_t deed) {
  if (deed == 0) return pair.deliver();
  return deed == 1 ? pair.deliver_late() : pair.complete();
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
  if (random_() % kStepsSlow == 0) slow_ = random_() % (pairs_.size() * kDeeds);
  const std::size_t first = random_() % pairs_.size();
  const std::size_t first_deed = random_() % kDeeds;
  for (const bool spare_slow : {true, false}) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (act((first + i) % pairs_.size(), first_deed, spare_slow)) return true;
    }
  }
  return false;
}

bool StubNetwork::act(std::size_t pair, std::size_t first_deed, bool spare_slow) {
  if (pairs_[pair] == nullptr) return false;
  for (std::size_t i = 0; i < kDeeds; ++i) {
    const std::size_t deed = (first_deed + i) % kDeeds;
    // A device asks again for an acknowledgement only after a long time.
    const bool is_slow =
        slow_ == pair * kDeeds + deed || (deed == kCompletes && pairs_[pair]->misses_acknowledgement());
    if (spare_slow && is_slow) continue;
    if (do_deed(*pairs_[pair], deed)) return true;
  }
  return false;
}

void StubNetwork::deliver_all() {
  for (bool moved = true; moved;) {
    moved = false;
    for (StubQueuePair* pair : pairs_) {
      for (std::size_t deed = 0; pair != nullptr && deed < kDeeds; ++deed) {
        while (do_deed(*pair, deed)) moved = true;
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
