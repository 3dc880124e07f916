#include "core/pulse/pulses.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/discovery/control_channel.h"

namespace cableway {
namespace {

// A lower bound of the pulses that a socket's buffer holds. At the kernel's default size it holds about 50 if large
// pulses have 9,000 bytes, and 270 small ones.
constexpr int kBuffered = 40;

// How long tick() may wait while no cable is up.
constexpr std::chrono::seconds kIdle{1};

// Rounds up, since the value is an allowance.
std::uint16_t in_whole_ms(Duration duration) {
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<std::uint16_t>(std::min<std::int64_t>(whole, UINT16_MAX));
}

}  // namespace

Pulses::Pulses(std::chrono::milliseconds interval, const DatagramSeal& seal, Host& host)
    : interval_(interval), seal_(seal), host_(host) {
  bytes_.reserve(kMaxDatagramBytes);
}

void Pulses::set_cables(std::vector<PulsedCable> cables, Instant now) {
  expire(now);
  if (cables.size() > kMaxCables) cables.resize(kMaxCables);
  std::set<std::string> up;
  for (PulsedCable& cable : cables) {
    up.insert(cable.name);
    add(std::move(cable), now);
  }
  for (auto& [name, cable] : cables_) {
    if (!up.contains(name) && std::exchange(cable.is_up, false)) cable.down_since = now;
  }
  // An earlier due time is kept, since it shows how late this call is.
  next_ = next_ == Instant{} ? now : std::min(next_, now);
}

void Pulses::add(PulsedCable cable, Instant now) {
  const auto known = cables_.find(cable.name);
  ReplayWindow window;
  if (known != cables_.end()) {
    Cable& before = known->second;
    if (is_same_link(before.cable, cable)) {
      before.cable = std::move(cable);
      if (!std::exchange(before.is_up, true)) {
        before.judge.resume(now);
        before.losses.interrupted(now);
      }
      return;
    }
    if (are_same_ends(before.cable, cable)) window = before.window;
    forget(known);
  }
  const std::string name = cable.name;
  CableJudge judge(cable.neighbour, interval_, lateness_);
  cables_.emplace(name, Cable{.cable = std::move(cable),
                              .window = window,
                              .judge = std::move(judge),
                              .counter = counter_,
                              .down_since = {}});
}

Pulses::Cables::iterator Pulses::forget(Cables::iterator cable) {
  if (cable->second.judge.trust() != CableTrust::kAll) {
    host_.verdict(cable->second.cable, {CableTrust::kAll, "its earlier pulses do not count any more"});
  }
  if (cable->second.losses.percent() > 0) host_.loss(cable->second.cable, 0);
  return cables_.erase(cable);
}

// Forgets cables that have been down for kRemembered, and every cable that is down while there are more than
// 2 * kMaxCables.
void Pulses::expire(Instant now) {
  for (auto each = cables_.begin(); each != cables_.end();) {
    const Cable& cable = each->second;
    const bool is_old = now - cable.down_since >= kRemembered || cables_.size() > 2 * kMaxCables;
    each = !cable.is_up && is_old ? forget(each) : std::next(each);
  }
}

Pulses::Cable* Pulses::find(const std::string& name) {
  const auto found = cables_.find(name);
  return found == cables_.end() || !found->second.is_up ? nullptr : &found->second;
}

void Pulses::receive(const std::string& cable, std::span<const std::byte> bytes, std::size_t size, Instant arrival) {
  Cable* known = find(cable);
  if (known == nullptr) return;
  std::optional<Pulse> pulse = decode_pulse(bytes);
  if (!pulse.has_value() || pulse->from != known->cable.other || pulse->to != known->cable.own) return;
  if (pulse->boot_nonce != known->cable.other_boot_nonce || !is_pulse_sealed(bytes, seal_)) return;
  if (!known->window.accept(pulse->counter)) return;
  if (!pulse->large && size != kPulseBytes) return;
  // A truncated large pulse proves no more than a small one.
  pulse->large = pulse->large && size >= known->cable.large_bytes;
  known->neighbour_interval = std::chrono::milliseconds(pulse->interval_ms);
  known->judge.heard(*pulse, arrival);
  if (known->judge.hears_large(arrival)) {
    known->losses.heard(pulse->counter, arrival);
  } else {
    known->losses.interrupted(arrival);
  }
}

void Pulses::refused(const std::string& cable, Instant now) {
  if (Cable* known = find(cable); known != nullptr) known->judge.gone(now);
}

void Pulses::note_lateness(Instant now) {
  if (next_ == Instant{}) return;  // the first tick
  const Duration late = now - next_;
  if (late <= Duration{0}) return;
  lateness_.add(late, now);
  if (late <= interval_ / 2) return;
  for (auto& [name, each] : cables_) {
    each.judge.stalled(late, now);
    if (late > kBuffered * each.neighbour_interval) each.losses.interrupted(now);
  }
}

void Pulses::tick(Instant now) {
  note_lateness(now);
  const bool sends = now >= next_send_;
  if (sends) next_send_ = std::max(next_send_ + interval_, now + interval_ / 2);
  if (sends) expire(now);
  next_ = now + kIdle;
  for (auto& [name, each] : cables_) {
    if (!each.is_up) continue;
    next_ = std::min(next_, next_send_);
    // A neighbour that this node no longer hears is informed at once.
    const bool is_lost = judge(each, now);
    if (sends || is_lost) send(each, now);
    if (const std::optional<Instant> due = each.judge.due(now)) next_ = std::min(next_, *due);
  }
}

// Returns whether the cable was just found unusable.
bool Pulses::judge(Cable& each, Instant now) {
  if (each.judge.wants_signs(now)) each.judge.looked(host_.look_for_signs(each.cable), now);
  const std::optional<CableVerdict> verdict = each.judge.judge(now);
  if (verdict.has_value()) {
    each.losses.interrupted(now);
    host_.verdict(each.cable, *verdict);
  }
  if (const std::optional<unsigned> percent = each.losses.changed()) host_.loss(each.cable, *percent);
  return verdict.has_value() && verdict->trust == CableTrust::kNone && !verdict->proving;
}

void Pulses::send(Cable& each, Instant now) {
  Pulse pulse;
  pulse.hears = each.judge.hears(now);
  pulse.hears_large = each.judge.hears_large(now);
  pulse.large = each.until_large == 0;
  pulse.from = each.cable.own;
  pulse.to = each.cable.other;
  pulse.boot_nonce = each.cable.own_boot_nonce;
  pulse.counter = each.counter + 1;
  pulse.interval_ms = in_whole_ms(interval_);
  pulse.late_ms = in_whole_ms(lateness_.get(now));
  bool sent = send(each.cable, pulse);
  if (pulse.large && sent) each.until_large = large_pulse_every(interval_);
  // If the large pulse cannot be sent, a small one keeps the cable from seeming silent.
  if (pulse.large && !sent) {
    pulse.large = false;
    sent = send(each.cable, pulse);
  }
  if (!sent) return;
  if (each.until_large > 0) --each.until_large;
  each.counter = pulse.counter;
  counter_ = std::max(counter_, each.counter);
}

bool Pulses::send(const PulsedCable& cable, const Pulse& pulse) {
  encode_pulse(pulse, seal_, bytes_);
  if (pulse.large) bytes_.resize(std::clamp(cable.large_bytes, kPulseBytes, kMaxDatagramBytes));
  return host_.send(cable, bytes_);
}

}  // namespace cableway
