// The only thread that Cableway runs in an application process. It owns set-ups, the session, timers and closing; data
// moves on NCCL's own threads.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_CONTROL_THREAD_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_CONTROL_THREAD_H_

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <future>
#include <thread>

#include "absl/status/status.h"

namespace cableway::nccl {

// A copy for another thread. The thread sanitizer does not see Abseil's reference count of a shared status, and reports
// a race.
absl::Status unshared(const absl::Status& status);

class ControlThread {
 public:
  // Starts the thread with all signals blocked, since signals belong to the application.
  ControlThread();
  ~ControlThread() { join(); }
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;

  boost::asio::io_context& io() { return io_; }
  // Runs `work` on the thread and waits for the result. Not to be called from that thread.
  absl::Status run_and_wait(const std::function<absl::Status()>& work);
  // Lets the thread drain closing connections for a limited time, then joins it.
  void join();

 private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_CONTROL_THREAD_H_
