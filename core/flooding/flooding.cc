#include "core/flooding/flooding.h"

#include <algorithm>
#include <utility>

#include "core/flooding/advertisement_codec.h"
#include "core/spaced_call.h"

namespace cableway {
namespace {

using routing::LinkStateDatabase;
using routing::NodeId;

// Batches changes, and limits a node that changes all the time to ten advertisements a second.
constexpr std::chrono::milliseconds kOriginateAfter{5};
constexpr std::chrono::milliseconds kOriginateEvery{100};
// Two nodes of the same name supersede each other endlessly; so do this node and a party that keeps forging its
// advertisements.
constexpr std::chrono::milliseconds kDefendEvery{500};
constexpr unsigned kDefencesAtOnce = 3;
// What others refused, since their clocks are a little behind, is sent again soon: for this time, and for as long as
// it is within kClocksDiffer of what this node itself would refuse.
constexpr std::chrono::seconds kDefenceLasts{10};
constexpr std::chrono::minutes kClocksDiffer{10};
constexpr std::chrono::seconds kRenewDefenceAfter{1};
// Clocks that are earlier were never set: they count as this, and the time since the host's start.
constexpr std::chrono::sys_days kYearOfSource{std::chrono::year(2026) / 1 / 1};

bool same_content(const routing::Advertisement& left, routing::Advertisement right) {
  right.origin = left.origin;
  right.version = left.version;
  return left == right;
}

}  // namespace

// The advertisements still to be sent to one neighbour, and the link that sends them.
class Flooding::Adjacency final : public AdjacencyLink::End {
 public:
  Adjacency(Flooding& flooding, NeighbourKey key, AdjacencyLink::Identity identity)
      : flooding_(flooding),
        key_(key),
        link_(identity, flooding.clock_, flooding.allowances_[key.port], *this),
        telling_(flooding.clock_, {kTellPortsEvery, kTellPortsAtOnce}, [this] { enqueue_ports(); }),
        taking_(flooding.clock_, {kTellPortsEvery, kTellPortsAtOnce},
                [this] { flooding_.take_ports(*this, std::exchange(newest_list_, {})); }) {}

  void enqueue(NodeId origin) {
    pending_.insert(origin);
    link_.wake();
  }
  void dequeue(NodeId origin) { pending_.erase(origin); }
  void tell_ports() { telling_.request(); }
  const NeighbourKey& key() const { return key_; }
  bool settled() const {
    return pending_.empty() && !ports_pending_ && !telling_.waits() && !taking_.waits() && link_.settled();
  }
  std::uint64_t retransmissions() const { return link_.retransmissions(); }
  absl::Status receive(std::span<const std::byte> body) { return link_.receive(body); }

  bool next_message(LinkMessage& message) override {
    if (std::exchange(ports_pending_, false)) {
      message = {LinkMessageKind::kToldPorts, encode_told_ports(flooding_.own_ports_)};
      return true;
    }
    while (!pending_.empty()) {
      const NodeId origin = take_next();
      const routing::Advertisement* advertisement = flooding_.database_.find(origin);
      if (advertisement == nullptr) continue;
      message.kind = LinkMessageKind::kAdvertisement;
      message.bytes = encode_advertisement({flooding_.database_.age(origin, flooding_.now_ms()), *advertisement});
      return true;
    }
    return false;
  }
  void send_segment(std::span<const std::byte> body) override { flooding_.listener_.send_segment(key_, body); }
  void receive_message(const LinkMessage& message) override {
    if (message.kind != LinkMessageKind::kToldPorts) return flooding_.receive(*this, message);
    // A segment has room for thousands of lists, of which only the newest counts.
    newest_list_ = message.bytes;
    taking_.request();
  }

 private:
  void enqueue_ports() {
    ports_pending_ = true;
    link_.wake();
  }
  // In turn, so that origins that are renewed without end keep no other back; this node itself first.
  NodeId take_next() {
    auto next = pending_.find(flooding_.id_);
    if (next == pending_.end()) next = pending_.upper_bound(last_);
    if (next == pending_.end()) next = pending_.begin();
    const NodeId origin = *next;
    pending_.erase(next);
    if (origin != flooding_.id_) last_ = origin;
    return origin;
  }

