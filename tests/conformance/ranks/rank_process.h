// A rank in a process of its own, on its node's machine (tests/nccl_adapter/lockstep.h). The test's process loads no
// plugin: it directs, and so can fork whenever it likes.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_RANK_PROCESS_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_RANK_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "tests/conformance/ranks/line.h"
#include "tests/nccl_adapter/rank.h"
#include "tests/nccl_adapter/world.h"

namespace cableway::nccl::test {

class RankProcess {
 public:
  // Runs in the child, with the line to the test. What gtest is told there to expect counts for the test.
  using Act = std::function<void(Rank& rank, Line& test)>;

  RankProcess(const World& world, const std::string& node, int version, const Act& act);
  // Kills it if it still runs.
  ~RankProcess();
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  void say(const std::string& words);
  std::string hear();
  // A listen handle that the process has said.
  Handle hear_handle();

  // On its node's machine; 0 on others.
  pid_t pid() const { return pid_; }
  void kill();
  // Stands still, and goes on.
  void stop() const;
  // Waits until it has stopped by itself (raise(SIGSTOP)): what it does before that is done then, and nothing after it.
  void await_stop(std::chrono::seconds limit = std::chrono::seconds(60));
  void resume() const;
  // Waits until the process has ended, and expects that all went well there.
  void finish(std::chrono::seconds limit = std::chrono::seconds(60));

 private:
  RankProcess(std::pair<Line, Line> ends, const World& world, const std::string& node, int version, const Act& act);

  void kill_here();
  void stop_here() const;
  void await_stop_here(std::chrono::seconds limit);
  void resume_here() const;
  void finish_here(std::chrono::seconds limit);

  const std::string node_;
  Line line_;
  pid_t pid_ = 0;
};

std::string to_words(const Handle& handle);
Handle to_handle(const std::string& words);

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_RANK_PROCESS_H_
