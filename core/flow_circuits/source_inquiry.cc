#include "core/flow_circuits/source_inquiry.h"

#include <algorithm>
#include <utility>

#include "core/circuit/flow_proof.h"
#include "core/flow/chunk_link.h"

namespace cableway {
namespace {

constexpr std::chrono::milliseconds kWatchWhileWaiting{50};
constexpr std::chrono::milliseconds kWatchWhileIdle{500};
constexpr std::chrono::milliseconds kInquiryInterval{500};
// A circuit that lived at least so long ended the outage.
constexpr std::chrono::seconds kLasting{1};

}  // namespace

void SourceInquiry::circuit_ended(const absl::Status& reason) {
  if (over_) return;
  if (ends_flow(reason)) return end(reason);
  if (flow_.live() > 0) return;
  // Circuits that join and end again and again count as one outage.
  if (alive_since_.has_value() && clock().now() - *alive_since_ >= kLasting) outage_.ended();
  alive_since_.reset();
  outage_.began(reason);
  if (outage_.limit() == Duration{0}) return end(reason);
  // The source, which may have lost the circuit at the same time, sets up another one at once.
  next_inquiry_ = clock().now() + kWatchWhileWaiting;
  watch(kWatchWhileWaiting);
}

void SourceInquiry::stop() {
  over_ = true;
  dial_.reset();
  watch_.reset();
}

void SourceInquiry::watch(Duration interval) {
  watch_ = clock().call_after(std::min(interval, outage_.limit()), [this] { tick(); });
}

void SourceInquiry::tick() {
  if (flow_.live() > 0) {
    if (!alive_since_.has_value()) alive_since_ = clock().now();
    return;
  }
  const bool waits = flow_.waits();
  const Instant now = clock().now();
  if (outage_.lasts_too_long(now, waits)) {
    return end(outage_.too_long());
  }
  watch(waits ? kWatchWhileWaiting : kWatchWhileIdle);
  if (waits && now >= next_inquiry_) find_path();
}

void SourceInquiry::find_path() {
  if (asking_ || dial_ != nullptr || identity_.source_port == 0) return;
  asking_ = true;
  means_.find_paths(identity_.source_node, inquiries_++, kPathsForFlow,
                    [this, life = std::weak_ptr<char>(lifetime_)](absl::StatusOr<PathOffers> offers) {
                      if (life.expired()) return;
                      asking_ = false;
                      if (over_ || flow_.live() > 0) return;
                      // This node's answer says nothing about the source's process (ends_flow()).
                      if (!offers.ok()) return answered(absl::UnavailableError(offers.status().message()));
                      dial((*offers)[inquiries_ % offers->size()].hops);
                    });
}

void SourceInquiry::dial(const std::vector<Hop>& hops) {
  CircuitSetup setup;
  setup.purpose = SetupPurpose::kInquiry;
  setup.nonce = identity_.nonce;
  setup.flow = identity_.flow;
  setup.chunk_bytes = kLineBytes;
  setup.budget_ms = static_cast<std::uint32_t>(kReopenLimit.count());
  setup.from_node = identity_.destination_node;
  setup.hops = hops;
  setup.hops.back().to_port = identity_.source_port;
  add_flow_proof(identity_.cookie, setup);
  dial_ = std::make_unique<HopDial>(means_.dial, setup, means_.key(), [this](const absl::StatusOr<OpenHop>& hop) {
    answered(hop.status());
    dial_.reset();
  });
  dial_->start();
}

void SourceInquiry::answered(const absl::Status& answer) {
  if (flow_.live() > 0) return;
  const Outage::Verdict verdict = outage_.failed(answer);
  if (verdict == Outage::Verdict::kOver) return end(outage_.forgotten(answer));
  const bool confirm = verdict == Outage::Verdict::kConfirm;
  next_inquiry_ = clock().now() + (confirm ? Outage::kConfirmAfter : kInquiryInterval);
}

void SourceInquiry::end(const absl::Status& reason) {
  stop();
  flow_.fail(reason);
}

}  // namespace cableway
