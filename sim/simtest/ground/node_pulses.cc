#include "sim/simtest/ground/node_pulses.h"

#include <algorithm>

namespace cableway::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint64_t kPulseStream = 0x706c;
constexpr std::uint64_t kStallStream = 0x7374616c;
// As in core/linux/pulse: how many pulses one read takes, and for how long a question waits for its answer.
constexpr std::size_t kMaxPerRead = 256;
constexpr milliseconds kPatience{50};
// The number of pulses that a socket's buffer holds.
constexpr std::size_t kMaxWaiting = 277;
constexpr microseconds kTimerSlack{200};  // of an idle host

std::uint64_t seed_of(const SimtestGround& ground, std::size_t node, std::uint64_t stream) {
  return SimtestRandom::mix(ground.plan.seed ^ stream) + node;
}

}  // namespace

NodePulses::NodePulses(SimtestGround& ground, std::size_t node, CableVerdicts::Listener listener)
    : ground_(ground),
      node_(node),
      ports_(ground.nodes.fabric().ports_of(node)),
      clock_(ground.nodes.clock_of(node)),
      random_(seed_of(ground, node, kPulseStream)),
      stalls_(seed_of(ground, node, kStallStream)),
      pulses_(ground.plan.pulse, ground.nodes.seal_of(node), *this),
      verdicts_(ground.nodes.node(node), std::move(listener)) {
  ports_.open_pulse_sockets(this);
  update();
}

NodePulses::~NodePulses() {
  ports_.open_pulse_sockets(nullptr);
}

void NodePulses::update() {
  std::vector<PulsedCable> cables = pulsed_cables(ground_.nodes.node(node_));
  if (cables == pulsed_) return;
  pulsed_ = cables;
  wanted_ = std::move(cables);
  wake_at(now());
}

void NodePulses::stand_still(bool still) {
  if (std::exchange(still_, still) == still || still_) return;
  wake_at(now());
  if (!found_.empty()) act_later();
}

std::optional<Instant> NodePulses::pulsed_since(const std::string& cable) const {
  const auto link = links_.find(cable);
  return link == links_.end() ? std::nullopt : std::optional(link->second.since);
}

void NodePulses::wake_at(Instant when) {
  const Instant soon = std::max(when, now()) + random_.between(Duration{0}, Duration(kTimerSlack));
  timer_ = clock_.call_at(stalls_.after(soon, ground_.hosts[node_].longest_stall), [this] { run(); });
}

void NodePulses::run() {
  if (still_) return;
  take_cables(now());
  if (now() >= pulses_.next()) {
    if (pulses_.next() > Instant{}) latest_ = std::max(latest_, now() - pulses_.next());
    read_all();
    pulses_.tick(now());
  }
  wake_at(pulses_.next());
}

void NodePulses::take_cables(Instant now) {
  std::optional<std::vector<PulsedCable>> wanted = std::exchange(wanted_, std::nullopt);
  if (!wanted.has_value()) return;
  std::map<std::string, Link> links;
  for (const PulsedCable& cable : *wanted) {
    const auto known = links_.find(cable.name);
    // Keeps the pulses that have arrived and were not read yet.
    if (known != links_.end() && is_same_link(known->second.cable, cable)) {
      known->second.cable = cable;
      links.insert(links_.extract(known));
    } else {
      Link& link = links[cable.name];
      link.cable = cable;
      link.since = ground_.clock().now();
    }
  }
  links_ = std::move(links);
  pulses_.set_cables(*std::move(wanted), now);
}

void NodePulses::read_all() {
  for (auto& [name, link] : links_) {
    for (std::size_t i = 0; i < kMaxPerRead && !link.arrived.empty(); ++i) {
      const Arrived& first = link.arrived.front();
      const std::size_t kept = std::min(first.size, first.bytes.size());
      pulses_.receive(name, std::span(first.bytes).first(kept), first.size, first.at);
      link.arrived.pop_front();
    }
    if (std::exchange(link.refused, false)) pulses_.refused(name, now());
  }
}

NodePulses::Link* NodePulses::find(PortId port, const routing::PortAddress& from) {
  for (auto& [name, link] : links_) {
    if (link.cable.own.port == port && link.cable.other_address.bytes == from.bytes) return &link;
  }
  return nullptr;
}

bool NodePulses::pulse(PortId port, const routing::PortAddress& from, std::span<const std::byte> bytes) {
  Link* const link = find(port, from);
  if (link == nullptr) return false;
  if (link->arrived.size() == kMaxWaiting) return true;
  Arrived& arrived = link->arrived.emplace_back();
  arrived.size = bytes.size();
  arrived.at = now();
  std::copy_n(bytes.begin(), std::min(bytes.size(), arrived.bytes.size()), arrived.bytes.begin());
  return true;
}

void NodePulses::refused(PortId port, const routing::PortAddress& from) {
  if (Link* const link = find(port, from); link != nullptr) link->refused = true;
}

void NodePulses::answered(PortId port, const routing::PortAddress& from) {
  Link* const link = find(port, from);
  if (link == nullptr || !std::exchange(link->asking, false)) return;
  link->answered = true;
}

bool NodePulses::send(const PulsedCable& cable, std::span<const std::byte> bytes) {
  ports_.send_pulse(cable.own.port, cable.other_address, bytes);
  return true;
}

bool NodePulses::look_for_signs(const PulsedCable& cable) {
  const auto found = links_.find(cable.name);
  if (found == links_.end()) return false;
  Link& link = found->second;
  const bool answered = std::exchange(link.answered, false);
  const std::uint64_t packets = ports_.packets(cable.own.port);
  const bool arrived = std::exchange(link.packets, packets) != packets && cable.only_neighbour;
  if (!link.asking || now() - link.asked > kPatience) {
    link.asking = true;
    link.asked = now();
    ports_.ask_kernel(cable.own.port, cable.other_address);
  }
  return answered || arrived;
}

// The node's own thread acts on it.
void NodePulses::verdict(const PulsedCable& cable, const CableVerdict& verdict) {
  found_.emplace_back(cable, verdict);
  if (acts_ == nullptr) act_later();
}

void NodePulses::act_later() {
  acts_ = clock_.call_at(stalls_.after(now(), ground_.hosts[node_].longest_stall), [this] { act(); });
}

void NodePulses::act() {
  acts_.reset();
  if (still_) return;
  for (const auto& [cable, verdict] : std::exchange(found_, {})) {
    ground_.told.verdict(node_, cable, verdict);
    verdicts_.act(cable, verdict);
  }
}

}  // namespace cableway::sim
