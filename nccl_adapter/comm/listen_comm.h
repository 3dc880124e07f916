// A listen comm: the cookie that its peers received, and the circuits that have arrived for it.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_LISTEN_COMM_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_LISTEN_COMM_H_

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/circuit/circuit_setup.h"
#include "core/circuit/flow_admission.h"
#include "core/linux/link/hop_connection.h"

namespace cableway::nccl {

class Context;

struct ArrivedCircuit {
  host::HopConnection connection;
  CircuitSetup setup;
};

// The control thread adds connections, NCCL's service thread removes them.
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

  void put(ArrivedCircuit circuit) {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(std::move(circuit));
  }

  std::optional<ArrivedCircuit> take() {
    const std::lock_guard lock(mutex_);
    if (arrived_.empty()) return std::nullopt;
    std::optional<ArrivedCircuit> circuit(std::move(arrived_.front()));
    arrived_.pop_front();
    return circuit;
  }

 private:
  Context& context_;
  FlowAdmission admission_;
  std::mutex mutex_;
  std::deque<ArrivedCircuit> arrived_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_LISTEN_COMM_H_
