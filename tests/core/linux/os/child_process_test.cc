#include "core/linux/os/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "core/linux/os/uninterrupted.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {
namespace {

constexpr int kNotStarted = 127;  // of a child that posix_spawn() has started and that could not become the program

struct Pipe {
  UniqueFd reading;
  UniqueFd writing;
};

Pipe open_pipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::string all_of_pipe(Pipe pipe) {
  pipe.writing.reset();
  std::string text;
  std::array<char, 256> piece;
  for (;;) {
    const ssize_t got = uninterrupted([&] { return ::read(pipe.reading.get(), piece.data(), piece.size()); });
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

// What the shell words write to standard output.
std::string printed(const std::string& script, bool is_daemon = false) {
  Pipe out = open_pipe();
  const StartedChild child = start_child(
      {.words = {"sh", "-c", script}, .streams = {kNoStream, out.writing.get(), kNoStream}, .is_daemon = is_daemon});
  EXPECT_EQ(child.error, 0);
  std::string text = all_of_pipe(std::move(out));
  EXPECT_EQ(::waitpid(child.pid, nullptr, 0), child.pid);
  return text;
}

int status_of(const std::string& script) {
  const StartedChild child = start_child({.words = {"sh", "-c", script}});
  EXPECT_EQ(child.error, 0);
  int status = 0;
  EXPECT_EQ(::waitpid(child.pid, &status, 0), child.pid);
  return shell_status(status);
}

TEST(ChildProcess, ReportsItsEndAsAShellDoes) {
  EXPECT_EQ(status_of("exit 7"), 7);
  EXPECT_EQ(status_of("kill -TERM $$"), 128 + SIGTERM);
}

TEST(ChildProcess, AStreamThatIsNotGivenIsEmpty) {
  EXPECT_EQ(printed("cat; echo gone >&2; echo $?"), "0\n");
}

TEST(ChildProcess, BeginsWithoutBlockedSignalsAndWithDefaultActions) {
  sigset_t set;
  sigset_t before;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  auto* const earlier = ::signal(SIGTERM, SIG_IGN);
  EXPECT_EQ(status_of("kill -TERM $$; sleep 1; exit 5"), 128 + SIGTERM);
  ::signal(SIGTERM, earlier);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ChildProcess, HasAGroupOfItsOwnAndADaemonASession) {
  // Fields of stat: pid, name, state, parent, group, session.
  const char* const kIds =
      "read pid name state parent group session rest < /proc/$$/stat; echo "
      "$((group == $$)) $((session == $$))";
  EXPECT_EQ(printed(kIds), "1 0\n");
  EXPECT_EQ(printed(kIds, true), "1 1\n");
}

TEST(ChildProcess, ADaemonHasNoOtherDescriptors) {
  const UniqueFd leaked(::open("/dev/null", O_RDONLY));  // without close-on-exec
  const std::string looks_at = "[ -e /proc/$$/fd/" + std::to_string(leaked.get()) + " ] && echo open || echo closed";
  EXPECT_EQ(printed(looks_at), "open\n");
  EXPECT_EQ(printed(looks_at, true), "closed\n");
}

TEST(ChildProcess, GivesTheReportsDescriptorWhateverItsNumberHere) {
  const UniqueFd lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));  // so that kReportFd is taken
  const UniqueFd kept(::fcntl(kReportFd, F_DUPFD_CLOEXEC, kReportFd + 1));
  ASSERT_TRUE(kept.valid());
  for (const bool has_the_number : {false, true}) {
    Pipe report = open_pipe();
    if (has_the_number) {
      ASSERT_EQ(::dup3(report.writing.get(), kReportFd, O_CLOEXEC), kReportFd);
    }
    const StartedChild child = start_child({.words = {"sh", "-c", "echo here >&3"},
                                            .is_daemon = true,
                                            .report = has_the_number ? kReportFd : report.writing.get()});
    ASSERT_EQ(child.error, 0);
    ::dup3(kept.get(), kReportFd, O_CLOEXEC);
    EXPECT_EQ(all_of_pipe(std::move(report)), "here\n");
    ::waitpid(child.pid, nullptr, 0);
  }
}

TEST(ChildProcess, NamesTheErrorOfAProgramThatIsNotThere) {
  const StartedChild child = start_child({.words = {"/no/such/program"}});
  if (child.error == 0) {
    // posix_spawn() may also leave it to the child: QEMU's user emulator gives the child a memory of its own.
    int status = 0;
    EXPECT_EQ(::waitpid(child.pid, &status, 0), child.pid);
    EXPECT_EQ(shell_status(status), kNotStarted);
    return;
  }
  EXPECT_EQ(child.error, ENOENT);
  EXPECT_EQ(child.pid, -1);
}

}  // namespace
}  // namespace cableway::host
