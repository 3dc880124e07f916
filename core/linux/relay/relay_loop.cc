#include "core/linux/relay/relay_loop.h"

#include <sched.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/hop_names.h"
#include "core/linux/os/thread_time.h"

namespace cableway::host {
namespace {

constexpr int kMaxEvents = 64;
constexpr std::chrono::seconds kCheckEvery{1};
// The interval of the lease timers: an idle lease is returned after RelayCircuit::kIdleTicks, and a lease that other
// circuits wait for after kHeldTicks.
constexpr std::chrono::milliseconds kTickInterval{250};
constexpr std::chrono::minutes kNoticeEvery{1};

Instant instant(std::chrono::steady_clock::time_point time) {
  return Instant{time.time_since_epoch()};
}

}  // namespace

// One descriptor of a circuit: epoll events are passed to the link that owns it.
struct RelayLoop::Side {
  Circuit& circuit;
  HopLink& hop;
  bool brings_data;  // upstream; downstream brings answers
  bool completions;  // of a queue pair, not a connection

  const std::string& name() const;
  bool is_over(const PortLost& port) const;
};

struct RelayLoop::Circuit {
  struct Transports {
    HopTransport upstream;
    HopTransport downstream;
  };

  Circuit(CircuitSetup circuit_setup, Transports over, std::unique_ptr<HopLink> up, std::unique_ptr<HopLink> down,
          std::unique_ptr<Slot> floor, SlotPool& pool, RelayEgress egress)
      : setup(std::move(circuit_setup)),
        path(describe_path(setup)),
        names{to_text(accepting_end(setup, setup.hop)), to_text(dialing_end(setup, setup.hop + 1U)), setup.hop == 0},
        transports(std::move(over)),
        upstream(std::move(up)),
        downstream(std::move(down)),
        has_completions(upstream->completions() >= 0 || downstream->completions() >= 0),
        moves_payload(upstream->completions() < 0 || downstream->completions() < 0),
        relay(upstream->link(), downstream->link(), std::move(floor), pool, names, egress) {}

  const CircuitSetup setup;
  const std::string path;
  const RelayNames names;
  const Transports transports;
  const std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();
  const std::unique_ptr<HopLink> upstream;
  const std::unique_ptr<HopLink> downstream;
  const bool has_completions;  // on one hop or both
  const bool moves_payload;    // of one hop or both, by system calls
  RelayCircuit relay;
  Side upstream_side{*this, *upstream, true, false};
  Side upstream_completions{*this, *upstream, true, true};
  Side downstream_side{*this, *downstream, false, false};
  Side downstream_completions{*this, *downstream, false, true};
  bool in_unfinished = false;
  bool is_polled = false;
  bool is_gated = false;
  bool is_closed = false;
  Instant polled_until;
  std::uint64_t moved_before = 0;
  // Copies of the relay's counters, for other threads.
  std::atomic<std::uint64_t> chunks = 0;
  std::atomic<std::uint64_t> bytes = 0;

  // Since the previous call.
  bool has_moved() {
    const std::uint64_t moved = upstream->link().bytes_moved() + downstream->link().bytes_moved();
    return std::exchange(moved_before, moved) != moved;
  }
};

const std::string& RelayLoop::Side::name() const {
  return brings_data ? circuit.names.upstream : circuit.names.downstream;
}

bool RelayLoop::Side::is_over(const PortLost& port) const {
  if (port.only_rdma && hop.registrar() == nullptr) return false;
  const std::size_t at = circuit.setup.hop;
  return cableway::is_over(brings_data ? accepting_end(circuit.setup, at) : dialing_end(circuit.setup, at + 1), port);
}

absl::StatusOr<std::unique_ptr<RelayLoop>> RelayLoop::start(const std::vector<RelayStore*>& stores,
                                                            const Options& options, Listener listener) {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll.valid() || !wake.valid()) return absl::ErrnoToStatus(errno, "cannot create the relay's epoll set");
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) {
    return absl::ErrnoToStatus(errno, "cannot add the relay's eventfd to its epoll set");
  }
  std::vector<Store> known;
  known.reserve(stores.size());
  for (RelayStore* store : stores) known.push_back({.store = store, .next_notice = {}});
  std::unique_ptr<RelayLoop> loop(
      new RelayLoop(std::move(epoll), std::move(wake), std::move(known), options, std::move(listener)));
  loop->thread_ = std::thread([raw = loop.get()] { raw->run(); });
  return loop;
}

RelayLoop::RelayLoop(UniqueFd epoll, UniqueFd wake, std::vector<Store> stores, const Options& options,
                     Listener listener)
    : epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      stores_(std::move(stores)),
      options_(options),
      listener_(std::move(listener)) {
  polled_.reserve(kMaxPolled);
}

RelayLoop::~RelayLoop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

