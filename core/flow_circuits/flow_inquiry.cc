#include "core/flow_circuits/flow_inquiry.h"

#include <utility>

#include "core/circuit/flow_proof.h"
#include "core/flow/chunk_link.h"
#include "core/flow/frame.h"

namespace cableway {

void FlowInquiry::outage_began(Duration delay) {
  next_ = clock().now() + delay;
  forgotten_at_.reset();
  confirming_.clear();
}

void FlowInquiry::tick() {
  if (finding_ || open_.size() == kMostOpen || other_port() == 0 || clock().now() < next_) return;
  next_ = clock().now() + kInterval;
  if (!confirming_.empty()) return ask(std::exchange(confirming_, {}));
  find_paths();
}

void FlowInquiry::find_paths() {
  finding_ = true;
  search_ = std::make_shared<char>();
  means_.find_inquiry_paths(other_node(), 0, kPathsForFlow,
                            [this, search = std::weak_ptr<char>(search_)](absl::StatusOr<PathOffers> offers) {
                              if (search.expired()) return;
                              finding_ = false;
                              if (!offers.ok()) return listener_.failed(offers.status());
                              ask((*offers)[turn_++ % offers->size()].hops);
                            });
}

void FlowInquiry::stop() {
  search_.reset();
  finding_ = false;
  open_.clear();
}

void FlowInquiry::ask(std::vector<Hop> hops) {
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
  const auto place = open_.insert(open_.end(), {std::move(hops), clock().now(), nullptr});
  place->dial = std::make_unique<HopDial>(means_.dial, setup, means_.key(),
                                          [this, place](const absl::StatusOr<OpenHop>& hop) {
                                            std::list<Question> done;
                                            done.splice(done.end(), open_, place);
                                            answered(done.front(), hop.status());
                                          });
  place->dial->start();
}

// A failure on the path says nothing about the other end, and does not cancel an earlier doubt: the next path may
// reach it. A second answer confirms the first only if it was asked for later.
void FlowInquiry::answered(const Question& question, const absl::Status& answer) {
  if (!ends_flow(answer)) return listener_.failed(answer);
  const Instant now = clock().now();
  if (!forgotten_at_.has_value() || now - *forgotten_at_ > kConfirmWithin) {
    forgotten_at_ = now;
    confirming_ = question.hops;
    next_ = now + kConfirmAfter;
  } else if (question.begun - *forgotten_at_ >= kConfirmAfter) {
    listener_.forgotten(answer);
  }
}

}  // namespace cableway
