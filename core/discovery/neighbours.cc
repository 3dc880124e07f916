#include "core/discovery/neighbours.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/discovery/refused_datagram.h"

namespace cableway {
namespace {

// Own hellos count for several hold times, so that lost ones do not split a wire: no answer confirms them.
constexpr int kOwnHelloHolds = 3;
// Hellos that were held back on their way do not keep a neighbour: in so many hold times one has to echo a hello of
// this node, which at most every other of its hellos does.
constexpr int kProofHolds = 3;
// Hello intervals before a new neighbour's mismatch is reported: another port of its wire may not have been heard yet.
constexpr int kPatienceIntervals = 3;

}  // namespace

Neighbours::Neighbours(NodeIdentity identity, HelloTiming timing, Clock& clock, PortInventory& inventory,
                       ControlChannel& channel, const DatagramSeal& seal, std::function<std::uint64_t()> random,
                       Listener& listener)
    : identity_(std::move(identity)),
      id_(identity_.id()),
      cluster_id_(routing::cluster_id(identity_.cluster)),
      timing_(timing),
      clock_(clock),
      inventory_(inventory),
      channel_(channel),
      seal_(seal),
      random_(std::move(random)),
      listener_(listener),
      challenges_(random_) {
  for (std::byte& each : own_key_) each = static_cast<std::byte>(random_());
}

Neighbours::~Neighbours() = default;

void Neighbours::start() {
  channel_.listen([this](const ReceivedDatagram& datagram) { receive(datagram); });
  take_ports();
  tick_due_ = clock_.now();
  tick();
}

void Neighbours::leave() {
  send_hellos(true);
  tick_.reset();
  soon_.reset();
  channel_.listen([](const ReceivedDatagram&) {});
}

void Neighbours::take_ports() {
  ports_ = inventory_.ports();
  segments_.set_ports(ports_);
  rebuild_segments();
}

void Neighbours::update_segments() {
  if (segments_changed_ && rebuild_segments()) listener_.plugs_changed();
}

// Assigns a wire's plug to the ports that share it. True if a plug has changed.
bool Neighbours::rebuild_segments() {
  segments_changed_ = false;
  std::vector<PortHearing> heard;
  heard.reserve(public_.size());
  for (const auto& [key, neighbour] : public_) heard.push_back({key.port, key.node, key.neighbour_port});
  segments_.build(heard);
  std::map<PortId, std::string> plugs;
  for (PortFacts& port : ports_) port.plug = plugs[port.id] = segments_.plug_of(port.id);
  return std::exchange(plugs_, plugs) != plugs;
}

void Neighbours::update_ports() {
  take_ports();
  forget_if(
      [this](const NeighbourKey& key) {
        const PortFacts* port = find_port(key.port);
        return port == nullptr || !port->carrier;
      },
      "the cable was unplugged");
  for (const PortFacts& port : ports_) {
    if (!port.carrier) challenges_.forget_port(port.id);
  }
  problems_.clear_if([this](PortId port) { return find_port(port) == nullptr; });
  std::erase_if(crowded_out_, [this](const auto& each) { return find_port(each.first) == nullptr; });
  full_size_.keep_ports(ports_);
  // Advertises the changes to the neighbours.
  for (const PortFacts& port : ports_) hello_soon(port.id);
}

// The interval is randomized, so that nodes that start together do not stay synchronized.
void Neighbours::tick() {
  extend_holds_after_stall();
  forget_silent();
  const Instant now = clock_.now();
  challenges_.expire(Instant{now.since_start - timing_.hold});
  if (segments_.forget_own_hellos(Instant{now.since_start - timing_.hold * kOwnHelloHolds})) segments_changed_ = true;
  problems_.expire(now);
  update_segments();
  for (const auto& [key, neighbour] : public_) check_full_size(key);
  send_hellos(false);
  if (latencies_.publish(public_, now)) listener_.latencies_changed();
  const auto interval = std::chrono::duration_cast<Duration>(timing_.interval);
  const auto spread = static_cast<std::uint64_t>(interval.count() / 5);
  tick_due_ = now + interval * 9 / 10 + Duration(random_() % (spread + 1));
  tick_ = clock_.call_at(tick_due_, [this] { tick(); });
}

// Extends hold timers after a scheduling stall of this process, such as a stopped process or a descheduled virtual
// machine. Hellos that arrived meanwhile may still be unread, and if the whole cluster stalled, none were sent.
void Neighbours::extend_holds_after_stall() {
  const Duration late = clock_.now() - tick_due_;
  if (late <= timing_.interval) return;
  for (auto& [key, heard] : heard_) {
    heard.hold_extension += late;
    heard.proved.since_start += late;
  }
  full_size_.extend_holds(late);
  tick_due_ = clock_.now();  // so that the same stall is not counted twice
}

void Neighbours::forget_silent() {
  const Instant now = clock_.now();
  std::vector<std::pair<NeighbourKey, std::string>> silent;
  for (const auto& [key, heard] : heard_) {
    std::string reason = reason_to_forget(public_.at(key), heard, now);
    if (!reason.empty()) silent.emplace_back(key, std::move(reason));
  }
  for (const auto& [key, reason] : silent) forget(key, reason);
}

std::string Neighbours::reason_to_forget(const Neighbour& neighbour, const Heard& heard, Instant now) const {
  const auto hold = std::chrono::duration_cast<std::chrono::milliseconds>(heard.hold);
  if (now - neighbour.last_heard >= heard.hold + heard.hold_extension)
    return absl::StrCat("nothing was heard for ", hold.count(), " ms");
  // The end that sends hellos rarely decides how old an echo may be.
  const Duration proof = std::max<Duration>(heard.hold, timing_.hold) * kProofHolds;
  if (!neighbour.up || now - heard.proved < proof) return "";
  return absl::StrCat("its hellos are outdated: none has echoed a recent hello of this node for ",
                      proof / std::chrono::milliseconds(1), " ms");
}

void Neighbours::receive(const ReceivedDatagram& received) {
  const Instant arrival{clock_.now().since_start - received.waited};
  const PortFacts* port = find_port(received.port);
  if (port == nullptr) return;
  // What waited during a stall may be read before the timer runs, and must not be judged by the time that has passed.
  extend_holds_after_stall();
  ControlDatagram datagram;
  const ControlFault fault = decode_control_datagram(received.bytes, cluster_id_, seal_, datagram);
  if (fault != ControlFault::kNone) return note_fault(*port, fault, datagram, received.from);
  if (datagram.kind == ControlKind::kHello) return receive_hello(*port, datagram, received.from, arrival);
  receive_segment(*port, datagram);
}

void Neighbours::note_fault(const PortFacts& port, ControlFault fault, const ControlDatagram& datagram,
                            const routing::PortAddress& from) {
  if (fault == ControlFault::kGarbage) {
    ++counters_.garbage;
    return;
  }
  ++counters_.refused;
  RefusedDatagram refused = explain_refusal(fault, datagram, identity_.cluster, port.interface, from);
  set_problem(refused.code, port, refused.about, std::move(refused.text), std::move(refused.address));
}

void Neighbours::receive_hello(const PortFacts& port, const ControlDatagram& datagram, const routing::PortAddress& from,
                               Instant arrival) {
  absl::StatusOr<PortHello> hello = decode_port_hello(datagram.body);
  if (!hello.ok() || routing::node_id(identity_.cluster, hello->node) != datagram.sender) {
    ++counters_.garbage;
    return;
  }
  const NeighbourKey key{port.id, datagram.sender, datagram.port};
  const LifeKey life{key, datagram.boot_nonce};
  const auto known = public_.find(key);
  const bool is_neighbour = known != public_.end() && known->second.boot_nonce == datagram.boot_nonce;
  if (hello->leaving) {
    challenges_.forget(life);
    if (is_neighbour && heard_.at(key).window.accept(datagram.counter)) {
      forget(key, "the node has left", EventCode::kNeighbourLeft);
    }
    return;
  }
  if (is_neighbour ? !is_new(key, datagram.counter) : !admit(port, life, datagram.counter, *hello)) return;
  // The next one says the same.
  if (!heard_.at(key).hellos.take(clock_.now())) return;
  bound_hold(port, key, *hello);
  const std::size_t bytes = kControlEnvelopeBytes + datagram.body.size();
  take_hello(port, key, {*std::move(hello), datagram.counter, bytes, from, arrival});
}

// A neighbour's hello, which is no copy.
void Neighbours::take_hello(const PortFacts& port, const NeighbourKey& key, const ReceivedHello& received) {
  const PortHello& hello = received.hello;
  Neighbour& neighbour = public_.at(key);
  Heard& heard = heard_.at(key);
  if (full_size_.hear(key, hello, received.bytes, received.from.is_ipv6, clock_.now())) hello_soon(key.port);
  // A reordered hello is outdated.
  if (received.counter < std::exchange(heard.hello, std::max(heard.hello, received.counter))) return;
  neighbour.last_heard = clock_.now();
  neighbour.our_interface = port.interface;
  neighbour.interface = hello.interface;
  heard.hold = std::chrono::milliseconds(hello.hold_ms);
  heard.hold_extension = Duration(0);
  heard.from = received.from;
  const HeardNeighbour* us = entry_about_us(hello, port.id);
  if (hello.sent_ns != 0) latencies_.hear(key, hello, us, received.arrival);
  heard.addresses = hello.addresses;
  challenges_.vouch({key, neighbour.boot_nonce}, hello, {id_, identity_.boot_nonce, 0});
  neighbour.hears_us = us != nullptr;
  heard.their_number = us == nullptr ? 0 : us->my_adjacency;
  const Instant echoed{Duration(us == nullptr ? 0 : us->echo.sent_ns)};
  if (echoed <= clock_.now()) heard.proved = std::max(heard.proved, echoed);
  full_size_.learn(key, us == nullptr ? FullSize::kAwaited : us->full_size);
  update_segments();
  if (segments_.of(port.id).is_wire()) {
    pair(segments_.of(port.id), key.node);
  } else {
    neighbour.paired = true;
  }
  if (neighbour.paired) return match(port, key, hello);
  if (heard.their_number == 0) hello_soon(port.id);
}

// Pairs each port of one node with one of the other. For wires only: on a switch a port may have several cables.
void Neighbours::pair(const PortSegment& segment, routing::NodeId node) {
  Wire wire;
  std::vector<PortPair> all;
  std::map<PortId, WirePort> theirs;
  for (const PortId id : segment.ports) {
    wire.ours.push_back({id, find_port(id)->interface, hello_addresses(*find_port(id), ports_)});
    for (auto each = public_.lower_bound({id, node, 0}); each != public_.end(); ++each) {
      const auto& [key, neighbour] = *each;
      if (key.port != id || key.node != node) break;
      theirs[key.neighbour_port] = {key.neighbour_port, neighbour.interface, heard_.at(key).addresses};
      all.push_back({id, key.neighbour_port});
      if (heard_.at(key).their_number != 0) wire.heard.push_back(all.back());
      if (neighbour.up) wire.up.push_back({id, key.neighbour_port});
    }
  }
  for (auto& [id, port] : theirs) wire.theirs.push_back(std::move(port));
  // With one port at each end there is nothing to choose or to wait for.
  if (all.size() == 1) wire.heard = all;
  const std::vector<PortPair> pairs = pair_ports(wire);
  for (const PortPair& pair : all) {
    set_paired({pair.ours, node, pair.theirs}, std::binary_search(pairs.begin(), pairs.end(), pair));
  }
}

void Neighbours::set_paired(const NeighbourKey& key, bool paired) {
  Neighbour& neighbour = public_.at(key);
  if (std::exchange(neighbour.paired, paired) == paired || paired) return;
  const std::uint64_t about = key.node.value ^ key.neighbour_port;
  problems_.clear({key.port, EventCode::kCableRefused, about});
  problems_.clear({key.port, EventCode::kLinkLocalUsed, about});
  problems_.clear({key.port, EventCode::kLargePacketsLost, about});
  hello_soon(key.port);
  take_down(key, "the cables on this wire join other ports of the two nodes");
}

// Ends the adjacency. The neighbour stays heard.
void Neighbours::take_down(const NeighbourKey& key, const std::string& reason) {
  Neighbour& neighbour = public_.at(key);
  neighbour.their_adjacency = 0;
  if (!std::exchange(neighbour.up, false)) return;
  listener_.adjacency_down(key, neighbour, EventCode::kCableLost, reason);
  neighbour.our_adjacency = new_adjacency_number();
  hello_soon(key.port);
}

void Neighbours::take_unfit_down(const NeighbourKey& key, const std::string& reason) {
  const Neighbour& neighbour = public_.at(key);
  if (neighbour.up) listener_.cable_unfit(key, neighbour, reason);
  take_down(key, reason);
}

void Neighbours::match(const PortFacts& port, const NeighbourKey& key, const PortHello& hello) {
  Neighbour& neighbour = public_.at(key);
  const std::uint64_t about = key.node.value ^ key.neighbour_port;
  absl::StatusOr<CableAddresses> matched = match_ports(port, hello_addresses(port, ports_), hello);
  if (matched.ok()) {
    if (const std::optional<std::string> conflict = address_conflict(key, matched->theirs))
      matched = absl::FailedPreconditionError(*conflict);
  }
  const bool is_new = !neighbour.up && clock_.now() - neighbour.heard_since < timing_.interval * kPatienceIntervals;
  heard_.at(key).fits = matched.ok() && !(is_new && !matched->remark.empty());
  if (!matched.ok() && !is_new) {
    set_problem(EventCode::kCableRefused, port, about, std::string(matched.status().message()),
                {"neighbour", neighbour.name});
    // Connections keep to the size that they began with: a greater MTU, or an address that comes back, ends none.
    const bool is_lower = std::min(port.mtu, hello.mtu) < heard_.at(key).mtu;
    const std::string reason(matched.status().message());
    is_lower ? take_unfit_down(key, reason) : take_down(key, reason);
  }
  if (!heard_.at(key).fits) return;
  problems_.clear({port.id, EventCode::kCableRefused, about});
  if (matched->remark.empty()) {
    problems_.clear({port.id, EventCode::kLinkLocalUsed, about});
  } else {
    set_problem(EventCode::kLinkLocalUsed, port, about, matched->remark, {"neighbour", neighbour.name});
  }
  const bool moved =
      neighbour.up && (neighbour.addresses.ours != matched->ours || neighbour.addresses.theirs != matched->theirs);
  // A change of addresses is handled as a new adjacency.
  if (moved) take_down(key, "an address of the cable has changed");
  neighbour.addresses = *std::move(matched);
  check_two_way(key, hello);
}

// A cable that drops large packets is down, even if small hellos pass.
void Neighbours::check_full_size(const NeighbourKey& key) {
  Neighbour& neighbour = public_.at(key);
  const bool is_cable = neighbour.paired && heard_.at(key).fits;
  const LargePacketLoss loss = is_cable ? full_size_.loss(key, clock_.now()) : LargePacketLoss();
  const LargePacketLoss before = std::exchange(neighbour.large_lost, loss);
  const Problems::Key about{key.port, EventCode::kLargePacketsLost, key.node.value ^ key.neighbour_port};
  if (!loss.any()) {
    if (before.any()) problems_.clear(about);
    return;
  }
  const std::string reason = explain_loss(*find_port(key.port), neighbour, loss);
  set_problem(about.code, *find_port(key.port), about.about, reason, {"neighbour", neighbour.name});
  if (neighbour.up) take_unfit_down(key, reason);
}

void Neighbours::check_two_way(const NeighbourKey& key, const PortHello& hello) {
  check_full_size(key);
  Neighbour& neighbour = public_.at(key);
  const HeardNeighbour* us = entry_about_us(hello, key.port);
  const std::uint64_t their_adjacency = us == nullptr || !us->uses ? 0 : us->my_adjacency;
  const bool adjacency_changed = their_adjacency != neighbour.their_adjacency;
  const bool heard = us != nullptr && us->your_adjacency == neighbour.our_adjacency && their_adjacency != 0;
  if (neighbour.up && (adjacency_changed || !heard)) {
    neighbour.up = false;
    listener_.adjacency_down(
        key, neighbour, EventCode::kCableLost,
        us == nullptr ? "it does not hear this node any more" : "the neighbour restarted the adjacency");
    // Unless the neighbour restarted the adjacency, this side must do so.
    if (!adjacency_changed) neighbour.our_adjacency = new_adjacency_number();
  }
  neighbour.their_adjacency = their_adjacency;
  if (adjacency_changed || !heard) hello_soon(key.port);
  if (heard && !neighbour.up && full_size_.pass(key, clock_.now())) {
    neighbour.up = true;
    heard_.at(key).mtu = hello.mtu;
    heard_.at(key).proved = clock_.now();
    latencies_.restart(key, neighbour);
    listener_.adjacency_up(key, neighbour);
  }
}

void Neighbours::receive_segment(const PortFacts& port, const ControlDatagram& datagram) {
  const NeighbourKey key{port.id, datagram.sender, datagram.port};
  const auto known = public_.find(key);
  if (known == public_.end() || !known->second.up || known->second.boot_nonce != datagram.boot_nonce) {
    ++counters_.unknown;
    return;
  }
  if (is_new(key, datagram.counter)) listener_.segment(key, datagram.body);
}

bool Neighbours::is_new(const NeighbourKey& key, std::uint64_t counter) {
  ReplayWindow& window = heard_.at(key).window;
  // A hello is sent once in every address family of a port: the second copy is not counted as a replay.
  const bool second_copy = counter == window.highest();
  if (window.accept(counter)) return true;
  if (!second_copy) ++counters_.replayed;
  return false;
}

std::uint64_t Neighbours::new_adjacency_number() {
  std::uint64_t number = 0;
  while (number == 0) number = random_();
  return number;
}

const HeardNeighbour* Neighbours::entry_about_us(const PortHello& hello, PortId port) const {
  return find_heard(hello, {id_, identity_.boot_nonce, port});
}

void Neighbours::forget(const NeighbourKey& key, const std::string& reason, EventCode code) {
  const auto known = public_.find(key);
  if (known == public_.end()) return;
  const Neighbour neighbour = std::move(known->second);
  public_.erase(known);
  heard_.erase(key);
  latencies_.forget(key);
  full_size_.forget(key);
  segments_changed_ = true;
  if (neighbour.up) listener_.adjacency_down(key, neighbour, code, reason);
}

void Neighbours::forget_if(const std::function<bool(const NeighbourKey&)>& gone, const std::string& reason) {
  std::vector<NeighbourKey> keys;
  for (const auto& [key, neighbour] : public_) {
    if (gone(key)) keys.push_back(key);
  }
  for (const NeighbourKey& key : keys) forget(key, reason);
}

void Neighbours::set_problem(EventCode code, const PortFacts& port, std::uint64_t about, std::string text,
                             EventField other) {
  const std::optional<Problem> problem = problems_.note({port.id, code, about}, port.interface, std::move(text),
                                                        clock_.now(), other.key == "neighbour" ? other.value : "");
  if (problem) listener_.problem(*problem, {{"port", port.interface}, std::move(other)});
}

const PortFacts* Neighbours::find_port(PortId id) const {
  const auto port = std::find_if(ports_.begin(), ports_.end(), [id](const PortFacts& each) { return each.id == id; });
  return port == ports_.end() ? nullptr : &*port;
}

}  // namespace cableway
