#include "core/flow_circuits/flow_inquiry.h"

#include "core/circuit/flow_proof.h"
#include "core/flow/chunk_link.h"
#include "core/flow/frame.h"

namespace cableway {

void FlowInquiry::outage_began(Duration delay) {
  next_ = clock().now() + delay;
  forgotten_at_.reset();
}

void FlowInquiry::tick() {
  if (finding_ || dial_ != nullptr || other_port() == 0 || clock().now() < next_) return;
  finding_ = true;
  next_ = clock().now() + kInterval;
  question_ = std::make_shared<char>();
  means_.find_inquiry_paths(other_node(), 0, kPathsForFlow,
                            [this, asked = std::weak_ptr<char>(question_)](absl::StatusOr<PathOffers> offers) {
                              if (asked.expired()) return;
                              finding_ = false;
                              if (!offers.ok()) return listener_.failed(offers.status());
                              dial((*offers)[turn_ % offers->size()].hops);
                            });
}

void FlowInquiry::stop() {
  question_.reset();
  finding_ = false;
  dial_.reset();
}

void FlowInquiry::dial(const std::vector<Hop>& hops) {
  CircuitSetup setup;
  setup.purpose = SetupPurpose::kInquiry;
  setup.nonce = identity_.nonce;
  setup.flow = identity_.flow;
  setup.chunk_bytes = kLineBytes;
  setup.budget_ms = static_cast<std::uint32_t>(kReopenLimit.count());
  setup.from_node = own_node();
  setup.hops = hops;
  setup.hops.back().to_port = other_port();
  add_flow_proof(identity_.cookie, setup);
  dial_ = std::make_unique<HopDial>(means_.dial, setup, means_.key(), [this](const absl::StatusOr<OpenHop>& hop) {
    const std::unique_ptr<HopDial> done = std::move(dial_);
    answered(hop.status());
  });
  dial_->start();
}

// A failure on the path says nothing about the other end, and does not cancel an earlier doubt: the next path may
// reach it.
void FlowInquiry::answered(const absl::Status& answer) {
  const Instant now = clock().now();
  if (!ends_flow(answer)) {
    ++turn_;
    next_ = now + kInterval;
    return listener_.failed(answer);
  }
  if (forgotten_at_.has_value() && now - *forgotten_at_ <= kConfirmWithin) return listener_.forgotten(answer);
  forgotten_at_ = now;
  next_ = now + kConfirmAfter;
}

}  // namespace cableway
