#include "core/flow_circuits/source_inquiry.h"

#include <algorithm>
#include <utility>

#include "core/flow/chunk_link.h"

namespace cableway {
namespace {

constexpr std::chrono::milliseconds kWatchWhileWaiting{50};
constexpr std::chrono::milliseconds kWatchWhileIdle{500};
// A circuit that lived at least this long ended the outage.
constexpr std::chrono::seconds kLasting{1};

}  // namespace

SourceInquiry::SourceInquiry(const FlowMeans& means, const FlowIdentity& identity, std::chrono::milliseconds path_wait,
                             Flow& flow)
    : clock_(means.dial.clock),
      flow_(flow),
      inquiry_(means, identity, FlowInquiry::From::kDestination,
               {[this](const absl::Status& answer) { forgotten(answer); },
                [this](const absl::Status& reason) { outage_.attempt_failed(reason); }}),
      outage_(path_wait, identity.source_node) {}

void SourceInquiry::circuit_ended(const absl::Status& reason) {
  if (over_) return;
  if (ends_flow(reason)) return end(reason);
  if (flow_.live() > 0) return;
  // Circuits that repeatedly join and end count as one outage while no data arrives (Outage::lasts_too_long()).
  if (alive_since_.has_value() && clock_.now() - *alive_since_ >= kLasting) outage_.ended();
  alive_since_.reset();
  outage_.began(reason);
  if (outage_.limit() == Duration{0}) return end(reason);
  // The source may have lost the circuit at the same time, and then sets up another one at once.
  inquiry_.outage_began(kWatchWhileWaiting);
  watch(kWatchWhileWaiting);
}

void SourceInquiry::stop() {
  over_ = true;
  inquiry_.stop();
  watch_.reset();
}

void SourceInquiry::watch(Duration interval) {
  watch_ = clock_.call_after(std::min(interval, outage_.limit()), [this] { tick(); });
}

void SourceInquiry::tick() {
  if (flow_.live() > 0) {
    if (!alive_since_.has_value()) alive_since_ = clock_.now();
    return;
  }
  const bool waits = flow_.waits();
  const Instant now = clock_.now();
  if (outage_.lasts_too_long(now, waits, flow_.arrived())) {
    return end(outage_.too_long());
  }
  watch(waits ? kWatchWhileWaiting : kWatchWhileIdle);
  if (waits) inquiry_.tick();
}

void SourceInquiry::forgotten(const absl::Status& answer) {
  if (flow_.live() == 0) end(outage_.forgotten(answer));
}

void SourceInquiry::end(const absl::Status& reason) {
  stop();
  flow_.fail(reason);
}

}  // namespace cableway
