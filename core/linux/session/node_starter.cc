#include "core/linux/session/node_starter.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/linux/os/child_process.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {
namespace {

// How long a process that forked the node, or was killed, may take to exit.
constexpr std::chrono::milliseconds kReapLimit{1000};

using Clock = std::chrono::steady_clock;

struct Answer {
  std::string output;
  bool ended = false;  // the daemon closed its end
  bool ready() const { return output.ends_with("ready\n"); }
};

// Reads until the daemon closes its end, "ready" arrives, or the time is up.
Answer read_answer(int ready, Clock::time_point end) {
  Answer answer;
  while (answer.output.size() < 4096 && !answer.ready() && !answer.ended) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) break;
    pollfd poll_for{ready, POLLIN, 0};
    if (::poll(&poll_for, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 512> part;
    const ssize_t got = uninterrupted([&] { return ::read(ready, part.data(), part.size()); });
    if (got <= 0) answer.ended = true;
    if (got > 0) answer.output.append(part.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

// The process started here forks the node and exits, so that the node never becomes a zombie of this process. Gives up
// after kReapLimit if it does not exit.
void reap(pid_t pid) {
  const auto end = Clock::now() + kReapLimit;
  while (uninterrupted([&] { return ::waitpid(pid, nullptr, WNOHANG); }) == 0 && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

absl::Status start_node(const std::string& daemon, std::chrono::milliseconds limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe to start the node");
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const auto end = Clock::now() + limit;
  // The daemon writes "ready" or its error there; see tools/cablewayd. It must not have the job's sockets or devices.
  const StartedChild child = start_child({.words = {daemon, "--session", absl::StrCat("--ready-fd=", kReportFd)},
                                          .streams = {kNoStream, kNoStream, kNoStream},
                                          .is_daemon = true,
                                          .report = writing.get()});
  if (child.error != 0) return absl::ErrnoToStatus(child.error, absl::StrCat("cannot start ", daemon));
  writing.reset();
  const Answer answer = read_answer(reading.get(), end);
  // Either it has failed with a message, or it hangs; in both cases its process group, which is its own, is killed.
  // Before reaping, after which the number may be reused.
  if (!answer.ready()) ::kill(-child.pid, SIGKILL);
  reap(child.pid);
  if (answer.ready()) return absl::OkStatus();
  if (!answer.output.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(daemon, ": ", absl::StripSuffix(answer.output, "\n")));
  }
  if (answer.ended) return absl::FailedPreconditionError(absl::StrCat(daemon, " ended without an error message"));
  return absl::DeadlineExceededError(
      absl::StrCat(daemon, " did not become ready within ", limit.count(), " ms and was stopped"));
}

}  // namespace cableway::host
