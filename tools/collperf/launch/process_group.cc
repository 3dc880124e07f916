#include "tools/collperf/launch/process_group.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/linux/os/child_process.h"
#include "tools/collperf/launch/starter_watch.h"

namespace cableway::collperf {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kLastLines = 5;
constexpr std::size_t kMaxLine = 4096;
constexpr milliseconds kPollInterval{100};
constexpr int kEndSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kStatusNoStart = 127;
constexpr int kStatusSsh = 255;

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : kEndSignals) sigaddset(&set, signal);
  return set;
}

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// A group's number is that of its first process, which is above 1: a signal to -1 would reach all processes of the
// host.
void signal_group(pid_t group, int signal) {
  if (group > 1) kill(-group, signal);
}

std::string status_text(const GroupMember& member, int status) {
  if (status > 128 && status < kStatusSsh) return absl::StrCat("was killed by signal ", status - 128);
  std::string text = absl::StrCat("failed with exit status ", status);
  if (member.is_remote && status == kStatusSsh) text += ", that of ssh when it cannot connect or is disconnected";
  if (member.is_remote && status == kStatusNoStart) text += ": the program is not on that host at the same path";
  return text;
}

}  // namespace

ProcessGroup::ProcessGroup(std::vector<GroupMember> members, GroupLimits limits) : limits_(limits) {
  for (GroupMember& member : members) processes_.emplace_back().member = std::move(member);
}

ProcessGroup::~ProcessGroup() {
  end_all(SIGKILL);
  for (Process& process : processes_) {
    close_fd(process.input);
    close_fd(process.errors);
  }
  close_fd(signals_);
}

bool ProcessGroup::start(Process& process, bool first) {
  int input[2] = {-1, -1};
  int errors[2] = {-1, -1};
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) {
    fail(absl::StrCat(process.member.name, " cannot be started: ", std::strerror(errno)));
    close_fd(input[0]);
    close_fd(input[1]);
    return false;
  }
  process.input = input[1];
  process.errors = errors[0];
  fcntl(process.errors, F_SETFL, O_NONBLOCK);
  const int output = first ? STDOUT_FILENO : errors[1];
  const host::StartedChild child =
      host::start_child({.words = process.member.command, .streams = {input[0], output, errors[1]}});
  close_fd(input[0]);
  close_fd(errors[1]);
  process.pid = child.pid;
  if (child.error == 0) return true;
  process.status = kStatusNoStart;
  fail(absl::StrCat(process.member.name, " cannot be started: ", process.member.command[0], ": ",
                    std::strerror(child.error)));
  return false;
}

int ProcessGroup::run() {
  const sigset_t watched = watched_signals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &watched, &before);
  signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  begun_ = Steady::now();
  bool first = true;
  for (Process& process : processes_) {
    if (!start(process, std::exchange(first, false))) {
      end_by_ = Steady::now();
      break;
    }
  }
  while (any_running()) {
    poll_once();
    take_signals();
    for (Process& process : processes_) read_errors(process);
    reap();
    check_deadlines();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return exit_status();
}

void ProcessGroup::poll_once() {
  std::vector<pollfd> fds = {{signals_, POLLIN, 0}};
  for (const Process& process : processes_) {
    if (process.errors >= 0) fds.push_back({process.errors, POLLIN, 0});
  }
  poll(fds.data(), fds.size(), static_cast<int>(kPollInterval.count()));
}

void ProcessGroup::take_signals() {
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    if (received_signal_ == 0) std::fprintf(stderr, "collperf: stopped by signal %d\n", signal);
    received_signal_ = signal;
    end_all(signal);
    if (!kill_by_) kill_by_ = Steady::now() + limits_.after_signal;
  }
}

void ProcessGroup::read_errors(Process& process) {
  char buffer[4096];
  while (process.errors >= 0) {
    const ssize_t bytes = read(process.errors, buffer, sizeof(buffer));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes <= 0) {
      close_fd(process.errors);
      if (!process.line.empty()) take_line(process, std::exchange(process.line, {}));
      return;
    }
    for (const char c : std::string_view(buffer, static_cast<std::size_t>(bytes))) {
      if (c != '\n') process.line.push_back(c);
      if (c == '\n' || process.line.size() == kMaxLine) take_line(process, std::exchange(process.line, {}));
    }
  }
}

void ProcessGroup::take_line(Process& process, std::string text) {
  if (text == kStartedLine) {
    process.started = true;
    return;
  }
  std::fprintf(stderr, "%s%s\n", process.member.prefix.c_str(), text.c_str());
  process.last_lines.push_back(std::move(text));
  if (process.last_lines.size() > kLastLines) process.last_lines.pop_front();
}

void ProcessGroup::reap() {
  for (Process& process : processes_) {
    if (process.pid <= 1 || process.status.has_value()) continue;
    siginfo_t info{};
    // Not reaped yet: its number is still its group's, whose other processes end here.
    if (waitid(P_PID, static_cast<id_t>(process.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
      continue;
    signal_group(process.pid, SIGTERM);
    int status = 0;
    waitpid(process.pid, &status, 0);
    process.status = host::shell_status(status);
    read_errors(process);
    close_fd(process.input);
    note_end(process);
  }
}

void ProcessGroup::note_end(Process& process) {
  const int status = *process.status;
  const bool has_run = process.started && (status == 0 || status == 1);  // a shell's own failure may be 1
  if (has_run || failed_ || received_signal_ != 0) return;
  std::string reason = absl::StrCat(process.member.name, " ", status_text(process.member, status));
  if (!process.last_lines.empty()) absl::StrAppend(&reason, "; its last lines:");
  for (const std::string& line : process.last_lines) absl::StrAppend(&reason, "\n  ", line);
  fail(reason);
  // Without this process the others could only wait for it.
  end_by_ = Steady::now() + (process.started ? limits_.after_failure : milliseconds(0));
}

void ProcessGroup::check_deadlines() {
  const Steady::time_point now = Steady::now();
  for (const Process& process : processes_) {
    if (failed_ || received_signal_ != 0 || process.started || process.status || now < begun_ + limits_.start) continue;
    fail(absl::StrCat(process.member.name, " has not started collperf in ",
                      std::chrono::duration<double>(limits_.start).count(), " s"));
    end_by_ = now;
  }
  if (end_by_ && now >= *end_by_) {
    end_all(SIGTERM);
    end_by_.reset();
    if (!kill_by_) kill_by_ = now + limits_.after_signal;
  }
  if (kill_by_ && now >= *kill_by_) end_all(SIGKILL);
}

void ProcessGroup::end_all(int signal) {
  for (Process& process : processes_) {
    if (process.pid <= 1 || process.status.has_value()) continue;
    signal_group(process.pid, signal);
    // The signal ends ssh only; the end of the input ends the ranks.
    if (process.member.is_remote) close_fd(process.input);
  }
}

void ProcessGroup::fail(const std::string& reason) {
  failed_ = true;
  std::fprintf(stderr, "collperf: %s\n", reason.c_str());
}

bool ProcessGroup::any_running() const {
  return std::ranges::any_of(processes_, [](const Process& process) { return process.pid > 1 && !process.status; });
}

int ProcessGroup::exit_status() const {
  if (received_signal_ != 0) return 128 + received_signal_;
  if (failed_) {
    // Options that every rank refuses are no failure of a rank.
    const bool refused = std::ranges::all_of(processes_, [](const Process& process) { return process.status == 2; });
    return refused ? 2 : 3;
  }
  int worst = 0;
  for (const Process& process : processes_) worst = std::max(worst, process.status.value_or(3));
  return worst;
}

}  // namespace cableway::collperf
