// Challenges the incarnations that this node hears before it believes them. A hello alone proves nothing: its sender
// may have ended long ago, and a party that has recorded it, without the cluster's key, sends it again. So each
// incarnation that is no neighbour yet gets a number, drawn here, which this node's hellos carry; it counts as living
// once a hello of its own names that number. As in RFC 8967 (section 4.3) the challenge goes both ways, since the other
// end does the same.
//
// What was never answered has no effect but memory, which is bounded: kMaxOfPort for each port, for one hold time each;
// one more replaces the one that was heard first. One thread: the node's.
#ifndef CABLEWAY_CORE_DISCOVERY_LIFE_CHALLENGES_H_
#define CABLEWAY_CORE_DISCOVERY_LIFE_CHALLENGES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/crypto/replay_window.h"
#include "core/discovery/neighbour.h"
#include "core/discovery/port_hello.h"

namespace cableway {

// One incarnation of a node, heard over one port of this node.
struct LifeKey {
  NeighbourKey end;
  std::uint64_t boot_nonce = 0;
  friend auto operator<=>(const LifeKey&, const LifeKey&) = default;
};

struct Life {
  std::string name;  // as its hellos state
  std::string interface;
  std::uint64_t number = 0;        // drawn here: its hellos have to name it
  std::uint64_t their_number = 0;  // drawn there, named in this node's hellos; 0: none was received
  Instant heard_since;
  Instant last_heard;
  std::optional<Instant> answered;  // when a hello first named the number
  // A hello of the same remote port that arrived on another local port has named the number, too.
  bool is_vouched = false;
  ReplayWindow window;
};

class LifeChallenges {
 public:
  static constexpr std::size_t kMaxOfPort = kMaxHeard;
  static constexpr std::size_t kMaxInHello = 16;

  // `random`: as for Neighbours.
  explicit LifeChallenges(std::function<std::uint64_t()> random) : random_(std::move(random)) {}

  struct Hearing {
    Life* life = nullptr;    // null: a copy of an earlier datagram
    bool is_replay = false;  // a copy, and not the same hello in the port's other address family
    // The other end waits for this node's number: send a hello soon. Among many incarnations its entry would be
    // replaced before the next periodic hello. Neighbours sends at most 100 hellos a second.
    bool needs_hello = false;
  };
  // A hello of that incarnation, numbered `counter`; `us`: its entry about this node's port, or null.
  Hearing hear(const LifeKey& key, std::uint64_t counter, const PortHello& hello, const HeardNeighbour* us,
               Instant now);

  // A hello of a neighbour has arrived on another port. It is one datagram for all ports of its wire, so that it names
  // these as well if they do share a wire. `us`: this node's incarnation, of any port.
  void vouch(const LifeKey& neighbour, const PortHello& hello, HeardEnd us);

  void forget(const LifeKey& key) { lives_.erase(key); }
  void forget_port(PortId port);
  // Forgets those that were last heard before.
  void expire(Instant before);

  // The entries for a hello of this port, at most kMaxInHello: the newest, which hellos may not have named yet, and
  // others at random, so that replayed hellos cannot delay the challenge of a live node.
  std::vector<HeardNeighbour> entries(PortId port);
  // Sorted by port.
  const std::map<LifeKey, Life>& all() const { return lives_; }

 private:
  Life& challenge(const LifeKey& key, const PortHello& hello, Instant now);
  void make_room(PortId port);

  std::function<std::uint64_t()> random_;
  std::map<LifeKey, Life> lives_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_LIFE_CHALLENGES_H_