RelayStore& RelayLoop::store_of(SlotKind kind) {
  return *std::find_if(stores_.begin(), stores_.end(), [kind](const Store& each) {
            return each.store->kind() == kind;
          })->store;
}

absl::StatusOr<std::unique_ptr<Slot>> RelayLoop::make_floor(const HostEnd& upstream, const HostEnd& downstream) {
  return store_of(slots_between(upstream, downstream)).make_floor(upstream, downstream);
}

RelayEgress RelayLoop::egress(const CircuitSetup& setup) const {
  if (options_.stamps == nullptr) return {};
  return {&now_, EgressPort(*options_.stamps, dialing_end(setup, setup.hop + 1U).port),
          setup.share == CircuitShare::kAlternate, &load_};
}

absl::Status RelayLoop::add(const CircuitSetup& setup, HopConnection upstream, HopConnection downstream,
                            std::unique_ptr<Slot> floor) {
  const SlotKind slots = slots_between(*upstream.end, *downstream.end);
  Circuit::Transports transports{transport_of(upstream), transport_of(downstream)};
  auto up = make_hop_link(std::move(upstream), {HopPlace::kRelayUpstream, false, slots, options_.checksums});
  if (!up.ok()) return up.status();
  const bool last_hop = setup.hop + 2U == setup.hops.size();
  auto down = make_hop_link(std::move(downstream), {HopPlace::kRelayDownstream, last_hop, slots, options_.checksums});
  if (!down.ok()) return down.status();
  auto circuit = std::make_unique<Circuit>(setup, std::move(transports), *std::move(up), *std::move(down),
                                           std::move(floor), store_of(slots).pool(), egress(setup));
  open_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    listed_.push_back(circuit.get());
    added_.push_back(std::move(circuit));
    ++ended_.circuits_opened;
  }
  ::eventfd_write(wake_.get(), 1);
  return absl::OkStatus();
}

void RelayLoop::lose_port(PortLost lost) {
  {
    const std::lock_guard lock(mutex_);
    lost_.push_back(std::move(lost));
  }
  ::eventfd_write(wake_.get(), 1);
}

RelayStatus RelayLoop::counts() const {
  const std::lock_guard lock(mutex_);
  RelayStatus status = ended_;
  status.circuits_open = listed_.size();
  for (const Circuit* circuit : listed_) {
    status.chunks += circuit->chunks.load(std::memory_order_relaxed);
    status.bytes += circuit->bytes.load(std::memory_order_relaxed);
  }
  return status;
}

RelayStatus RelayLoop::status() const {
  const std::lock_guard lock(mutex_);
  RelayStatus status = ended_;
  status.circuits_open = listed_.size();
  const auto now = std::chrono::steady_clock::now();
  for (const Circuit* circuit : listed_) {
    const auto open_for = std::chrono::duration_cast<std::chrono::milliseconds>(now - circuit->opened);
    status.circuits.push_back({circuit->setup.flow, circuit->path, circuit->chunks.load(std::memory_order_relaxed),
                               circuit->bytes.load(std::memory_order_relaxed),
                               static_cast<std::uint64_t>(open_for.count()), circuit->transports.upstream,
                               circuit->transports.downstream});
    status.chunks += status.circuits.back().chunks;
    status.bytes += status.circuits.back().bytes;
  }
  return status;
}

void RelayLoop::read_clock() {
  now_ = instant(std::chrono::steady_clock::now());
}

