#include "core/discovery/life_challenges.h"

#include <algorithm>
#include <utility>

namespace cableway {
namespace {

LifeKey first_of(PortId port) {
  return {{port, routing::NodeId{}, 0}, 0};
}

}  // namespace

LifeChallenges::Hearing LifeChallenges::hear(const LifeKey& key, std::uint64_t counter, const PortHello& hello,
                                             const HeardNeighbour* us, Instant now) {
  const auto known = lives_.find(key);
  const bool is_new = known == lives_.end();
  if (is_new) make_room(key.end.port);
  Life& life = is_new ? challenge(key, hello, now) : known->second;
  const bool second_copy = !is_new && counter == life.window.highest();
  if (!life.window.accept(counter)) return {nullptr, !second_copy, false};
  life.last_heard = now;
  life.name = hello.node;
  life.interface = hello.interface;
  const std::uint64_t their_number = us == nullptr ? 0 : us->my_adjacency;
  const bool is_asked = std::exchange(life.their_number, their_number) != their_number;
  if (us != nullptr && us->your_adjacency == life.number && !life.answered) life.answered = now;
  return {&life, false, is_new || is_asked};
}

void LifeChallenges::vouch(const LifeKey& neighbour, const PortHello& hello, HeardEnd us) {
  for (auto& [key, life] : lives_) {
    const bool is_of_that_port = key.end.node == neighbour.end.node &&
                                 key.end.neighbour_port == neighbour.end.neighbour_port &&
                                 key.boot_nonce == neighbour.boot_nonce;
    if (!is_of_that_port || life.is_vouched) continue;
    us.port = key.end.port;
    const HeardNeighbour* entry = find_heard(hello, us);
    life.is_vouched = entry != nullptr && entry->your_adjacency == life.number;
  }
}

// Forgets the one that was heard first, if the port has no room.
void LifeChallenges::make_room(PortId port) {
  std::size_t on_port = 0;
  auto first = lives_.end();
  for (auto each = lives_.lower_bound(first_of(port)); each != lives_.end() && each->first.end.port == port; ++each) {
    ++on_port;
    if (first == lives_.end() || each->second.heard_since < first->second.heard_since) first = each;
  }
  if (on_port >= kMaxOfPort) lives_.erase(first);
}

Life& LifeChallenges::challenge(const LifeKey& key, const PortHello& hello, Instant now) {
  Life& life = lives_[key];
  while (life.number == 0) life.number = random_();
  life.name = hello.node;
  life.heard_since = now;
  return life;
}

void LifeChallenges::forget_port(PortId port) {
  std::erase_if(lives_, [port](const auto& each) { return each.first.end.port == port; });
}

void LifeChallenges::expire(Instant before) {
  std::erase_if(lives_, [before](const auto& each) { return each.second.last_heard < before; });
}

std::vector<HeardNeighbour> LifeChallenges::entries(PortId port) {
  using Entry = std::pair<const LifeKey, Life>;
  std::vector<const Entry*> found;
  for (auto each = lives_.lower_bound(first_of(port)); each != lives_.end() && each->first.end.port == port; ++each)
    found.push_back(&*each);
  if (found.size() > kMaxInHello) {
    constexpr std::size_t kNewest = kMaxInHello / 2;
    std::stable_sort(found.begin(), found.end(), [](const Entry* left, const Entry* right) {
      return left->second.heard_since > right->second.heard_since;
    });
    const std::size_t older = found.size() - kNewest;
    std::rotate(found.begin() + kNewest, found.begin() + kNewest + random_() % older, found.end());
    found.resize(kMaxInHello);
  }
  std::vector<HeardNeighbour> entries;
  entries.reserve(found.size());
  for (const Entry* each : found) {
    const auto& [key, life] = *each;
    entries.push_back({key.end.node, key.end.neighbour_port, key.boot_nonce, life.their_number, life.number, false,
                       HelloEcho(), FullSize::kAwaited});
  }
  return entries;
}

}  // namespace cableway
