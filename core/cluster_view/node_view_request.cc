#include "core/cluster_view/node_view_request.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/circuit/handshake.h"
#include "core/flow/chunk_link.h"

namespace cableway {
namespace {

constexpr std::size_t kMostPaths = 4;  // of which another one than the first is chosen

NoView kind_of(const absl::Status& failure) {
  if (refused_for_room(failure)) return NoView::kBusy;
  switch (cause_of(failure)) {
    case RefusalCause::kOldRelay:
    case RefusalCause::kOldEnd:
      return NoView::kOtherVersion;
    case RefusalCause::kSilence:
      return NoView::kTimedOut;
    case RefusalCause::kUnknownPurpose:
    case RefusalCause::kOther:
      break;
  }
  return NoView::kRefused;
}

}  // namespace

NodeViewRequest::NodeViewRequest(const Means& means, std::string node, std::string view, Done done)
    : means_(means),
      node_(std::move(node)),
      view_(std::move(view)),
      done_(std::move(done)),
      deadline_(means.dial.clock.now() + kInAll) {}

void NodeViewRequest::start() {
  limit_ = means_.dial.clock.call_at(deadline_, [this] { fail(); });
  next_ = means_.dial.clock.call_after(Duration{0}, [this] { try_first(); });
}

void NodeViewRequest::try_first() {
  absl::StatusOr<ViewPaths> found = means_.paths(node_, 1);
  if (!found.ok() || found->paths.empty()) {
    return finish({node_, NoView::kNoPath, std::string(found.status().message()), ""});
  }
  path_ = std::move(found->paths.front());
  last_resort_ = found->last_resort;
  dial();
}

void NodeViewRequest::try_other() {
  if (is_other_) return fail();
  absl::StatusOr<ViewPaths> found = means_.paths(node_, kMostPaths);
  if (!found.ok()) return fail();
  is_other_ = true;
  // One that begins otherwise is less likely to fail, too.
  const auto begins_as_before = [&](const std::vector<Hop>& path) { return path.front() == path_.front(); };
  std::erase(found->paths, path_);
  std::stable_partition(found->paths.begin(), found->paths.end(), std::not_fn(begins_as_before));
  if (found->paths.empty()) return fail();
  path_ = std::move(found->paths.front());
  dial();
}

void NodeViewRequest::dial() {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - means_.dial.clock.now());
  if (left.count() < 1) return fail();
  CircuitSetup setup;
  setup.purpose = SetupPurpose::kView;
  setup.view = view_;
  setup.chunk_bytes = kLineBytes;
  setup.budget_ms = static_cast<std::uint32_t>((is_other_ ? left : std::min(left, kTry)).count());
  setup.from_node = means_.name;
  setup.hops = path_;
  dial_ = std::make_unique<HopDial>(means_.dial, std::move(setup), means_.key(),
                                    [this](absl::StatusOr<OpenHop> answer) { dialed(std::move(answer)); });
  dial_->start();
}

void NodeViewRequest::dialed(absl::StatusOr<OpenHop> answer) {
  if (answer.ok()) return finish({node_, NoView::kNone, "", std::move(answer->document)});
  if (refused_for_room(answer.status())) {
    if (failure_.ok()) failure_ = answer.status();
    next_ = means_.dial.clock.call_after(kAgainAfter, [this] { dial(); });
    return;
  }
  // That of the first path tells more, unless it only had no room, or the node itself has refused on the other one.
  const bool is_of_node = ends_flow(answer.status()) || cause_of(answer.status()) == RefusalCause::kOldEnd;
  if (failure_.ok() || refused_for_room(failure_) || is_of_node) failure_ = answer.status();
  is_of_node ? fail() : try_other();
}

void NodeViewRequest::fail() {
  if (failure_.ok()) {
    failure_ = with_cause(absl::DeadlineExceededError("no answer to the request within 2 s"), RefusalCause::kSilence);
  }
  // Without a path it says little what became of one that is not to be used, unless it is that node's own cable.
  const bool is_known = last_resort_.ok() || path_.size() == 1;
  if (!is_known) return finish({node_, NoView::kNoPath, std::string(last_resort_.message()), ""});
  finish({node_, kind_of(failure_), std::string(failure_.message()), ""});
}

void NodeViewRequest::finish(NodeAnswer answer) {
  limit_.reset();
  next_.reset();
  dial_.reset();
  // Nodes may refuse without a word, and a row has a reason.
  if (answer.why != NoView::kNone && answer.error.empty()) {
    answer.error =
        answer.why == NoView::kNoPath ? absl::StrCat("no path leads to node ", node_) : "refused without a reason";
  }
  std::exchange(done_, nullptr)(std::move(answer));
}

}  // namespace cableway
