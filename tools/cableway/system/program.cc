#include "tools/cableway/system/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/linux/os/child_process.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/os/unique_fd.h"
#include "routing/text/node_name.h"
#include "routing/text/shell_text.h"

namespace cableway::cli {
namespace {

using host::UniqueFd;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = 65536;
constexpr int kCannotStart = 127;
constexpr std::chrono::milliseconds kReapInterval{20};

// Both ends of a stream between this process and a child.
struct Ends {
  UniqueFd ours;
  UniqueFd theirs;
};

// Sockets, since writing to one that the child has closed can be kept from raising SIGPIPE.
Ends open_ends() {
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return {};
  ::fcntl(pair[0], F_SETFL, O_NONBLOCK);
  return {UniqueFd(pair[0]), UniqueFd(pair[1])};
}

void send_some(UniqueFd& to, std::string_view& left) {
  const ssize_t sent =
      host::uninterrupted([&] { return ::send(to.get(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT); });
  if (sent > 0) left.remove_prefix(static_cast<std::size_t>(sent));
  const bool failed = sent < 0 && errno != EAGAIN;
  if (failed || left.empty()) to.reset();
}

void receive_some(UniqueFd& from, std::string& text) {
  std::array<char, 4096> piece;
  const ssize_t got = host::uninterrupted([&] { return ::read(from.get(), piece.data(), piece.size()); });
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return from.reset();
  text.append(piece.data(), std::min(static_cast<std::size_t>(got), kMostOutput - std::min(kMostOutput, text.size())));
}

// Moves bytes until the child has ended; then what it has written is there. A grandchild may keep the streams open.
void follow(pid_t pid, std::string_view input, UniqueFd in, UniqueFd out, UniqueFd err, Steady::time_point deadline,
            ProgramEnd& end) {
  if (input.empty()) in.reset();
  for (bool ended = false;;) {
    std::array<pollfd, 3> watched{pollfd{in.get(), POLLOUT, 0}, {out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    const int ready = ::poll(watched.data(), watched.size(), ended ? 0 : static_cast<int>(kReapInterval.count()));
    if (ready > 0) {
      if (watched[0].revents != 0) send_some(in, input);
      if (watched[1].revents != 0) receive_some(out, end.out);
      if (watched[2].revents != 0) receive_some(err, end.err);
    }
    if (ended && (ready <= 0 || Steady::now() >= deadline)) return;
    if (!ended && Steady::now() >= deadline) {
      end.timed_out = true;
      ::kill(-pid, SIGKILL);
    }
    int status = 0;
    if (!ended && ::waitpid(pid, &status, end.timed_out ? 0 : WNOHANG) == pid) {
      ended = true;
      end.exit_status = host::shell_status(status);
      in.reset();
    }
  }
}

}  // namespace

ProgramEnd run_program(const ProgramCall& call) {
  const Steady::time_point deadline = Steady::now() + call.deadline;
  Ends in = open_ends();
  Ends out = open_ends();
  Ends err = open_ends();
  ProgramEnd end;
  host::StartedChild child{.pid = -1, .error = EMFILE};
  if (in.ours.valid() && out.ours.valid() && err.ours.valid()) {
    child = host::start_child({.words = call.words, .streams = {in.theirs.get(), out.theirs.get(), err.theirs.get()}});
  }
  for (Ends* each : {&in, &out, &err}) each->theirs.reset();
  if (child.error != 0)
    return {.exit_status = kCannotStart,
            .timed_out = false,
            .out = "",
            .err = absl::StrCat("cannot be started: ", std::strerror(child.error))};
  follow(child.pid, call.input, std::move(in.ours), std::move(out.ours), std::move(err.ours), deadline, end);
  return end;
}

std::string last_words(const ProgramEnd& end) {
  std::string last;
  for (const absl::string_view line : absl::StrSplit(end.err.empty() ? end.out : end.err, '\n')) {
    if (!line.empty()) last = std::string(line);
  }
  constexpr std::size_t kMost = 300;
  return routing::escaped(last.substr(0, kMost));
}

std::string failure_text(const ProgramCall& call, const ProgramEnd& end) {
  const std::string command = absl::StrJoin(call.words, " ", [](std::string* text, const std::string& word) {
    absl::StrAppend(text, routing::shell_quoted(word));
  });
  const std::string reason = last_words(end);
  const std::string what = end.timed_out ? absl::StrCat("did not end within ", call.deadline.count() / 1000, " s")
                                         : absl::StrCat("failed with exit status ", end.exit_status);
  return absl::StrCat(command, " ", what, reason.empty() ? "" : ": ", reason);
}

}  // namespace cableway::cli
