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
  if (of_user != by_user_.end() && of_user->second >= kMaxSessionsOfUser) {
    return absl::StrCat("no session left for user ", user, ": it has ", of_user->second,
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
  ++by_user_[user];
  if (!is_operator(user)) ++of_others_;
}

void SessionShares::closed(std::uint32_t user) {
  --open_;
  if (!is_operator(user)) --of_others_;
  const auto of_user = by_user_.find(user);
  if (--of_user->second == 0) by_user_.erase(of_user);
}

std::string SessionShares::greatest() const {
  const auto most = std::max_element(by_user_.begin(), by_user_.end(),
                                     [](const auto& left, const auto& right) { return left.second < right.second; });
  return absl::StrCat("user ", most->first, " has ", most->second);
}

}  // namespace cableway
