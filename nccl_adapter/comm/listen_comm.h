// A listen comm: the cookie that its peers received, and the connections that have arrived for it.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_LISTEN_COMM_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_LISTEN_COMM_H_

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/circuit/circuit_setup.h"
#include "core/circuit/flow_proof.h"
#include "core/linux/link/hop_connection.h"
#include "nccl_adapter/comm/seen_flows.h"

namespace cableway::nccl {

class Context;

struct ArrivedCircuit {
  host::HopConnection connection;
  CircuitSetup setup;
};

// The control thread adds connections, NCCL's service thread removes them.
class ListenComm {
 public:
  ListenComm(Context& context, const Cookie& cookie)
      : context_(context), cookie_(cookie), name_(listener_name(cookie)) {}

  Context& context() const { return context_; }
  const Cookie& cookie() const { return cookie_; }
  const ListenerName& name() const { return name_; }

  // Whether no set-up with this nonce has arrived yet. For the control thread.
  bool first_use(const FlowNonce& nonce) { return seen_.first_use(nonce); }

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
  const Cookie cookie_;
  const ListenerName name_;
  SeenFlows seen_;
  std::mutex mutex_;
  std::deque<ArrivedCircuit> arrived_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_LISTEN_COMM_H_
