// Answers other nodes' set-ups for this node's views. A view is made at most once in kFresh, or in kRest times what
// that takes, however many ask, and what one neighbour can have under way is bounded.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CLUSTER_VIEW_VIEW_ANSWERS_H_
#define CABLEWAY_CORE_CLUSTER_VIEW_VIEW_ANSWERS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "core/circuit/document_answers.h"
#include "core/circuit/hop_reception.h"
#include "core/clock.h"
#include "core/neighbour_shares.h"
#include "core/token_bucket.h"

namespace cableway {

class ViewAnswers {
 public:
  // Less than a reader of rates waits between two views.
  static constexpr std::chrono::milliseconds kFresh{250};
  // A view is not made again for so many times as long as that took: the four views take at most a tenth of the thread.
  static constexpr int kRest = 40;
  // Requests of one neighbour: a burst, and then 200 a second.
  static constexpr std::chrono::milliseconds kEvery{5};
  static constexpr int kBurst = 256;
  // Documents on their way to one neighbour, and to all (neighbour_shares.h).
  static constexpr std::size_t kMaxEach = 64;
  static constexpr std::size_t kMaxOfAll = 256;

  struct Host {
    std::string name;                                                            // the node's
    std::function<ShareHolder(const SetupConnection& connection)> neighbour_at;  // TransitSetups::Host
    std::function<std::set<ShareHolder>()> neighbours;
    // NotFound: there is no view of that name.
    std::function<absl::StatusOr<std::string>(const std::string& view)> make;
  };

  // The clock must outlive it.
  ViewAnswers(Clock& clock, Host host) : clock_(clock), host_(std::move(host)), sending_(clock) {}
  ViewAnswers(const ViewAnswers&) = delete;
  ViewAnswers& operator=(const ViewAnswers&) = delete;

  // Requires a set-up for a view whose hop is its last.
  void arrived(ArrivedSetup setup);
  // The document, as others get it. OutOfRange: it has more than kMaxDocumentBytes.
  absl::StatusOr<std::string> document(const std::string& view);
  std::size_t answered() const { return answered_; }

 private:
  struct Made {
    Instant until;  // it is given to all who ask
    absl::StatusOr<std::string> document;
  };

  absl::Status check(const ArrivedSetup& setup, const ShareHolder& from);
  bool may_ask(const ShareHolder& from);
  const absl::StatusOr<std::string>& fresh(const std::string& view);

  Clock& clock_;
  const Host host_;
  std::map<std::string, Made> made_;
  absl::StatusOr<std::string> unknown_;       // the latest
  std::map<ShareHolder, TokenBucket> rates_;  // of neighbours that are up, and a few that were
  HeldPlaces held_;
  DocumentAnswers sending_;
  std::size_t answered_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CLUSTER_VIEW_VIEW_ANSWERS_H_
