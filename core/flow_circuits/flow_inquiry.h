// For a flow's end without a circuit: asks the process at the other end whether it still has the flow. The set-up
// that asks is small, and may take paths that lose large packets (PathPlanner::paths_for_inquiry()). A path on which no
// answer comes does not delay the answer over another path.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_INQUIRY_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_INQUIRY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/hop_dial.h"
#include "core/clock.h"
#include "core/flow_circuits/flow_paths.h"

namespace cableway {

class FlowInquiry {
 public:
  enum class From : std::uint8_t { kSource, kDestination };  // the end that asks
  struct Listener {
    // The other end's process no longer has the flow. It has answered so twice; the status is the second reason.
    std::function<void(const absl::Status&)> forgotten;
    // Why the other end has no circuit for this one, or why it could not be asked.
    std::function<void(const absl::Status&)> failed;
  };

  // The pause between questions. One question goes over the next path without an open question, or over all such paths
  // if an earlier question is still open, so that a silent path does not delay the others.
  static constexpr std::chrono::milliseconds kInterval{300};
  // The most questions that wait for an answer: one for each offered path, and as many over paths offered before.
  static constexpr std::size_t kMostOpen = 2 * kPathsForFlow;
  // An answer that the other end no longer has the flow is confirmed by a second question over the same path, after
  // kConfirmAfter. A process may begin to listen on a new address a moment late; the kernel then refuses.
  static constexpr std::chrono::milliseconds kConfirmAfter{250};

  // `means` must outlive this.
  FlowInquiry(const FlowMeans& means, FlowIdentity identity, From from, Listener listener)
      : means_(means), identity_(std::move(identity)), from_(from), listener_(std::move(listener)) {}
  FlowInquiry(const FlowInquiry&) = delete;
  FlowInquiry& operator=(const FlowInquiry&) = delete;

  // The flow has lost its last circuit. The first question goes out after `delay` at the earliest.
  void outage_began(Duration delay);
  // To be called at short intervals while the flow has no circuit and its application waits. Asks when questions are
  // due. The listener is called at most once for each question, later or from inside the call.
  void tick();
  // Cancels open questions; the listener is not called.
  void stop();

 private:
  const std::string& other_node() const {
    return from_ == From::kSource ? identity_.destination_node : identity_.source_node;
  }
  const std::string& own_node() const {
    return from_ == From::kSource ? identity_.source_node : identity_.destination_node;
  }
  std::uint16_t other_port() const {
    return from_ == From::kSource ? identity_.destination_port : identity_.source_port;
  }
  Clock& clock() const { return means_.dial.clock; }
  struct Question {
    std::vector<Hop> hops;
    bool confirms = false;
    std::unique_ptr<HopDial> dial;
  };

  void find_paths();
  void ask_next(const PathOffers& offers);
  void ask(std::vector<Hop> hops, bool confirms);
  void answered(const Question& question, const absl::Status& answer);

  const FlowMeans& means_;
  const FlowIdentity identity_;
  const From from_;
  const Listener listener_;
  bool finding_ = false;
  std::size_t turn_ = 0;  // index of the path to ask over
  Instant next_;
  std::vector<Hop> to_confirm_;  // the path of an answer, until the second question goes out
  Instant confirm_at_;
  std::list<Question> open_;
  // Expires when a search for paths is cancelled, so that a later answer is dropped.
  std::shared_ptr<char> search_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_INQUIRY_H_
