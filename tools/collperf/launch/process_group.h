// ProcessGroup: the processes that stand for the ranks of one run, on this host or, through ssh, on others.
//
// Each process runs in a group of its own with a pipe as standard input, so that what it starts ends with it, and it
// with this process. The first process's standard output is this one's; all standard errors are shown line by line.
// Signals that end this process are passed on. Used by one thread.
#ifndef CABLEWAY_TOOLS_COLLPERF_LAUNCH_PROCESS_GROUP_H_
#define CABLEWAY_TOOLS_COLLPERF_LAUNCH_PROCESS_GROUP_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace cableway::collperf {

struct GroupMember {
  std::string name;                  // for messages: "host gpu1", "rank 3"
  std::string prefix;                // of its lines of standard error: "gpu1: ", or nothing
  std::vector<std::string> command;  // found through PATH
  bool is_remote = false;            // over ssh
};

struct GroupLimits {
  std::chrono::milliseconds start{60000};          // from the start of a process to its kStartedLine
  std::chrono::milliseconds after_failure{15000};  // for the others to end by themselves
  std::chrono::milliseconds after_signal{5000};    // from asking a process to end to killing it
};

class ProcessGroup {
 public:
  ProcessGroup(std::vector<GroupMember> members, GroupLimits limits);
  ~ProcessGroup();

  // Starts all processes and returns when all have ended: 0 if all succeeded, 1 if bytes were wrong, 2 if options were
  // refused, 3 after a failure, 128 + n after signal n. Names the process that failed first.
  int run();

 private:
  using Time = std::chrono::steady_clock::time_point;

  struct Process {
    GroupMember member;
    pid_t pid = -1;
    int input = -1;   // the write end of its standard input
    int errors = -1;  // the read end of its standard error
    bool started = false;
    std::optional<int> status;  // as a shell has it
    std::string line;           // the beginning of a line
    std::deque<std::string> last_lines;
  };

  bool start(Process& process, bool first);
  void poll_once();
  void take_signals();
  void read_errors(Process& process);
  void take_line(Process& process, std::string text);
  void reap();
  void note_end(Process& process);
  void check_deadlines();
  void end_all(int signal);
  void fail(const std::string& reason);
  bool any_running() const;
  int exit_status() const;

  const GroupLimits limits_;
  std::vector<Process> processes_;
  int signals_ = -1;  // a signalfd
  Time begun_{};
  std::optional<Time> end_by_;   // when the processes left are asked to end
  std::optional<Time> kill_by_;  // when the processes left are killed
  int received_signal_ = 0;
  bool failed_ = false;  // reported
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_LAUNCH_PROCESS_GROUP_H_
