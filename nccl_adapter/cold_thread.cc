#include "nccl_adapter/cold_thread.h"

#include <pthread.h>
#include <signal.h>

namespace cableway::nccl {

ColdThread::ColdThread() : work_(boost::asio::make_work_guard(io_)) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "cableway");
    io_.run();
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ColdThread::join() {
  work_.reset();
  if (thread_.joinable()) thread_.join();
}

}  // namespace cableway::nccl
