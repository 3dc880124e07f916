// Asks one node for a view: dials a set-up for it along a path, and along another one if the first has failed.
//
//   path -> dial -> document
//             |-> refused there, or it is of an earlier version -> the reason
//             |-> no room on the way -> the same path again, a moment later
//             '-> failed on the way -> another path, once
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CLUSTER_VIEW_NODE_VIEW_REQUEST_H_
#define CABLEWAY_CORE_CLUSTER_VIEW_NODE_VIEW_REQUEST_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/circuit/hop_dial.h"
#include "core/crypto/sub_key.h"
#include "core/session/cluster_view_message.h"

namespace cableway {

// The paths to a node that a view may use, the best one first.
struct ViewPaths {
  std::vector<std::vector<Hop>> paths;  // each ends at the TCP port of the node's relay
  // Other than OK: no path carries circuits now, for this reason. Those in `paths` did, or are not trusted.
  absl::Status last_resort;
};

// Destroying it cancels the request; `done` is not called.
class NodeViewRequest {
 public:
  // For the first path; the other one gets what is left.
  static constexpr std::chrono::milliseconds kTry{800};
  static constexpr std::chrono::milliseconds kInAll{2000};
  static constexpr std::chrono::milliseconds kAgainAfter{100};  // where there was no room

  struct Means {
    HopDial::Means dial;
    std::string name;  // this node's
    std::function<std::optional<SubKey>()> key;
    // At least one path and at most `most`, or why there is none.
    std::function<absl::StatusOr<ViewPaths>(const std::string& node, std::size_t most)> paths;
  };
  // Called once, never from inside start(). May destroy the request.
  using Done = std::function<void(NodeAnswer)>;

  // `means` must outlive it.
  NodeViewRequest(const Means& means, std::string node, std::string view, Done done);
  NodeViewRequest(const NodeViewRequest&) = delete;
  NodeViewRequest& operator=(const NodeViewRequest&) = delete;

  void start();

 private:
  void try_first();
  void try_other();
  void dial();
  void dialed(absl::StatusOr<OpenHop> answer);
  void fail();
  void finish(NodeAnswer answer);

  const Means& means_;
  const std::string node_;
  const std::string view_;
  Done done_;
  Instant deadline_;
  std::vector<Hop> path_;
  absl::Status last_resort_;
  absl::Status failure_;  // of the first path, or the node's own
  bool is_other_ = false;
  std::unique_ptr<Timer> limit_;
  std::unique_ptr<Timer> next_;
  std::unique_ptr<HopDial> dial_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CLUSTER_VIEW_NODE_VIEW_REQUEST_H_
