#include "core/session/session_shares.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

constexpr char kRemedy[] =
    "; end some of its processes that use Cableway: grep -l nccl-net-cableway /proc/[0-9]*/maps lists them";

}  // namespace

std::string SessionShares::refusal(std::uint32_t user) const {
  if (open_ >= kMaxSessions) {
    return absl::StrCat("no session left: all ", kMaxSessions, " of this node are taken; ", greatest(), kRemedy);
  }
  if (is_operator(user)) return "";
  const auto of_user = by_user_.find(user);
  if (of_user != by_user_.end() && of_user->second.sessions >= kMaxSessionsOfUser) {
    return absl::StrCat("no session left for user ", user, ": it has ", of_user->second.sessions,
                        ", which is all that one user "
                        "may have of this node's ",
                        kMaxSessions, kRemedy);
  }
  if (of_others_ >= kMaxSessionsOfOthers) {
    return absl::StrCat("no session left for user ", user, ": ", kMaxSessionsOfOthers, " of this node's ", kMaxSessions,
                        " are taken, and the rest is kept for root and the node's user; ", greatest(), kRemedy);
  }
  return "";
}

void SessionShares::opened(std::uint32_t user) {
  ++open_;
  ++by_user_[user].sessions;
  if (!is_operator(user)) ++of_others_;
}

void SessionShares::closed(std::uint32_t user) {
  --open_;
  if (!is_operator(user)) --of_others_;
  const auto of_user = by_user_.find(user);
  if (--of_user->second.sessions == 0) by_user_.erase(of_user);
}

bool SessionShares::may_queue(std::uint32_t user) const {
  return by_user_.at(user).unread < kMaxUnread / by_user_.size();
}

void SessionShares::queued(std::uint32_t user, std::size_t bytes) {
  by_user_.at(user).unread += bytes;
}

void SessionShares::dequeued(std::uint32_t user, std::size_t bytes) {
  by_user_.at(user).unread -= bytes;
}

std::string SessionShares::greatest() const {
  const auto most = std::max_element(by_user_.begin(), by_user_.end(), [](const auto& left, const auto& right) {
    return left.second.sessions < right.second.sessions;
  });
  return absl::StrCat("user ", most->first, " has ", most->second.sessions);
}

}  // namespace cableway