void RelayLoop::run() {
  std::array<epoll_event, kMaxEvents> events;
  const ThreadTime thread_time;
  read_clock();
  Instant next_check = now_ + kCheckEvery;
  Instant next_rest = now_ + kTickInterval;
  while (true) {
    const auto count = static_cast<std::size_t>(std::max(wait(events), 0));
    const bool woken = serve_events(std::span(events).first(count));
    serve_unfinished();
    closed_.clear();
    if (woken) {
      eventfd_t ignored;
      ::eventfd_read(wake_.get(), &ignored);
      take_added();
      take_lost();
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    read_clock();
    if (load_.is_due(now_)) load_.measure(now_, thread_time.spent());
    if (!gated_.empty() && now_ >= next_look_) look_at_gates();
    if (now_ >= next_rest) {
      next_rest = now_ + kTickInterval;
      tick();
    }
    if (now_ >= next_check) {
      next_check = now_ + kCheckEvery;
      close_dead();
    }
  }
  for (const auto& [circuit, owned] : circuits_) {
    circuit->relay.fail(absl::UnavailableError(
        absl::StrCat("node ", circuit->setup.this_hop().to_node, ": its cablewayd is shutting down")));
  }
}

int RelayLoop::wait(std::span<epoll_event> events) {
  const auto look = [&](int timeout_ms) {
    return ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  };
  read_clock();
  const Instant sleep_at = now_ + options_.spin;
  do {
    const Instant began = now_;
    const bool moved = serve_polled();
    const int count = look(0);
    if (count != 0 || moved || !unfinished_.empty()) return count;
    read_clock();
    const Instant looked = now_;
    ::sched_yield();  // lets endpoints on this host run, which may need this CPU
    read_clock();
    load_.looked_in_vain(looked - began, now_ - looked);
  } while (!polled_.empty() || now_ < sleep_at);
  const std::chrono::milliseconds longest = !gated_.empty() ? RelayCircuit::kLookAtGate
                                            : any_leased()  ? kTickInterval
                                                            : kCheckEvery;
  const int count = look(static_cast<int>(longest.count()));
  read_clock();
  return count;
}

bool RelayLoop::any_leased() const {
  return std::any_of(stores_.begin(), stores_.end(), [](const Store& each) { return each.store->pool().leased() > 0; });
}

bool RelayLoop::serve_events(std::span<const epoll_event> events) {
  bool woken = false;
  // Data comes before answers: a receiver waits for the data, whereas an answer concerns data that has already
  // arrived.
  for (const bool data : {true, false}) {
    for (const epoll_event& event : events) {
      auto* side = static_cast<Side*>(event.data.ptr);
      woken = woken || side == nullptr;
      // A circuit has two sockets; the first one's event may have ended it.
      if (side == nullptr || side->brings_data != data || side->circuit.is_closed) continue;
      serve_event(*side, event.events);
    }
  }
  return woken;
}

void RelayLoop::serve_event(Side& side, std::uint32_t events) {
  const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (side.completions) {
    side.hop.take_completions();
    if (!poll(side.circuit)) {
      if (absl::Status armed = side.hop.arm_completions(); !armed.ok()) return end(side.circuit, side.name(), armed);
    }
  } else if (ended || (events & EPOLLIN) != 0) {
    side.hop.on_readable(ended);
  }
  serve(side.circuit);
}

void RelayLoop::serve_unfinished() {
  for (std::size_t left = unfinished_.size(); left > 0 && !unfinished_.empty(); --left) {
    Circuit* circuit = unfinished_.front();
    unfinished_.pop_front();
    circuit->in_unfinished = false;
    serve(*circuit);
  }
}

void RelayLoop::take_added() {
  std::vector<std::unique_ptr<Circuit>> added;
  {
    const std::lock_guard lock(mutex_);
    added.swap(added_);
  }
  for (std::unique_ptr<Circuit>& circuit : added) {
    Circuit& entry = *circuit;
    circuits_.emplace(&entry, std::move(circuit));
    const absl::Status watched = watch(entry);
    if (watched.ok()) {
      serve(entry);
    } else {
      entry.relay.fail(watched);
      close(entry, watched);
    }
  }
}

void RelayLoop::take_lost() {
  std::vector<PortLost> lost;
  {
    const std::lock_guard lock(mutex_);
    lost.swap(lost_);
  }
  for (const PortLost& port : lost) {
    end_sides(
        [&](const Side& side) { return side.is_over(port) ? absl::UnavailableError(port.reason) : absl::OkStatus(); });
  }
}

absl::Status RelayLoop::watch(Circuit& circuit) {
  absl::Status watched = watch(circuit.upstream->socket(), circuit.upstream_side);
  if (watched.ok()) watched = watch(circuit.downstream->socket(), circuit.downstream_side);
  if (watched.ok() && circuit.upstream->completions() >= 0) {
    watched = watch(circuit.upstream->completions(), circuit.upstream_completions);
  }
  if (watched.ok() && circuit.downstream->completions() >= 0) {
    watched = watch(circuit.downstream->completions(), circuit.downstream_completions);
  }
  return watched;
}

absl::Status RelayLoop::watch(int fd, Side& side) {
  // Edge-triggered, once for both directions: a turn ends only when neither side can move, so no edge is lost.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &side;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(
      errno, absl::StrCat("node ", side.circuit.setup.this_hop().to_node, " cannot watch another connection"));
}

bool RelayLoop::serve(Circuit& circuit) {
  // The turn before may have taken milliseconds.
  if (circuit.moves_payload) read_clock();
  absl::StatusOr<bool> more = circuit.relay.progress();
  circuit.chunks.store(circuit.relay.chunks_relayed(), std::memory_order_relaxed);
  circuit.bytes.store(circuit.relay.bytes_relayed(), std::memory_order_relaxed);
  if (!more.ok()) {
    close(circuit, more.status());
    return true;
  }
  if (circuit.relay.waits_for_gate() && !std::exchange(circuit.is_gated, true)) gated_.push_back(&circuit);
  const bool moved = circuit.has_completions && circuit.has_moved();
  // A polled circuit gets its next turn anyway.
  if (moved && poll(circuit)) return true;
  if (*more && !circuit.in_unfinished) {
    circuit.in_unfinished = true;
    unfinished_.push_back(&circuit);
  }
  return moved;
}

