#include "core/flooding/admission.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "routing/link_state/advertisement_weight.h"

namespace cableway {
namespace {

using routing::Advertisement;
using routing::kMaxWeight;
using routing::Milliseconds;
using routing::NodeId;

// Advertisements arrive in bursts; an origin's may precede that of the neighbour that confirms it.
constexpr std::chrono::milliseconds kPassAfter{5};
constexpr std::chrono::milliseconds kPassEvery{50};
constexpr std::chrono::seconds kCheckEvery{1};
// At most a twelfth of a core.
constexpr PacedWork::Limits kPace{12, std::chrono::milliseconds(20), kPassEvery, std::chrono::seconds(1)};
// Held origins may grow by so much before a pass, which then does not wait for its time.
constexpr std::size_t kSlack = kMaxWeight / 4;
// A database with this much has space again.
constexpr std::size_t kRoomyWeight = kMaxWeight / 8 * 7;

}  // namespace

struct Admission::Decision {
  std::vector<NodeId> dropped;
  std::vector<NodeId> admitted;
  std::vector<std::string> chain;
  std::size_t beyond_shares = 0;
};

Admission::Admission(Clock& clock, routing::LinkStateDatabase& database, NodeId self, Listener& listener)
    : clock_(clock), database_(database), self_(self), listener_(listener), pace_(kPace) {}

Milliseconds Admission::now_ms() const {
  return std::chrono::duration_cast<Milliseconds>(clock_.now().since_start);
}

bool Admission::must_wait(const Advertisement& newcomer) const {
  return crowded_ || database_.weight() + routing::weight_of(newcomer) > kMaxWeight;
}

void Admission::wait(Advertisement newcomer, Milliseconds age, PortId port) {
  if (age >= routing::kMaxAge) return;
  crowded_ = true;
  const Milliseconds now = now_ms();
  room_.put({std::move(newcomer), now - age, now, port});
  pass_soon(kPassAfter);
}

void Admission::note_update() {
  if (database_.weight() > kMaxWeight + kSlack) return pass();
  if (database_.weight() > kMaxWeight || !room_.empty()) pass_soon(kPassAfter);
}

void Admission::pass_soon(Duration delay) {
  const Instant at = std::max(clock_.now() + delay, pace_.due());
  if (timer_ != nullptr && pass_at_ <= at) return;
  pass_at_ = at;
  timer_ = clock_.call_at(at, [this] { pass(); });
}

void Admission::pass() {
  timer_.reset();
  if (database_.find(self_) == nullptr) return;
  run_pass();
  if (crowded_) pass_soon(kCheckEvery);
}

void Admission::run_pass() {
  const PacedWork::Run run(pace_, clock_);
  crowded_ = true;
  room_.expire(now_ms());
  const Decision decision = decide(now_ms());
  carry_out(decision);
  report(decision);
  note_calm(decision);
}

Admission::Decision Admission::decide(Milliseconds now) {
  std::vector<std::tuple<Milliseconds, NodeId, const Advertisement*>> held;
  for (const auto& [origin, entry] : database_.entries()) {
    held.emplace_back(entry.held_since, origin, entry.advertisement.get());
  }
  std::sort(held.begin(), held.end());
  std::vector<const Advertisement*> nodes;
  nodes.reserve(held.size());
  for (const auto& [since, origin, advertisement] : held) nodes.push_back(advertisement);
  for (const WaitingAdvertisement* waiting : room_.all()) nodes.push_back(&waiting->advertisement);

  const routing::FairShares shares = routing::fair_shares(nodes, self_, kMaxWeight);
  Decision decision;
  decision.beyond_shares = shares.left_out;
  for (const std::uint32_t place : shares.crowd) decision.chain.push_back(nodes[place]->name);
  for (std::size_t place = held.size(); place < nodes.size(); ++place) {
    if (shares.kept[place]) decision.admitted.push_back(nodes[place]->origin);
  }
  nodes.resize(held.size());
  for (std::size_t place = 0; place < held.size(); ++place) {
    if (shares.anchored[place] && !shares.kept[place]) decision.dropped.push_back(nodes[place]->origin);
  }
  hold_loose(nodes, shares, now, decision);
  return decision;
}

// What hangs on nothing is held for a while, in the space that is left: what was anchored last, and has been held
// longest, first.
void Admission::hold_loose(const std::vector<const Advertisement*>& held, const routing::FairShares& shares,
                           Milliseconds now, Decision& decision) {
  std::map<NodeId, Milliseconds> loose_since;
  std::vector<std::pair<Milliseconds, std::size_t>> loose;
  for (std::size_t place = 0; place < held.size(); ++place) {
    if (shares.anchored[place]) continue;
    const auto known = loose_since_.find(held[place]->origin);
    const Milliseconds since = known == loose_since_.end() ? now : known->second;
    loose_since[held[place]->origin] = since;
    loose.emplace_back(now - since, place);
  }
  std::sort(loose.begin(), loose.end());
  std::size_t space = kMaxWeight - shares.weight;
  for (const auto& [time, place] : loose) {
    const std::size_t weight = routing::weight_of(*held[place]);
    if (time < kLooseFor && weight <= space) {
      space -= weight;
    } else {
      decision.dropped.push_back(held[place]->origin);
      loose_since.erase(held[place]->origin);
    }
  }
  loose_since_ = std::move(loose_since);
}

void Admission::carry_out(const Decision& decision) {
  for (const NodeId origin : decision.dropped) database_.drop(origin);
  dropped_ += decision.dropped.size();
  for (const NodeId origin : decision.admitted) {
    std::optional<WaitingAdvertisement> waiting = room_.take(origin);
    const Milliseconds now = now_ms();
    const auto verdict = database_.offer(std::move(waiting->advertisement), now - waiting->born, now);
    if (verdict == routing::LinkStateDatabase::Verdict::kNewer) listener_.admitted(origin);
  }
  if (!decision.dropped.empty()) listener_.origins_dropped(decision.dropped);
}

void Admission::report(const Decision& decision) {
  std::uint64_t left_out = dropped_;
  for (const auto& [port, count] : room_.turned_away()) left_out += count;
  if (left_out == 0) return;
  if (!crowd_.has_value()) crowd_ = Crowd{0, {}, 0, clock_.now()};
  crowd_->left_out = left_out;
  if (!decision.chain.empty()) crowd_->chain = decision.chain;
  crowd_->port = busiest_port();
  const std::string end = crowd_->chain.empty() ? "" : crowd_->chain.back();
  const Instant now = clock_.now();
  if (reported_at_.has_value() && (end == reported_ || now - *reported_at_ < kReportEvery)) return;
  reported_at_ = now;
  reported_ = end;
  listener_.crowded(*crowd_);
}

PortId Admission::busiest_port() const {
  const auto& turned_away = room_.turned_away();
  const auto most = std::max_element(turned_away.begin(), turned_away.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == turned_away.end() ? 0 : most->first;
}

void Admission::note_calm(const Decision& decision) {
  const std::uint64_t before = std::exchange(left_out_, crowd_.has_value() ? crowd_->left_out : 0);
  if (left_out_ != before || decision.beyond_shares > 0 || database_.weight() > kRoomyWeight || !room_.empty()) {
    met_ = clock_.now();
  }
  if (clock_.now() - met_ < kCalm) return;
  crowded_ = false;
  loose_since_.clear();
  room_.forget_turned_away();
  dropped_ = left_out_ = 0;
  crowd_.reset();
  reported_at_.reset();
}

}  // namespace cableway
