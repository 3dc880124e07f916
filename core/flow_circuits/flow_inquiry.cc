#include "core/flow_circuits/flow_inquiry.h"

#include "core/circuit/flow_proof.h"
#include "core/flow/frame.h"

namespace cableway {

void FlowInquiry::ask() {
  if (finding_ || dial_ != nullptr || other_port() == 0) return;
  finding_ = true;
  question_ = std::make_shared<char>();
  means_.find_inquiry_paths(other_node(), asked_++, kPathsForFlow,
                            [this, asked = std::weak_ptr<char>(question_)](absl::StatusOr<PathOffers> offers) {
                              if (asked.expired()) return;
                              finding_ = false;
                              if (!offers.ok()) return listener_.no_path(offers.status());
                              dial((*offers)[asked_ % offers->size()].hops);
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
    listener_.answered(hop.status());
  });
  dial_->start();
}

}  // namespace cableway