bool RelayLoop::poll(Circuit& circuit) {
  if (!circuit.has_completions || options_.spin.count() == 0) return false;
  if (!circuit.is_polled) {
    if (polled_.size() == kMaxPolled) return false;
    polled_.push_back(&circuit);
    circuit.is_polled = true;
  }
  if (circuit.moves_payload) read_clock();  // its turn may have taken longer than that
  circuit.polled_until = now_ + options_.spin;
  return true;
}

bool RelayLoop::serve_polled() {
  if (polled_.empty()) return false;
  bool moved = false;
  const Instant now = now_;
  // Backwards, since circuits may be removed during their turn.
  for (std::size_t i = polled_.size(); i-- > 0;) {
    Circuit& circuit = *polled_[i];
    const bool long_idle = now >= circuit.polled_until;
    if (serve(circuit) || (long_idle && arm(circuit))) {
      moved = true;
    } else if (long_idle) {
      circuit.is_polled = false;
      polled_.erase(polled_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return moved;
}

bool RelayLoop::arm(Circuit& circuit) {
  for (const Side* side : {&circuit.upstream_completions, &circuit.downstream_completions}) {
    if (absl::Status armed = side->hop.arm_completions(); !armed.ok()) {
      end(circuit, side->name(), armed);
      return true;
    }
  }
  return serve(circuit);
}

void RelayLoop::close(Circuit& circuit, const absl::Status& reason) {
  const auto entry = circuits_.find(&circuit);
  std::unique_ptr<Circuit> owned = std::move(entry->second);
  circuits_.erase(entry);
  owned->is_closed = true;
  std::erase(unfinished_, &circuit);
  std::erase(polled_, &circuit);
  std::erase(gated_, &circuit);
  open_.fetch_sub(1, std::memory_order_relaxed);
  const bool ended_by_an_end = absl::IsCancelled(reason) || was_received(reason);
  const bool broken = !ended_by_an_end || owned->relay.slots_in_use() > 0;
  {
    const std::lock_guard lock(mutex_);
    listed_.erase(std::remove(listed_.begin(), listed_.end(), &circuit), listed_.end());
    ended_.chunks += owned->relay.chunks_relayed();
    ended_.bytes += owned->relay.bytes_relayed();
    if (broken) ++ended_.circuits_broken;
  }
  Closed closed{owned->setup, reason, broken, owned->upstream->take_socket(), owned->downstream->take_socket()};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, closed.upstream.get(), nullptr);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, closed.downstream.get(), nullptr);
  closed_.push_back(std::move(owned));
  listener_.closed(std::move(closed));
}

void RelayLoop::end(Circuit& circuit, const std::string& hop_end, const absl::Status& found) {
  const absl::Status reason = found_at(hop_end, found);
  circuit.relay.fail(reason);
  close(circuit, reason);
}

void RelayLoop::tick() {
  for (const auto& [circuit, owned] : circuits_) {
    circuit->relay.tick();
    circuit->relay.look_at_load();
    if (circuit->relay.has_news()) with_news_.push_back(circuit);
  }
  for (Circuit* circuit : with_news_) serve(*circuit);
  with_news_.clear();
  for (Store& store : stores_) report_waits(store);
}

void RelayLoop::report_waits(Store& store) {
  const SlotPool& pool = store.store->pool();
  if (pool.size() == 0 || !pool.anyone_waits()) return;
  if (now_ < store.next_notice) return;
  store.next_notice = now_ + kNoticeEvery;
  listener_.out_of_leases(*store.store);
}

void RelayLoop::look_at_gates() {
  next_look_ = now_ + RelayCircuit::kLookAtGate;
  // Backwards, since circuits may be removed during their turn.
  for (std::size_t i = gated_.size(); i-- > 0;) {
    Circuit& circuit = *gated_[i];
    circuit.relay.look_at_gate();
    if (circuit.relay.waits_for_gate()) continue;
    circuit.is_gated = false;
    gated_.erase(gated_.begin() + static_cast<std::ptrdiff_t>(i));
    serve(circuit);
  }
}

void RelayLoop::close_dead() {
  end_sides([](const Side& side) { return side.hop.check(); });
}

void RelayLoop::end_sides(const std::function<absl::Status(const Side&)>& check) {
  std::vector<std::pair<const Side*, absl::Status>> dead;
  for (const auto& [circuit, owned] : circuits_) {
    for (const Side* side : {&circuit->upstream_side, &circuit->downstream_side}) {
      absl::Status found = check(*side);
      if (found.ok()) continue;
      dead.emplace_back(side, std::move(found));
      break;
    }
  }
  for (const auto& [side, found] : dead) end(side->circuit, side->name(), found);
}

}  // namespace cableway::host
