#include "core/node/path_wait.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {

void PathWait::find(std::string destination, std::uint64_t ordinal, std::size_t most, std::uint32_t user,
                    Answer answer) {
  events_.raise(EventCode::kPathRequested,
                absl::StrCat("a process requests paths for flow ", ordinal, " to node ", destination),
                {{"to", destination}});
  Paths paths = find_(destination, ordinal, most);
  if (paths.ok()) return this->answer(destination, answer, std::move(paths));
  waiting_.push_back({std::move(destination), ordinal, most, user, std::move(answer), clock_.now() + kLimit});
  ++of_user_[user];
  set_deadline();
  if (waiting_.size() > kMaxWaiting) give_way();
}

// So that no user keeps the others' requests from waiting.
void PathWait::give_way() {
  const auto count_of = [](const auto& left, const auto& right) { return left.second < right.second; };
  const std::uint32_t user = std::max_element(of_user_.begin(), of_user_.end(), count_of)->first;
  const auto newest =
      std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Waiting& each) { return each.user == user; });
  const Waiting given_up = std::move(*newest);
  waiting_.erase(std::next(newest).base());
  remove_one_of(user);
  // Paths may have changed since.
  Paths paths = find_(given_up.destination, given_up.ordinal, given_up.most);
  if (paths.ok()) return answer(given_up.destination, given_up.answer, std::move(paths));
  answer(given_up.destination, given_up.answer,
         absl::ResourceExhaustedError(absl::StrCat(kMaxWaiting, " requests for paths wait here, and user ", user,
                                                   " has the most; last: ", paths.status().message())));
}

void PathWait::remove_one_of(std::uint32_t user) {
  const auto count = of_user_.find(user);
  if (--count->second == 0) of_user_.erase(count);
}

void PathWait::answer_ready() {
  const Instant now = clock_.now();
  // Answered after the loop, since an answer may call find() again.
  std::vector<std::pair<Waiting, Paths>> ready;
  waiting_.remove_if([&](Waiting& waiting) {
    Paths paths = find_(waiting.destination, waiting.ordinal, waiting.most);
    if (!paths.ok() && now < waiting.deadline) return false;
    remove_one_of(waiting.user);
    ready.emplace_back(std::move(waiting), std::move(paths));
    return true;
  });
  set_deadline();
  for (auto& [waiting, paths] : ready) answer(waiting.destination, waiting.answer, std::move(paths));
}

void PathWait::answer(const std::string& destination, const Answer& answer, Paths paths) {
  if (paths.ok()) {
    const std::size_t hops = paths->front().hops.size();
    const std::size_t others = paths->size() - 1;
    events_.raise(EventCode::kPathFound,
                  absl::StrCat("the path to node ", destination, " has ", hops, hops == 1 ? " hop" : " hops",
                               others == 0 ? "" : absl::StrCat("; ", others, others == 1 ? " other" : " others")),
                  {{"to", destination}, {"hops", absl::StrCat(hops)}});
  } else {
    const std::string reason(paths.status().message());
    events_.raise(EventCode::kPathMissing, absl::StrCat("no path to node ", destination, " for a process: ", reason),
                  {{"to", destination}, {"reason", reason}});
  }
  answer(std::move(paths));
}

void PathWait::set_deadline() {
  deadline_.reset();
  if (waiting_.empty()) return;
  deadline_ = clock_.call_at(waiting_.front().deadline, [this] { answer_ready(); });
}

}  // namespace cableway
