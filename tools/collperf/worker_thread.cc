#include "tools/collperf/worker_thread.h"

#include <utility>

namespace cableway::collperf {

WorkerThread::WorkerThread() : thread_([this] { loop(); }) {}

WorkerThread::~WorkerThread() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WorkerThread::start(std::function<absl::Status()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
  }
  changed_.notify_all();
}

bool WorkerThread::wait_for(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return work_ == nullptr; });
}

absl::Status WorkerThread::take_result() {
  const std::lock_guard lock(mutex_);
  return std::exchange(result_, absl::OkStatus());
}

void WorkerThread::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return quit_ || work_ != nullptr; });
    if (work_ == nullptr) return;
    lock.unlock();
    absl::Status result = work_();  // only this thread clears work_
    lock.lock();
    result_ = std::move(result);
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace cableway::collperf
