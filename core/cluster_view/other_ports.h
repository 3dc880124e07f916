// What the ports of other nodes have carried, for a page that draws all cables: their views `ports`
// (docs/decisions/0031-views-of-all-nodes.md), requested only while the page has a reader.
#ifndef CABLEWAY_CORE_CLUSTER_VIEW_OTHER_PORTS_H_
#define CABLEWAY_CORE_CLUSTER_VIEW_OTHER_PORTS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/session/cluster_view_message.h"

namespace cableway {

// One thread: the clock's.
class OtherPorts {
 public:
  // From the end of a round to the next one.
  static constexpr std::chrono::seconds kPause{3};
  // Larger documents are left out, as are those that exceed kMaxRoundBytes together.
  static constexpr std::size_t kMaxDocumentBytes = 64U << 10;
  static constexpr std::size_t kMaxRoundBytes = 1U << 20;
  static constexpr std::size_t kMaxPorts = 128;  // of a node

  // As ClusterViews::request(). May answer at once or later; answers after the destruction of this are ignored.
  using Ask = std::function<void(const ClusterViewRequest&, std::function<void(const ClusterViewReply&)>)>;

  // `own`: the name of this node, which is left out. `clock` must outlive it.
  OtherPorts(Clock& clock, std::string own, Ask ask);

  // The result of the last round that was not refused; docs/metrics.md describes the members. Begins the next round if
  // it is due, so it has to be called regularly, about once a second.
  std::string json();

 private:
  void ask(const ClusterViewRequest& request);
  void have(const ClusterViewReply& reply);
  void take(const NodeAnswer& answer);

  Clock& clock_;
  const std::string own_;
  const Ask ask_;
  bool asks_ = false;  // a round is in progress
  std::optional<Instant> ended_;
  std::size_t bytes_ = 0;  // of this round
  nlohmann::ordered_json coming_ = nlohmann::ordered_json::array();
  std::string shown_;
  const std::shared_ptr<char> life_ = std::make_shared<char>();
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CLUSTER_VIEW_OTHER_PORTS_H_
