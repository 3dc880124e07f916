#include "core/cluster_view/view_answers.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"

namespace cableway {

void ViewAnswers::arrived(ArrivedSetup setup) {
  const ShareHolder from = host_.neighbour_at(setup.connection());
  if (const absl::Status status = check(setup, from); !status.ok()) {
    const bool is_busy = absl::IsResourceExhausted(status);
    return std::move(setup).refuse(status, is_busy ? FailureScope::kBusy : FailureScope::kCircuit);
  }
  const absl::StatusOr<std::string>& document = fresh(setup.setup().view);
  // No other path leads to another answer.
  if (!document.ok()) return std::move(setup).refuse(document.status(), FailureScope::kFlow);
  ++answered_;
  const Instant deadline = clock_.now() + std::chrono::milliseconds(setup.setup().budget_ms);
  sending_.send(std::move(setup), *document, held_.take(from), deadline);
}

absl::Status ViewAnswers::check(const ArrivedSetup& setup, const ShareHolder& from) {
  if (setup.setup().this_hop().to_node != host_.name) {
    return absl::InvalidArgumentError(
        absl::StrCat("a request for a view of node ", setup.setup().this_hop().to_node, " came to node ", host_.name));
  }
  if (from == ShareHolder()) {
    return absl::PermissionDeniedError(
        absl::StrCat("node ", host_.name, " shows its views over cables that are up only, and this is none"));
  }
  if (!may_ask(from)) {
    return absl::ResourceExhaustedError(absl::StrCat("node ", host_.name, " answers ", 1000 / kEvery.count(),
                                                     " requests for views a second from ", share_holder_text(from),
                                                     ", and it has sent more"));
  }
  if (held_.of(from) < kMaxEach && may_take(from, kMaxOfAll, held_.all(), host_.neighbours(), {&held_})) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat("node ", host_.name, " already answers ", held_.of(from),
                                                   " requests for views from ", share_holder_text(from), ", ",
                                                   held_.all(), " in all"));
}

bool ViewAnswers::may_ask(const ShareHolder& from) {
  const auto known = rates_.find(from);
  if (known != rates_.end()) return known->second.take(clock_.now());
  const std::set<ShareHolder> neighbours = host_.neighbours();
  std::erase_if(rates_, [&](const auto& each) { return !neighbours.contains(each.first); });
  return rates_.emplace(from, TokenBucket(kEvery, kBurst)).first->second.take(clock_.now());
}

absl::StatusOr<std::string> ViewAnswers::document(const std::string& view) {
  return fresh(view);
}

const absl::StatusOr<std::string>& ViewAnswers::fresh(const std::string& view) {
  const Instant now = clock_.now();
  const auto known = made_.find(view);
  if (known != made_.end() && now < known->second.until) return known->second.document;
  absl::StatusOr<std::string> document = host_.make(view);
  // Peers invent names.
  if (absl::IsNotFound(document.status())) return unknown_ = std::move(document);
  if (document.ok() && document->size() > kMaxDocumentBytes) {
    document = absl::OutOfRangeError(absl::StrCat("the ", view, " of node ", host_.name, " has ", document->size(),
                                                  " bytes, and other nodes get at most ", kMaxDocumentBytes,
                                                  ": ask it there, with cableway ", view));
  }
  const Instant end = clock_.now();
  const Instant until = end + std::max<Duration>(kFresh, kRest * (end - now));
  Made& made = made_.insert_or_assign(view, Made{until, std::move(document)}).first->second;
  return made.document;
}

}  // namespace cableway
