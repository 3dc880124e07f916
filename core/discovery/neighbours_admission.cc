// Who becomes a neighbour: an incarnation that has answered this node's challenge and whose name is its own.
#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/discovery/neighbours.h"

namespace cableway {
namespace {

constexpr std::size_t kMaxOfPort = kMaxHeard - LifeChallenges::kMaxInHello;
// On one port. Pairing the ports of a wire takes time that grows with the square of their number.
constexpr std::size_t kMaxOfNode = 16;
// A node that has not been heard for this many hello intervals and for half of its hold time no longer blocks its name.
constexpr int kNameIntervals = 3;

}  // namespace

// The key is random and never leaves this node, so no other party can compute this MAC.
Mac Neighbours::own_mac(const PortHello& hello) const {
  return keyed_mac(own_key_, encode_port_hello(hello));
}

// A hello of an incarnation that is no neighbour yet. True: it is one now.
bool Neighbours::admit(const PortFacts& port, const LifeKey& key, std::uint64_t counter, const PortHello& hello) {
  const HeardNeighbour* us = entry_about_us(hello, port.id);
  const LifeChallenges::Hearing hearing = challenges_.hear(key, counter, hello, us, clock_.now());
  if (hearing.is_replay) ++counters_.replayed;
  if (hearing.life == nullptr) return false;
  if (hearing.needs_hello) hello_soon(port.id);
  if (!hearing.life->answered) return false;
  if (is_own_name(port, key, counter, hello)) return false;
  if (!may_follow(port, key, *hearing.life)) return false;
  // One that replaces its earlier incarnation takes that one's place.
  if (!public_.contains(key.end) && !has_room(port, key, hello)) return false;
  forget(key.end, "the node was started again");
  add_neighbour(key);
  hello_soon(port.id);
  return true;
}

// A hello of this node, or of another one with its name.
bool Neighbours::is_own_name(const PortFacts& port, const LifeKey& key, std::uint64_t counter, const PortHello& hello) {
  if (key.end.node != id_) return false;
  if (key.boot_nonce == identity_.boot_nonce) {
    note_own_hello(port, key, counter, hello);
    return true;
  }
  set_problem(EventCode::kNameTaken, port, 0,
              absl::StrCat("another node on port ", port.interface, " is called ", hello.node,
                           " like this one: set CABLEWAY_NODE on one of them"),
              {"neighbour", hello.node});
  return true;
}

void Neighbours::note_own_hello(const PortFacts& port, const LifeKey& key, std::uint64_t counter,
                                const PortHello& hello) {
  const PortFacts* other = find_port(key.end.neighbour_port);
  if (other == nullptr || other->id == port.id) return;
  const Instant now = clock_.now();
  // One that was recorded while the two ports did share a wire could join them again, as could a forged one.
  if (counter > counter_ || counter_ - counter >= own_hellos_.size()) return;
  if (own_hellos_[counter % own_hellos_.size()] != std::pair(counter, own_mac(hello))) return;
  if (segments_.note_own_hello(port.id, other->id, now)) segments_changed_ = true;
  update_segments();
  // Within one hold time a neighbour on the wire may not have been heard yet.
  if (!segments_.is_loop(port.id, other->id, Instant{now.since_start - timing_.hold})) return;
  set_problem(EventCode::kCableToSelf, port, other->id,
              absl::StrCat("ports ", port.interface, " and ", other->interface,
                           " of this node receive each other's hellos and no other node's: the cable loops back to "
                           "this node, or no node runs at its other end"),
              {"other_port", other->interface});
}

// Whether the incarnation may take the place of those of its node that are neighbours. A node that was started again
// replaces its earlier incarnation; two that are heard at the same time are two nodes, and the later one is refused.
bool Neighbours::may_follow(const PortFacts& port, const LifeKey& key, const Life& life) {
  const auto same_place = public_.find(key.end);
  if (same_place != public_.end() && same_place->second.boot_nonce < key.boot_nonce) return true;
  const Instant now = clock_.now();
  for (const auto& [end, neighbour] : public_) {
    if (end.node != key.end.node) continue;
    const Duration recent = std::max<Duration>(timing_.interval * kNameIntervals, heard_.at(end).hold / 2);
    if (now - neighbour.last_heard > recent) continue;
    if (neighbour.boot_nonce == key.boot_nonce) {
      // A port that is heard on two ports makes a wire of them.
      if (end.neighbour_port == key.end.neighbour_port && !life.is_vouched) return false;
      continue;
    }
    if (neighbour.last_heard > *life.answered) report_namesake(port, key, life);
    return false;
  }
  return true;
}

void Neighbours::report_namesake(const PortFacts& port, const LifeKey& key, const Life& life) {
  set_problem(EventCode::kNameTaken, port, key.boot_nonce,
              absl::StrCat("two nodes are called ", life.name, ", one on port ", port.interface,
                           ": set CABLEWAY_NODE on one of them"),
              {"neighbour", life.name});
}

bool Neighbours::has_room(const PortFacts& port, const LifeKey& key, const PortHello& hello) {
  std::size_t on_port = 0;
  std::size_t of_node = 0;
  for (auto each = public_.lower_bound({port.id, routing::NodeId{}, 0}); each != public_.end(); ++each) {
    if (each->first.port != port.id) break;
    ++on_port;
    // Ports of an earlier incarnation are forgotten soon.
    if (each->first.node == key.end.node && each->second.boot_nonce == key.boot_nonce) ++of_node;
  }
  if (on_port < kMaxOfPort && of_node < kMaxOfNode) return true;
  report_crowd(port, key, hello, of_node >= kMaxOfNode);
  return false;
}

// One problem for the segment, and one for each node that has too many ports there.
void Neighbours::report_crowd(const PortFacts& port, const LifeKey& key, const PortHello& hello, bool is_of_node) {
  const std::string where = absl::StrCat(" are on the segment of port ", port.interface);
  if (is_of_node) {
    return set_problem(
        EventCode::kSegmentCrowded, port, key.end.node.value,
        absl::StrCat("more than ", kMaxOfNode, " ports of node ", hello.node, where, ": its others are ignored"),
        {"neighbour", hello.node});
  }
  RecentNames& names = crowded_out_[port.id];
  names.note(hello.node, clock_.now());
  set_problem(EventCode::kSegmentCrowded, port, 0,
              absl::StrCat("more than ", kMaxOfPort, " ports", where, ": those of ", names.text(), " are ignored"),
              {"neighbour", names.only()});
}

// An address belongs to the port that this node uses already: one that comes later does not get it, and is the one that
// the problem names.
std::optional<std::string> Neighbours::address_conflict(const NeighbourKey& key,
                                                        const routing::PortAddress& theirs) const {
  if (theirs.is_ipv6_link_local()) return std::nullopt;
  const auto refusal = [&](const std::string& owner) {
    const Neighbour& newcomer = public_.at(key);
    return absl::StrCat("node ", newcomer.name, " (", newcomer.interface, ") claims address ", routing::to_text(theirs),
                        ", which is that of ", owner, ": give node ", newcomer.name, " another address");
  };
  for (const PortFacts& port : ports_) {
    const bool is_ours = std::any_of(port.addresses.begin(), port.addresses.end(),
                                     [&](const PortPrefix& prefix) { return prefix.address == theirs; });
    if (is_ours) return refusal(absl::StrCat("port ", port.interface, " of this node"));
  }
  for (const auto& [other, neighbour] : public_) {
    // An interface that is made again has another number.
    const bool is_same_port = other.node == key.node && (other.neighbour_port == key.neighbour_port ||
                                                         neighbour.interface == public_.at(key).interface);
    if (is_same_port || !neighbour.up || neighbour.addresses.theirs != theirs) continue;
    return refusal(
        absl::StrCat("node ", neighbour.name, " (", neighbour.interface, ") on port ", neighbour.our_interface));
  }
  return std::nullopt;
}

// Precondition: it has answered its challenge.
void Neighbours::add_neighbour(const LifeKey& key) {
  const Life life = challenges_.all().at(key);
  challenges_.forget(key);
  Neighbour neighbour;
  neighbour.name = life.name;
  neighbour.boot_nonce = key.boot_nonce;
  neighbour.heard_since = clock_.now();
  neighbour.our_adjacency = life.number;
  Heard heard;
  // What was sent before the answer may have been recorded before the challenge.
  heard.window = ReplayWindow(life.window.highest());
  heard_[key.end] = std::move(heard);
  public_[key.end] = std::move(neighbour);
  segments_changed_ = true;
}

// A neighbour may ask to be kept for long without a hello, but not for longer than this node finds usual.
void Neighbours::bound_hold(const PortFacts& port, const NeighbourKey& key, PortHello& hello) {
  const auto longest = static_cast<std::uint32_t>((timing_.hold * HelloTiming::kMaxHolds).count());
  if (hello.hold_ms <= longest) return;
  set_problem(EventCode::kHoldTooLong, port, key.node.value ^ key.neighbour_port,
              absl::StrCat("node ", hello.node, " on port ", port.interface, " has a hold time of ", hello.hold_ms,
                           " ms; this node uses ", longest, " ms: set CABLEWAY_HOLD_MS to the same value on both"),
              {"neighbour", hello.node});
  hello.hold_ms = longest;
}

}  // namespace cableway