  Flooding& flooding_;
  const NeighbourKey key_;
  std::set<NodeId> pending_;
  NodeId last_;  // taken in its turn
  bool ports_pending_ = false;
  std::vector<std::byte> newest_list_;  // of the neighbour's ports, still to be taken
  AdjacencyLink link_;
  SpacedCall telling_;
  SpacedCall taking_;
};

Flooding::Flooding(NodeIdentity identity, Clock& clock, WallClock wall_clock, Listener& listener,
                   std::shared_ptr<routing::AdvertisementPool> pool)
    : identity_(std::move(identity)),
      id_(identity_.id()),
      clock_(clock),
      wall_clock_(std::move(wall_clock)),
      listener_(listener),
      database_(std::move(pool)),
      admission_(clock, database_, id_, *this),
      version_{identity_.boot_nonce, 0} {}

Flooding::~Flooding() = default;

routing::Milliseconds Flooding::now_ms() const {
  return std::chrono::duration_cast<routing::Milliseconds>(clock_.now().since_start);
}

void Flooding::adjacency_up(const NeighbourKey& key, const Neighbour& neighbour) {
  auto adjacency = std::make_unique<Adjacency>(
      *this, key, AdjacencyLink::Identity{id_, key.node, neighbour.our_adjacency, neighbour.their_adjacency});
  for (const auto& [origin, entry] : database_.entries()) adjacency->enqueue(origin);
  // Also if there are none: it replaces the list of an earlier incarnation.
  adjacency->tell_ports();
  adjacencies_[key] = std::move(adjacency);
  told_.begin(key);
}

void Flooding::adjacency_down(const NeighbourKey& key, const std::string& cable) {
  told_.end(key, cable, clock_.now());
  const auto adjacency = adjacencies_.find(key);
  if (adjacency == adjacencies_.end()) return;
  counters_.retransmitted += adjacency->second->retransmissions();
  adjacencies_.erase(adjacency);
}

Flooding::Counters Flooding::counters() const {
  Counters counters = counters_;
  for (const auto& [key, adjacency] : adjacencies_) counters.retransmitted += adjacency->retransmissions();
  return counters;
}

void Flooding::segment(const NeighbourKey& key, std::span<const std::byte> body) {
  const auto adjacency = adjacencies_.find(key);
  if (adjacency == adjacencies_.end()) return;
  if (!adjacency->second->receive(body).ok()) ++counters_.refused;
}

void Flooding::receive(Adjacency& from, const LinkMessage& message) {
  ++counters_.received;
  absl::StatusOr<FloodedAdvertisement> flooded = decode_advertisement(message.bytes, identity_.cluster);
  if (!flooded.ok()) {
    ++counters_.refused;
    return;
  }
  if (!is_believable(flooded->advertisement.version, Duration(0))) {
    ++counters_.refused;
    return listener_.disbelieved(from.key(), flooded->advertisement);
  }
  const NodeId origin = flooded->advertisement.origin;
  if (origin == id_) return receive_own(from, flooded->advertisement);
  const routing::Advertisement* held = database_.find(origin);
  if (held == nullptr && admission_.must_wait(flooded->advertisement)) {
    return admission_.wait(std::move(flooded->advertisement), flooded->age, from.key().port);
  }
  const bool changes = held == nullptr || !same_content(*held, flooded->advertisement);
  switch (database_.offer(std::move(flooded->advertisement), flooded->age, now_ms())) {
    case LinkStateDatabase::Verdict::kNewer:
      from.dequeue(origin);
      spread(origin, &from);
      if (expiry_ == nullptr) arm_expiry();
      if (changes) listener_.database_changed();
      return admission_.note_update();
    case LinkStateDatabase::Verdict::kDuplicate:
      ++counters_.duplicate;
      return from.dequeue(origin);
    case LinkStateDatabase::Verdict::kStale:
      ++counters_.stale;
      return from.enqueue(origin);
    case LinkStateDatabase::Verdict::kTooOld:
    case LinkStateDatabase::Verdict::kFull:
      ++counters_.refused;
  }
}

bool Flooding::is_believable(const routing::AdvertisementVersion& version, Duration margin) const {
  // It moves, too, so that an origin can supersede what is believed.
  const WallTime never_set =
      kYearOfSource + std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now().since_start);
  const auto earlier = std::chrono::duration_cast<std::chrono::microseconds>(margin);
  const std::chrono::microseconds latest = (std::max(wall_clock_(), never_set) + kAhead).time_since_epoch() - earlier;
  return version.boot_nonce <= static_cast<std::uint64_t>(latest.count());
}

