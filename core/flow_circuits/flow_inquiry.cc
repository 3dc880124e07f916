#include "core/flow_circuits/flow_inquiry.h"

#include <algorithm>
#include <utility>

#include "core/circuit/flow_proof.h"
#include "core/flow/chunk_link.h"
#include "core/flow/frame.h"

namespace cableway {

void FlowInquiry::outage_began(Duration delay) {
  stop();
  next_ = clock().now() + delay;
}

void FlowInquiry::stop() {
  search_.reset();
  finding_ = false;
  to_confirm_.clear();
  open_.clear();
}

void FlowInquiry::tick() {
  const Instant now = clock().now();
  if (other_port() == 0) return;
  if (!to_confirm_.empty() && now >= confirm_at_) return ask(std::exchange(to_confirm_, {}), true);
  if (finding_ || open_.size() >= kMostOpen || now < next_) return;
  next_ = now + kInterval;
  find_paths();
}

void FlowInquiry::find_paths() {
  finding_ = true;
  search_ = std::make_shared<char>();
  means_.find_inquiry_paths(other_node(), 0, kPathsForFlow,
                            [this, search = std::weak_ptr<char>(search_)](const absl::StatusOr<PathOffers>& offers) {
                              if (search.expired()) return;
                              finding_ = false;
                              if (!offers.ok()) return listener_.failed(offers.status());
                              ask_next(*offers);
                            });
}

void FlowInquiry::ask_next(const PathOffers& offers) {
  const bool asks_all = !open_.empty();
  for (std::size_t i = 0; i < offers.size() && open_.size() < kMostOpen; ++i) {
    const std::vector<Hop>& hops = offers[turn_++ % offers.size()].hops;
    const auto waits = [&](const Question& question) { return question.hops == hops; };
    if (std::any_of(open_.begin(), open_.end(), waits)) continue;
    ask(hops, false);
    if (!asks_all) return;
  }
}

void FlowInquiry::ask(std::vector<Hop> hops, bool confirms) {
  CircuitSetup setup;
  setup.purpose = SetupPurpose::kInquiry;
  setup.nonce = identity_.nonce;
  setup.flow = identity_.flow;
  setup.chunk_bytes = kLineBytes;
  setup.budget_ms = static_cast<std::uint32_t>(kInquiryLimit.count());
  setup.from_node = own_node();
  setup.hops = hops;
  setup.hops.back().to_port = other_port();
  add_flow_proof(identity_.cookie, setup);
  const auto place = open_.insert(open_.end(), {std::move(hops), confirms, nullptr});
  place->dial =
      std::make_unique<HopDial>(means_.dial, setup, means_.key(), [this, place](const absl::StatusOr<OpenHop>& hop) {
        std::list<Question> done;
        done.splice(done.end(), open_, place);
        answered(done.front(), hop.status());
      });
  place->dial->start();
}

// A failure on the path says nothing about the other end: the next path may reach it.
void FlowInquiry::answered(const Question& question, const absl::Status& answer) {
  if (!ends_flow(answer)) return listener_.failed(answer);
  if (question.confirms) return listener_.forgotten(answer);
  const auto confirms = [](const Question& other) { return other.confirms; };
  if (!to_confirm_.empty() || std::any_of(open_.begin(), open_.end(), confirms)) return;
  to_confirm_ = question.hops;
  confirm_at_ = clock().now() + kConfirmAfter;
}

}  // namespace cableway
