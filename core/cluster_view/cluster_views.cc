#include "core/cluster_view/cluster_views.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

// Answers that come together go out together.
constexpr std::chrono::milliseconds kGather{5};

std::size_t bytes_of(const NodeAnswer& answer) {
  return answer.node.size() + answer.error.size() + answer.document.size();
}

ClusterViewReply refused(std::string reason) {
  return {std::move(reason), 0, 0, true, {}};
}

}  // namespace

void ClusterViews::request(const SessionPeer& peer, const ClusterViewRequest& request, Answer answer) {
  if (request.round == 0) return begin(peer, request.view, std::move(answer));
  const auto found = rounds_.find(request.round);
  if (found == rounds_.end() || found->second.peer.session != peer.session || found->second.answer) {
    return answer(refused(absl::StrCat("this node has no answers of round ", request.round, " for you: ask again")));
  }
  found->second.answer = std::move(answer);
  found->second.expiry.reset();
  answer_soon(found->second);
}

void ClusterViews::begin(const SessionPeer& peer, const std::string& view, Answer answer) {
  const bool is_own = peer.session == 0;
  const auto of_user = std::count_if(rounds_.begin(), rounds_.end(), [&](const auto& each) {
    const SessionPeer& other = each.second.peer;
    return !is_own && other.session != 0 && other.user == peer.user;
  });
  if (rounds_.size() >= kMaxRounds || of_user >= static_cast<std::ptrdiff_t>(kMaxRoundsEach)) {
    return answer(refused(absl::StrCat("this node already asks all nodes for ", rounds_.size(), " views, ", of_user,
                                       " of them for this user: try again in a moment")));
  }
  absl::StatusOr<std::string> own = means_.own(view);
  if (absl::IsNotFound(own.status())) return answer(refused(std::string(own.status().message())));
  const std::uint64_t number = ++last_;
  Round& round = rounds_[number];
  round.number = number;
  round.peer = peer;
  round.view = view;
  round.answer = std::move(answer);
  round.ready.push_back({means_.others.name, own.ok() ? NoView::kNone : NoView::kRefused,
                         std::string(own.status().message()), own.ok() ? *std::move(own) : std::string()});
  round.ready_bytes = bytes_of(round.ready.back());
  for (std::string& node : means_.nodes()) {
    if (node != means_.others.name) round.waiting.push_back(std::move(node));
  }
  round.nodes = static_cast<std::uint32_t>(round.waiting.size() + 1);
  round.limit = clock().call_after(kRound, [this, &round] { end(round); });
  ask_more();
  answer_soon(round);
}

std::size_t ClusterViews::ready_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [number, round] : rounds_) bytes += round.ready_bytes;
  return bytes;
}

ClusterViews::Room ClusterViews::room() const {
  const Instant now = clock().now();
  std::size_t asked = 0;
  std::size_t young = 0;
  std::optional<Instant> again;
  for (const auto& [number, round] : rounds_) {
    asked += round.asked.size();
    for (auto each = round.asked.rbegin(); each != round.asked.rend() && each->since + kSlow > now; ++each) {
      ++young;
      again = std::min(again.value_or(each->since + kSlow), each->since + kSlow);
    }
  }
  if (asked >= kMostAtOnce || ready_bytes() >= kMaxReadyOfAll) return {};
  if (young >= kAtOnce) return {false, again};
  return {true, std::nullopt};
}

// Each round in its turn, except those whose process does not take the answers.
void ClusterViews::ask_more() {
  more_.reset();
  for (bool any = true; any;) {
    any = false;
    for (auto& [number, round] : rounds_) {
      if (round.waiting.empty() || round.ready_bytes >= kMaxReady) continue;
      const Room free = room();
      if (free.again) more_ = clock().call_at(*free.again, [this] { ask_more(); });
      if (!free.is_free) return;
      ask_next(round);
      any = true;
    }
  }
}

void ClusterViews::ask_next(Round& round) {
  const auto place = round.asked.insert(round.asked.end(), {clock().now(), std::move(round.waiting.front()), nullptr});
  round.waiting.pop_front();
  place->request = std::make_unique<NodeViewRequest>(
      means_.others, place->node, round.view,
      [this, &round, place](NodeAnswer answer) { have(round, place, std::move(answer)); });
  place->request->start();
}

void ClusterViews::have(Round& round, std::list<Asked>::iterator place, NodeAnswer answer) {
  round.asked.erase(place);
  round.ready_bytes += bytes_of(answer);
  round.ready.push_back(std::move(answer));
  ask_more();
  answer_soon(round);
}

// Its time is over: what has come is shown, and a row for each other node.
void ClusterViews::end(Round& round) {
  const auto add = [&](std::string node, const char* why) {
    round.ready.push_back({std::move(node), NoView::kTimedOut, why, ""});
    round.ready_bytes += bytes_of(round.ready.back());
  };
  for (Asked& each : round.asked) add(std::move(each.node), "no answer when the time for all nodes, 4 s, was over");
  for (std::string& node : round.waiting) add(std::move(node), "not asked in time, as many others did not answer");
  round.asked.clear();
  round.waiting.clear();
  ask_more();
  answer_soon(round);
}

void ClusterViews::ended(const SessionPeer& peer) {
  const auto dropped =
      std::erase_if(rounds_, [&](const auto& each) { return each.second.peer.session == peer.session; });
  if (dropped > 0) ask_more();
}

void ClusterViews::drop(std::uint64_t round) {
  rounds_.erase(round);
  ask_more();
}

void ClusterViews::answer_soon(Round& round) {
  const bool is_last = round.asked.empty() && round.waiting.empty();
  if (!round.answer || (round.ready.empty() && !is_last)) return;
  if (is_last || round.ready_bytes >= kMaxReplyPart) return answer_now(round);
  if (!round.soon) round.soon = clock().call_after(kGather, [this, &round] { answer_now(round); });
}

void ClusterViews::answer_now(Round& round) {
  round.soon.reset();
  ClusterViewReply reply{"", round.number, round.nodes, false, {}};
  std::size_t bytes = 0;
  while (!round.ready.empty() && (reply.answers.empty() || bytes + bytes_of(round.ready.front()) <= kMaxReplyPart)) {
    bytes += bytes_of(round.ready.front());
    reply.answers.push_back(std::move(round.ready.front()));
    round.ready.pop_front();
  }
  round.ready_bytes -= bytes;
  reply.done = round.ready.empty() && round.asked.empty() && round.waiting.empty();
  const Answer answer = std::exchange(round.answer, nullptr);
  if (reply.done) {
    rounds_.erase(round.number);
    ask_more();
    return answer(std::move(reply));
  }
  round.expiry = clock().call_after(kAskAgain, [this, number = round.number] { drop(number); });
  ask_more();
  answer(std::move(reply));
}

}  // namespace cableway
