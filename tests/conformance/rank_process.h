// A rank in a process of its own. The test's process loads no plugin: it directs, and so can fork whenever it likes.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANK_PROCESS_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANK_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "tests/conformance/line.h"
#include "tests/nccl_adapter/loopback_world.h"
#include "tests/nccl_adapter/rank.h"

namespace cableway::nccl::test {

class RankProcess {
 public:
  // Runs in the child, with the line to the test. What gtest is told there to expect counts for the test.
  using Act = std::function<void(Rank& rank, Line& test)>;

  RankProcess(const LoopbackWorld& world, const std::string& node, int version, const Act& act);
  // Kills it if it still runs.
  ~RankProcess();
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  void say(const std::string& words) { line_.say(words); }
  std::string hear() { return line_.hear(); }
  // A listen handle that the process has said.
  Handle hear_handle();

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
  RankProcess(std::pair<Line, Line> ends, const LoopbackWorld& world, const std::string& node, int version,
              const Act& act);

  Line line_;
  pid_t pid_ = 0;
};

std::string to_words(const Handle& handle);
Handle to_handle(const std::string& words);

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANK_PROCESS_H_
