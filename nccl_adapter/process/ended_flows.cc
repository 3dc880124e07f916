#include "nccl_adapter/process/ended_flows.h"

#include <algorithm>
#include <utility>

#include "core/circuit/flow_proof.h"
#include "core/flow/frame.h"

namespace cableway::nccl {

void EndedFlows::add(const FlowIdentity& flow, std::string reason, Instant now) {
  reason.resize(std::min<std::size_t>(reason.size(), kMaxFailureText));
  if (!flows_.try_emplace(flow.nonce, Ended{flow.cookie, std::move(reason)}).second) return;
  order_.push_back({now, flow.nonce});
  if (order_.size() <= kMost) return;
  flows_.erase(order_.front().nonce);
  order_.pop_front();
}

std::optional<std::string> EndedFlows::find(const CircuitSetup& setup) const {
  const auto found = flows_.find(setup.nonce);
  if (found == flows_.end() || !verify_flow_proof(found->second.cookie, setup)) return std::nullopt;
  return found->second.reason;
}

void EndedFlows::expire(Instant now) {
  while (!order_.empty() && now - order_.front().when >= kRemembered) {
    flows_.erase(order_.front().nonce);
    order_.pop_front();
  }
}

}  // namespace cableway::nccl
