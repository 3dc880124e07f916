// Requests for paths, each answered once: immediately if there is a path, else as soon as the topology has one, else at
// the deadline with the error. A job may start while its nodes do, and a cable may be plugged in again. Raises
// PATH_REQUESTED, and PATH_FOUND or PATH_MISSING.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_NODE_PATH_WAIT_H_
#define CABLEWAY_CORE_NODE_PATH_WAIT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/path_offer.h"
#include "core/clock.h"
#include "core/event/event_sink.h"

namespace cableway {

class PathWait {
 public:
  using Paths = absl::StatusOr<std::vector<PathOffer>>;
  // PathPlanner::paths_for_flow().
  using Find = std::function<Paths(const std::string& destination, std::uint64_t ordinal, std::size_t most)>;
  using Answer = std::function<void(Paths)>;

  // Shorter, by some seconds, than a process waits for the answer.
  static constexpr std::chrono::milliseconds kLimit{8000};

  // Beyond this, the newest request of the user that has the most waiting requests is answered with ResourceExhausted.
  static constexpr std::size_t kMaxWaiting = 4096;

  // `clock` must outlive this; `events` must be valid whenever an event is raised.
  PathWait(Clock& clock, EventSink& events, Find find) : clock_(clock), events_(events), find_(std::move(find)) {}

  // For a process of that user. `answer` is called once, possibly from inside this call, unless this object is
  // destroyed first.
  void find(std::string destination, std::uint64_t ordinal, std::size_t most, std::uint32_t user, Answer answer);
  // Paths may have changed.
  void topology_changed() { answer_ready(); }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    std::string destination;
    std::uint64_t ordinal = 0;
    std::size_t most = 0;
    std::uint32_t user = 0;
    Answer answer;
    Instant deadline;
  };

  void give_way();
  void remove_one_of(std::uint32_t user);
  void answer_ready();
  void set_deadline();
  void answer(const std::string& destination, const Answer& answer, Paths paths);

  Clock& clock_;
  EventSink& events_;
  const Find find_;
  std::list<Waiting> waiting_;                    // in the order of their deadlines
  std::map<std::uint32_t, std::size_t> of_user_;  // those in waiting_; no zeroes
  std::unique_ptr<Timer> deadline_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_PATH_WAIT_H_
