#include "tests/conformance/ranks/rank_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "tests/nccl_adapter/lockstep.h"

namespace cableway::nccl::test {
namespace {

bool run(const std::string& node, int version, Line& line, const RankProcess::Act& act) {
  try {
    Rank rank(version);
    act(rank, line);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "rank on node " << node << ": " << error.what();
  }
  if (!testing::Test::HasFailure()) return true;
  for (const std::string& warning : warnings()) std::printf("rank on node %s: %s\n", node.c_str(), warning.c_str());
  return false;
}

}  // namespace

std::string to_message(const Handle& handle) {
  return {reinterpret_cast<const char*>(handle.data()), handle.size()};
}

Handle to_handle(const std::string& message) {
  Handle handle{};
  if (message.size() != handle.size()) throw std::runtime_error("expected a handle, received \"" + message + "\"");
  std::memcpy(handle.data(), message.data(), message.size());
  return handle;
}

RankProcess::RankProcess(const World& world, const std::string& node, int version, const Act& act)
    : RankProcess(Line::make(), world, node, version, act) {}

RankProcess::RankProcess(std::pair<Line, Line> ends, const World& world, const std::string& node, int version,
                         const Act& act)
    : node_(node), line_(std::move(ends.first)) {
  if (!Lockstep::instance().is_here(node)) return;
  std::fflush(stdout);
  pid_ = ::fork();
  // A signal to -1 would go to every process, and one to 0 to this process group.
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Otherwise the child would hold both ends and never see that the test has ended.
  { const Line dropped = std::move(line_); }
  world.enter(node);
  const bool success = run(node, version, ends.second, act);
  std::fflush(stdout);
  ::_exit(success ? 0 : 1);
}

RankProcess::~RankProcess() {
  if (pid_ > 0) kill_here();
}

void RankProcess::send(const std::string& message) {
  // The test on every machine calls this.
  if (Lockstep::instance().is_here(node_)) line_.send(message);
}

std::string RankProcess::receive() {
  return Lockstep::instance().ask(node_, [this] { return line_.receive(); });
}

Handle RankProcess::receive_handle() {
  return to_handle(receive());
}

void RankProcess::kill() {
  Lockstep::instance().step(node_, [this] { kill_here(); });
}

void RankProcess::kill_here() {
  ASSERT_GT(pid_, 0) << "the rank's process has ended";
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void RankProcess::stop() const {
  Lockstep::instance().step(node_, [this] { stop_here(); });
}

void RankProcess::stop_here() const {
  ASSERT_GT(pid_, 0) << "the rank's process has ended";
  ::kill(pid_, SIGSTOP);
  ::waitpid(pid_, nullptr, WUNTRACED);
}

void RankProcess::await_stop(std::chrono::seconds limit) {
  Lockstep::instance().step(node_, [this, limit] { await_stop_here(limit); });
}

void RankProcess::await_stop_here(std::chrono::seconds limit) {
  ASSERT_GT(pid_, 0) << "the rank's process has ended";
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG | WUNTRACED) == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end)
        << "a rank's process did not stop within " << limit.count() << " s";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (WIFSTOPPED(status)) return;
  pid_ = 0;
  FAIL() << "a rank's process ended with wait status " << status << " before it stopped";
}

void RankProcess::resume() const {
  Lockstep::instance().step(node_, [this] { resume_here(); });
}

void RankProcess::resume_here() const {
  ASSERT_GT(pid_, 0) << "the rank's process has ended";
  ::kill(pid_, SIGCONT);
}

void RankProcess::finish(std::chrono::seconds limit) {
  Lockstep::instance().step(node_, [this, limit] { finish_here(limit); });
}

void RankProcess::finish_here(std::chrono::seconds limit) {
  ASSERT_GT(pid_, 0) << "the rank's process has ended";
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (ended == 0) {
    kill_here();
    FAIL() << "a rank's process did not end within " << limit.count() << " s";
  }
  pid_ = 0;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a rank's process ended with wait status " << status;
}

}  // namespace cableway::nccl::test
