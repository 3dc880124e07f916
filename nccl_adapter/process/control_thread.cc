#include "nccl_adapter/process/control_thread.h"

#include <pthread.h>
#include <signal.h>

#include <boost/asio/post.hpp>
#include <chrono>

namespace cableway::nccl {
namespace {

// Draining connections end by themselves within this time (core/linux/tcp/lingering_close.h). Other pending work is
// dropped.
constexpr std::chrono::milliseconds kLastWork{2500};

}  // namespace

absl::Status unshared(const absl::Status& status) {
  return {status.code(), status.message()};
}

ControlThread::ControlThread() : work_(boost::asio::make_work_guard(io_)) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "cableway");
    io_.run();
    ended_.set_value();
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

absl::Status ControlThread::run_and_wait(const std::function<absl::Status()>& work) {
  std::promise<absl::Status> promise;
  std::future<absl::Status> result = promise.get_future();
  boost::asio::post(io_, [&promise, &work] { promise.set_value(unshared(work())); });
  return result.get();
}

void ControlThread::join() {
  if (!thread_.joinable()) return;
  work_.reset();
  if (ended_.get_future().wait_for(kLastWork) != std::future_status::ready) io_.stop();
  thread_.join();
}

}  // namespace cableway::nccl
