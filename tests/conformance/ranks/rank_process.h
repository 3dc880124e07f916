// A rank in a separate process, on its node's machine (tests/nccl_adapter/lockstep.h). The test's process only controls
// it and loads no plugin, so it can fork at any time.
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
  // Runs in the child, with the line to the test. A failed expectation there fails the test.
  using Act = std::function<void(Rank& rank, Line& test)>;

  RankProcess(const World& world, const std::string& node, int version, const Act& act);
  // Kills it if it still runs.
  ~RankProcess();
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  void send(const std::string& message);
  std::string receive();
  // A listen handle that the process has sent.
  Handle receive_handle();

  // Valid on its node's machine; 0 on others.
  pid_t pid() const { return pid_; }
  void kill();
  // SIGSTOP; resume() continues it.
  void stop() const;
  // Waits until it has stopped itself (raise(SIGSTOP)).
  void await_stop(std::chrono::seconds limit = std::chrono::seconds(60));
  void resume() const;
  // Waits until the process has ended, and expects that it succeeded.
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

std::string to_message(const Handle& handle);
Handle to_handle(const std::string& message);

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_RANK_PROCESS_H_
