#include "tools/simtest/campaign.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/simtest/seed_runner.h"

namespace cableway::simtest {
namespace {

using Clock = std::chrono::steady_clock;

class Campaign {
 public:
  Campaign(const Options& options, const std::function<void(const SimtestReport&)>& report)
      : options_(options), report_(report), last_(options.seeds->last) {}

  Summary run() {
    const std::uint64_t seeds = last_ - options_.seeds->first + 1;
    workers_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(options_.jobs, seeds)));
    // Not more workers than seeds, so that every worker has a seed.
    for (std::size_t i = 0; i < workers_.size(); ++i) start(workers_[i], options_.seeds->first + i);
    while (working() && summary_.failures.size() < options_.stop_after) {
      wait();
      show_progress(seeds);
    }
    for (Worker& worker : workers_) stop(worker);
    summary_.wall_s = seconds();
    return std::move(summary_);
  }

 private:
  struct Worker {
    pid_t process = -1;
    int pipe = -1;
    std::uint64_t seed = 0;  // the seed it runs now
    std::string unread;
  };

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  bool working() const {
    for (const Worker& worker : workers_) {
      if (worker.process > 0) return true;
    }
    return false;
  }

  // Starts a process that runs this seed, and every jobs-th after it.
  void start(Worker& worker, std::uint64_t seed) {
    worker = Worker{};
    if (seed > last_) return;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fail_to_start();
    worker.process = fork();
    if (worker.process < 0) return fail_to_start();
    if (worker.process == 0) {
      close(ends[0]);
      work(seed, ends[1]);
    }
    close(ends[1]);
    worker.pipe = ends[0];
    worker.seed = seed;
  }

  void fail_to_start() {
    summary_.failures.push_back(
        Failure{"simtest", 0, 0, absl::StrCat("cannot start a process: ", std::strerror(errno)), ""});
  }

  [[noreturn]] void work(std::uint64_t seed, int out) {
    for (;; seed += workers_.size()) {
      alarm(options_.seconds_per_seed);
      const std::string line = to_line(run_seed(seed, options_)) + "\n";
      for (std::size_t at = 0; at < line.size();) {
        const ssize_t written = write(out, line.data() + at, line.size() - at);
        if (written <= 0) _exit(3);
        at += static_cast<std::size_t>(written);
      }
      if (last_ - seed < workers_.size()) _exit(0);
    }
  }

  void wait() {
    std::vector<pollfd> watched;
    std::vector<Worker*> of;
    for (Worker& worker : workers_) {
      if (worker.process <= 0) continue;
      watched.push_back({worker.pipe, POLLIN, 0});
      of.push_back(&worker);
    }
    if (poll(watched.data(), watched.size(), 500) <= 0) return;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents != 0) read_from(*of[i]);
    }
  }

  void read_from(Worker& worker) {
    char buffer[65536];
    const ssize_t got = read(worker.pipe, buffer, sizeof buffer);
    if (got <= 0) return ended(worker);
    worker.unread.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end = worker.unread.find('\n'); end != std::string::npos; end = worker.unread.find('\n')) {
      const absl::StatusOr<SimtestReport> report = from_line(worker.unread.substr(0, end));
      worker.unread.erase(0, end + 1);
      if (!report.ok()) continue;
      worker.seed = report->seed + workers_.size();
      take(*report);
    }
  }

  void take(const SimtestReport& report) {
    summary_.add(report);
    report_(report);
  }

  // The worker's process has ended: regularly after its last seed, or during a seed, which then has failed.
  void ended(Worker& worker) {
    int status = 0;
    waitpid(worker.process, &status, 0);
    close(worker.pipe);
    const std::uint64_t seed = worker.seed;
    worker.process = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const std::string how = !WIFSIGNALED(status) ? absl::StrCat("ended with status ", WEXITSTATUS(status))
                            : WTERMSIG(status) == SIGALRM
                                ? absl::StrCat("was still running after ", options_.seconds_per_seed, " s")
                                : absl::StrCat("was killed by signal ", WTERMSIG(status));
    SimtestReport report;
    report.seed = seed;
    report.failures.push_back(Failure{absl::StrCat("seed ", seed), 0, 0, "the process that ran it " + how,
                                      absl::StrCat("simtest --replay ", seed)});
    take(report);
    start(worker, seed + workers_.size());
  }

  static void stop(Worker& worker) {
    if (worker.process <= 0) return;
    kill(worker.process, SIGKILL);
    waitpid(worker.process, nullptr, 0);
    close(worker.pipe);
  }

  void show_progress(std::uint64_t seeds) {
    const double now = seconds();
    if (now < next_progress_) return;
    next_progress_ = now + 2;
    std::fputs(absl::StrFormat("simtest: %d of %d seeds after %.0f s, %d failed\n", summary_.runs, seeds, now,
                               summary_.failures.size())
                   .c_str(),
               stderr);
  }

  const Options& options_;
  const std::function<void(const SimtestReport&)>& report_;
  const std::uint64_t last_;
  std::vector<Worker> workers_;
  Summary summary_;
  const Clock::time_point begin_ = Clock::now();
  double next_progress_ = 2;
};

}  // namespace

Summary run_campaign(const Options& options, const std::function<void(const SimtestReport&)>& report) {
  return Campaign(options, report).run();
}

}  // namespace cableway::simtest
