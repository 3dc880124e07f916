// Starts another program in a process of its own.
#ifndef CABLEWAY_CORE_LINUX_OS_CHILD_PROCESS_H_
#define CABLEWAY_CORE_LINUX_OS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

namespace cableway::host {

// An empty input, or an output that is discarded.
inline constexpr int kNoStream = -1;

struct ChildProgram {
  std::vector<std::string> words;  // the program, found by PATH unless it has a slash, and its arguments
  std::array<int, 3> streams = {kNoStream, kNoStream, kNoStream};  // its standard input, output and errors
  // It outlives this process: it has a session of its own, and of this process's descriptors only its streams and
  // `report`, whatever others are open here.
  bool is_daemon = false;
  int report = kNoStream;  // becomes its descriptor kReportFd
};

inline constexpr int kReportFd = 3;

struct StartedChild {
  pid_t pid = -1;  // above 1, and the number of its process group, unless it could not be started
  int error = 0;   // an errno; 0: it runs
};

// The child begins with no blocked signal and the default actions. The caller reaps it. Callable from any thread.
StartedChild start_child(const ChildProgram& program);

// As a shell has it: what waitpid() reported, with 128 + N for an end by signal N.
int shell_status(int wait_status);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_CHILD_PROCESS_H_