void Flooding::tell_ports(AnnouncedPorts ports) {
  if (ports == own_ports_) return;
  own_ports_ = std::move(ports);
  for (const auto& [key, adjacency] : adjacencies_) adjacency->tell_ports();
}

void Flooding::take_ports(const Adjacency& from, std::span<const std::byte> list) {
  const absl::StatusOr<AnnouncedPorts> ports = decode_told_ports(list);
  if (!ports.ok()) {
    ++counters_.refused;
    return;
  }
  told_.take(from.key(), *ports, clock_.now());
  listener_.ports_told();
}

void Flooding::receive_own(Adjacency& from, const routing::Advertisement& advertisement) {
  const routing::Advertisement* own = database_.find(id_);
  if (own != nullptr && *own == advertisement) return from.dequeue(id_);
  // Another copy of what is about to be superseded.
  if (own != nullptr && own->version < version_ && advertisement.version <= version_) return;
  if (advertisement.version < version_) return from.enqueue(id_);
  defend(from, advertisement.version);
}

void Flooding::defend(Adjacency& from, const routing::AdvertisementVersion& version) {
  const Instant now = clock_.now();
  const bool is_repeated = defended_at_.has_value() && now - *defended_at_ < kDefenceLasts;
  defences_ = is_repeated ? defences_ + 1 : 1;
  defended_at_ = now;
  version_ = version;
  originate_soon();
  listener_.defended(from.key(), version);
}

void Flooding::spread(NodeId origin, const Adjacency* except) {
  for (const auto& [key, adjacency] : adjacencies_) {
    if (adjacency.get() != except) adjacency->enqueue(origin);
  }
}

void Flooding::admitted(NodeId origin) {
  spread(origin, nullptr);
  if (expiry_ == nullptr) arm_expiry();
  listener_.database_changed();
}

// A neighbour that acknowledges nothing must not make this node remember what is gone.
void Flooding::origins_dropped(const std::vector<NodeId>& origins) {
  for (const auto& [key, adjacency] : adjacencies_) {
    for (const NodeId origin : origins) adjacency->dequeue(origin);
  }
  listener_.database_changed();
}

void Flooding::originate(routing::Advertisement content) {
  if (content_.has_value() && same_content(*content_, content)) return;
  const bool first = !content_.has_value();
  content_ = std::move(content);
  // The first one at once, so that a node is in its own database from the start.
  first ? originate_now() : originate_soon();
}

void Flooding::originate_soon() {
  if (originate_ != nullptr) return;
  Instant when = clock_.now() + kOriginateAfter;
  const Duration every = defences_ > kDefencesAtOnce ? kDefendEvery : kOriginateEvery;
  if (originated_at_.has_value()) when = std::max(when, *originated_at_ + every);
  originate_ = clock_.call_at(when, [this] {
    originate_.reset();
    originate_now();
  });
}

void Flooding::originate_now() {
  if (!content_.has_value()) return;
  originated_at_ = clock_.now();
  ++counters_.originated;
  const routing::Advertisement* held = database_.find(id_);
  const bool changes = held == nullptr || !same_content(*held, *content_);
  routing::Advertisement advertisement = *content_;
  advertisement.origin = id_;
  advertisement.version = version_ = version_.next();
  database_.offer(std::move(advertisement), routing::Milliseconds(0), now_ms());
  spread(id_, nullptr);
  const bool has_defended = defended_at_.has_value() && clock_.now() - *defended_at_ < kDefenceLasts;
  if (!has_defended) defences_ = 0;
  const bool defends = has_defended || !is_believable(version_, kClocksDiffer);
  renew_ = clock_.call_after(defends ? Duration(kRenewDefenceAfter) : Duration(routing::kRenewAfter),
                             [this] { originate_now(); });
  if (changes) listener_.database_changed();
}

void Flooding::arm_expiry() {
  const std::optional<routing::Milliseconds> next = database_.next_expiry();
  if (!next.has_value()) return;
  // At least a second, so that one check handles many that expire one after the other.
  const Duration wait = std::max<Duration>(*next - now_ms(), std::chrono::seconds(1));
  expiry_ = clock_.call_after(wait, [this] {
    expiry_.reset();
    if (const std::vector<NodeId> expired = database_.expire(now_ms(), id_); !expired.empty()) origins_dropped(expired);
    arm_expiry();
  });
}

bool Flooding::settled() const {
  return std::all_of(adjacencies_.begin(), adjacencies_.end(), [](const auto& each) { return each.second->settled(); });
}

}  // namespace cableway
