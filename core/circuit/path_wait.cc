#include "core/circuit/path_wait.h"

#include <utility>

namespace cableway {

void PathWait::find(std::string destination, std::uint64_t ordinal, Answer answer) {
  if (Path path = find_(destination, ordinal); path.ok()) return answer(std::move(path));
  waiting_.push_back({std::move(destination), ordinal, std::move(answer), clock_.now() + kLimit});
  set_deadline();
}

void PathWait::answer_ready() {
  const Instant now = clock_.now();
  // Answered after the loop, since an answer may call find() again.
  std::vector<std::pair<Answer, Path>> ready;
  waiting_.remove_if([&](Waiting& waiting) {
    Path path = find_(waiting.destination, waiting.ordinal);
    if (!path.ok() && now < waiting.deadline) return false;
    ready.emplace_back(std::move(waiting.answer), std::move(path));
    return true;
  });
  set_deadline();
  for (auto& [answer, path] : ready) answer(std::move(path));
}

void PathWait::set_deadline() {
  deadline_.reset();
  if (waiting_.empty()) return;
  deadline_ = clock_.call_at(waiting_.front().deadline, [this] { answer_ready(); });
}

}  // namespace cableway
