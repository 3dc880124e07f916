#include "core/circuit/path_wait.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {

void PathWait::find(std::string destination, std::uint64_t ordinal, Answer answer) {
  events_.raise(EventCode::kPathRequested,
                absl::StrCat("a process requests the path of flow ", ordinal, " to node ", destination),
                {{"to", destination}});
  Path path = find_(destination, ordinal);
  if (path.ok()) return this->answer(destination, answer, std::move(path));
  if (waiting_.size() == kMaxWaiting) {
    return this->answer(destination, answer,
                        absl::ResourceExhaustedError(absl::StrCat(
                            kMaxWaiting, " requests for paths already wait here; last: ", path.status().message())));
  }
  waiting_.push_back({std::move(destination), ordinal, std::move(answer), clock_.now() + kLimit});
  set_deadline();
}

void PathWait::answer_ready() {
  const Instant now = clock_.now();
  // Answered after the loop, since an answer may call find() again.
  std::vector<std::pair<Waiting, Path>> ready;
  waiting_.remove_if([&](Waiting& waiting) {
    Path path = find_(waiting.destination, waiting.ordinal);
    if (!path.ok() && now < waiting.deadline) return false;
    ready.emplace_back(std::move(waiting), std::move(path));
    return true;
  });
  set_deadline();
  for (auto& [waiting, path] : ready) answer(waiting.destination, waiting.answer, std::move(path));
}

void PathWait::answer(const std::string& destination, const Answer& answer, Path path) {
  if (path.ok()) {
    events_.raise(
        EventCode::kPathFound,
        absl::StrCat("the path to node ", destination, " has ", path->size(), path->size() == 1 ? " hop" : " hops"),
        {{"to", destination}, {"hops", absl::StrCat(path->size())}});
  } else {
    const std::string reason(path.status().message());
    events_.raise(EventCode::kPathMissing, absl::StrCat("no path to node ", destination, " for a process: ", reason),
                  {{"to", destination}, {"reason", reason}});
  }
  answer(std::move(path));
}

void PathWait::set_deadline() {
  deadline_.reset();
  if (waiting_.empty()) return;
  deadline_ = clock_.call_at(waiting_.front().deadline, [this] { answer_ready(); });
}

}  // namespace cableway
