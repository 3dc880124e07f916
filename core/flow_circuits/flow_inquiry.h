// Asks the process at a flow's other end whether it still has the flow, for an end without a circuit. The set-up that
// asks is small, and takes paths that may lose large packets (PathPlanner::paths_for_inquiry()).
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_INQUIRY_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_INQUIRY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/hop_dial.h"
#include "core/flow_circuits/flow_paths.h"

namespace cableway {

class FlowInquiry {
 public:
  enum class From : std::uint8_t { kSource, kDestination };  // the end that asks
  struct Listener {
    // The reason why the other end has no circuit for this one: always an error. ends_flow() tells whether its process
    // no longer has the flow; ask again for confirmation (Outage::kConfirmAfter).
    std::function<void(const absl::Status&)> answered;
    // This node knows no path to the other end.
    std::function<void(const absl::Status&)> no_path;
  };

  // After an answer that leaves the flow open.
  static constexpr std::chrono::milliseconds kInterval{300};

  // `means` must outlive this.
  FlowInquiry(const FlowMeans& means, FlowIdentity identity, From from, Listener listener)
      : means_(means), identity_(std::move(identity)), from_(from), listener_(std::move(listener)) {}
  FlowInquiry(const FlowInquiry&) = delete;
  FlowInquiry& operator=(const FlowInquiry&) = delete;

  // Asks, and calls the listener once, later or from inside the call. While an earlier question is open, and where the
  // other end answers none, it does nothing.
  void ask();
  // Takes an open question back: the listener is not called.
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
  void dial(const std::vector<Hop>& hops);

  const FlowMeans& means_;
  const FlowIdentity identity_;
  const From from_;
  const Listener listener_;
  bool finding_ = false;
  std::size_t asked_ = 0;
  std::unique_ptr<HopDial> dial_;
  // Expires with a question that is taken back: answers that come later are dropped.
  std::shared_ptr<char> question_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_INQUIRY_H_
