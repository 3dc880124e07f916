// WorkerThread: a thread that runs one piece of work at a time, for plugin calls that NCCL makes from dedicated threads
// (its service thread, its progress thread).
#ifndef CABLEWAY_TOOLS_COLLPERF_WORKER_THREAD_H_
#define CABLEWAY_TOOLS_COLLPERF_WORKER_THREAD_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/status.h"

namespace cableway::collperf {

class WorkerThread {
 public:
  WorkerThread();
  // Waits for the work in progress.
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Precondition: the previous work has finished.
  void start(std::function<absl::Status()> work);

  // True once the work has returned.
  bool wait_for(std::chrono::milliseconds limit);

  // The result of the finished work.
  absl::Status take_result();

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<absl::Status()> work_;  // set while work is to be done or in progress
  absl::Status result_;
  bool quit_ = false;
  std::thread thread_;
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_WORKER_THREAD_H_
