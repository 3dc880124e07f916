#include "core/flow_circuits/flow_pauses.h"

#include <chrono>
#include <utility>

namespace cableway {
namespace {

constexpr std::chrono::milliseconds kSentAgainBy{100};

}  // namespace

void FlowPauses::circuits_ended(const CircuitOwner& flow, Instant now) {
  const bool share_ended = std::exchange(shares_ended_, flow.shares_ended()) != flow.shares_ended();
  if (lost_ || carrier_.generation == 0 || (flow.is_live(carrier_) && !share_ended)) return;
  lost_ = true;
  const CircuitEnd& end = flow.end_in(carrier_.slot);
  cause_ = end.circuit == carrier_ ? end.reason : std::string(flow.last_end().message());
  since_.reset();
  if (!flow.idle()) since_ = flow.in_flight() ? last_moved_ : now;
}

void FlowPauses::moved(const CircuitOwner& flow, Instant now) {
  const FlowTraffic& traffic = flow.traffic();
  // The carrier may have ended in the same call in which the next circuit took over.
  circuits_ended(flow, now);
  const bool moves = !(carrier_ == traffic.last()) && !(flow.shares(carrier_) && flow.shares(traffic.last()));
  if (carrier_.generation > 0 && (lost_ || moves)) rerouted(flow, now);
  chunks_ = traffic.chunks();
  carrier_ = traffic.last();
  last_moved_ = now;
}

void FlowPauses::rerouted(const CircuitOwner& flow, Instant now) {
  if (!untaken_.has_value()) untaken_.emplace();
  untaken_->circuit = flow.carrier();
  untaken_->cause = std::exchange(cause_, {});
  if (since_.has_value()) untaken_->pause += now - *since_;
  ++untaken_->times;
  lost_ = false;
  since_.reset();
  rerouted_at_ = now;
}

std::optional<Reroute> FlowPauses::take(const FlowTraffic& traffic, Instant now) {
  if (!untaken_.has_value() || now - rerouted_at_ < kSentAgainBy) return std::nullopt;
  untaken_->bytes_again = traffic.bytes_again() - std::exchange(again_taken_, traffic.bytes_again());
  return std::exchange(untaken_, std::nullopt);
}

}  // namespace cableway
