#include "core/linux/os/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

extern char** environ;

namespace cableway::host {
namespace {

class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void give(int descriptor, int as) { ::posix_spawn_file_actions_adddup2(&actions_, descriptor, as); }

  void give_nothing(int as) {
    ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", as == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  }

  void close_from(int descriptor) { ::posix_spawn_file_actions_addclosefrom_np(&actions_, descriptor); }

  int run(const std::vector<std::string>& words, bool own_session, pid_t& pid) {
    sigset_t none;
    ::sigemptyset(&none);
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_,
                               static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  (own_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP)));
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    return ::posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Descriptors below kReportFd + 1 are overwritten one by one in the child, so what the child gets is moved above them.
class HighCopies {
 public:
  HighCopies() = default;
  ~HighCopies() {
    for (const int each : copies_) {
      if (each >= 0) ::close(each);
    }
  }
  HighCopies(const HighCopies&) = delete;
  HighCopies& operator=(const HighCopies&) = delete;

  // Negative: there are no more descriptors.
  int copy_of(int descriptor) {
    int& copy = copies_[used_++];
    copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kReportFd + 1);
    return copy;
  }

 private:
  std::array<int, 4> copies_ = {-1, -1, -1, -1};
  std::size_t used_ = 0;
};

}  // namespace

StartedChild start_child(const ChildProgram& program) {
  SpawnPlan plan;
  HighCopies copies;
  const std::array<int, 4> given = {program.streams[0], program.streams[1], program.streams[2], program.report};
  for (int as = 0; as <= kReportFd; ++as) {
    const int descriptor = given[static_cast<std::size_t>(as)];
    if (descriptor == kNoStream) {
      if (as != kReportFd) plan.give_nothing(as);
      continue;
    }
    const int copy = copies.copy_of(descriptor);
    if (copy < 0) return {.pid = -1, .error = errno};
    plan.give(copy, as);
  }
  if (program.is_daemon) plan.close_from(program.report == kNoStream ? kReportFd : kReportFd + 1);
  StartedChild child;
  child.error = plan.run(program.words, program.is_daemon, child.pid);
  if (child.error == 0 && child.pid > 1) return child;
  return {.pid = -1, .error = child.error == 0 ? EAGAIN : child.error};
}

int shell_status(int wait_status) {
  constexpr int kSignalBase = 128;
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : kSignalBase + WTERMSIG(wait_status);
}

}  // namespace cableway::host
