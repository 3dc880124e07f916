#include "tools/collperf/launch/starter_watch.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <thread>

namespace cableway::collperf {
namespace {

constexpr int kExitAbandoned = 3;  // as of a failure

void await_end_of_input() {
  char ignored[256];
  for (;;) {
    const ssize_t bytes = read(STDIN_FILENO, ignored, sizeof(ignored));
    if (bytes > 0 || (bytes < 0 && errno == EINTR)) continue;
    break;
  }
  // This process's children end in the same way: their standard input ends with it.
  constexpr char kReason[] = "collperf: the process that started this one has ended\n";
  (void)!write(STDERR_FILENO, kReason, sizeof(kReason) - 1);
  _exit(kExitAbandoned);
}

}  // namespace

void follow_starter() {
  // A lost connection to the starter must not end the process before it has closed what it opened.
  signal(SIGPIPE, SIG_IGN);
  std::fprintf(stderr, "%s\n", kStartedLine);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // Signals are the main thread's.
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread(await_end_of_input).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace cableway::collperf
