// A listen comm: the cookie that its peers received, and the flows that have arrived for it.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_LISTEN_COMM_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_LISTEN_COMM_H_

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "core/circuit/circuit_setup.h"
#include "core/circuit/flow_admission.h"
#include "nccl_adapter/comm/recv_comm.h"

namespace cableway::nccl {

class Context;

inline constexpr const char* kNeverAccepted = "its listen comm was closed before it was accepted";

// The control thread adds flows, NCCL's service thread removes them.
class ListenComm {
 public:
  ListenComm(Context& context, const Cookie& cookie) : context_(context), admission_(cookie) {}

  Context& context() const { return context_; }
  const Cookie& cookie() const { return admission_.cookie(); }
  const ListenerName& name() const { return admission_.name(); }

  // For the control thread.
  FlowAdmission& admission() { return admission_; }

  static constexpr std::size_t kMaxWaiting = 1024;

  // Whether one more can be added. Only the control thread adds, so the result stays true until it does.
  bool has_room() {
    const std::lock_guard lock(mutex_);
    return arrived_.size() < kMaxWaiting;
  }

  // False: the listen comm was closed meanwhile, so the flow will not be accepted.
  bool put(std::shared_ptr<RecvComm> flow) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    arrived_.push_back(std::move(flow));
    return true;
  }

  // Null: no flow has arrived that was not taken.
  std::shared_ptr<RecvComm> take() {
    const std::lock_guard lock(mutex_);
    if (arrived_.empty()) return nullptr;
    std::shared_ptr<RecvComm> flow = std::move(arrived_.front());
    arrived_.pop_front();
    return flow;
  }

  // No flow can be put any more. Returns the flows that have arrived and were not taken.
  std::deque<std::shared_ptr<RecvComm>> close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    return std::exchange(arrived_, {});
  }

 private:
  Context& context_;
  FlowAdmission admission_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<RecvComm>> arrived_;
  bool closed_ = false;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_LISTEN_COMM_H_
