// Views of all nodes, for processes of this one: asks each node of the topology (node_view_request.h), some at a time,
// and hands the answers on as they come. A node that does not answer delays none of the others.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CLUSTER_VIEW_CLUSTER_VIEWS_H_
#define CABLEWAY_CORE_CLUSTER_VIEW_CLUSTER_VIEWS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "core/cluster_view/node_view_request.h"
#include "core/session/cluster_view_message.h"
#include "core/session/session_peer.h"

namespace cableway {

class ClusterViews {
 public:
  // Nodes that all rounds together ask at a time: those that answer at once, and with those that have not answered for
  // kSlow. So silent nodes keep none of the others waiting.
  static constexpr std::size_t kAtOnce = 64;
  static constexpr std::size_t kMostAtOnce = 256;
  static constexpr std::chrono::milliseconds kSlow{200};
  // For all nodes together: the process waits a second more for the last part.
  static constexpr std::chrono::milliseconds kRound{4000};
  static constexpr std::size_t kMaxRounds = 16;     // at a time
  static constexpr std::size_t kMaxRoundsEach = 4;  // of one user
  // Bytes of answers that a process has not taken yet, and all together. What is under way has room besides.
  static constexpr std::size_t kMaxReady = 4U << 20;
  static constexpr std::size_t kMaxReadyOfAll = 16U << 20;
  // For the process to ask for the next part. Then the round is dropped.
  static constexpr std::chrono::seconds kAskAgain{5};

  struct Means {
    NodeViewRequest::Means others;
    std::function<std::vector<std::string>()> nodes;  // all of the topology; this one, too
    // This node's view, as others get it. NotFound: there is none of that name.
    std::function<absl::StatusOr<std::string>(const std::string& view)> own;
  };
  using Answer = std::function<void(ClusterViewReply)>;

  explicit ClusterViews(Means means) : means_(std::move(means)) {}
  // Requests under way are not answered.
  ~ClusterViews() = default;
  ClusterViews(const ClusterViews&) = delete;
  ClusterViews& operator=(const ClusterViews&) = delete;

  // `answer` is called once, at once or later, unless the session ends before.
  void request(const SessionPeer& peer, const ClusterViewRequest& request, Answer answer);
  // The session has ended, and its rounds with it: the nodes that they still wait for keep no places. May be called by
  // an answer.
  void ended(const SessionPeer& peer);
  std::size_t rounds() const { return rounds_.size(); }
  // Of answers that processes have not taken yet.
  std::size_t ready_bytes() const;

 private:
  struct Asked {
    Instant since;
    std::string node;
    std::unique_ptr<NodeViewRequest> request;
  };
  struct Round {
    std::uint64_t number = 0;
    SessionPeer peer;
    std::string view;
    std::uint32_t nodes = 0;
    std::deque<std::string> waiting;
    std::list<Asked> asked;  // the latest last
    std::deque<NodeAnswer> ready;
    std::size_t ready_bytes = 0;
    Answer answer;                 // null: the process has not asked for the next part yet
    std::unique_ptr<Timer> limit;  // of the round
    std::unique_ptr<Timer> soon;
    std::unique_ptr<Timer> expiry;
  };

  Clock& clock() const { return means_.others.dial.clock; }
  void begin(const SessionPeer& peer, const std::string& view, Answer answer);
  // Whether another node may be asked. No: at which time, unless it depends on answers or processes.
  struct Room {
    bool is_free = false;
    std::optional<Instant> again;
  };
  Room room() const;
  void ask_more();
  void ask_next(Round& round);
  void have(Round& round, std::list<Asked>::iterator place, NodeAnswer answer);
  void end(Round& round);
  void drop(std::uint64_t round);
  void answer_soon(Round& round);
  void answer_now(Round& round);

  const Means means_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Round> rounds_;
  std::unique_ptr<Timer> more_;  // when one of those asked becomes slow
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CLUSTER_VIEW_CLUSTER_VIEWS_H_
