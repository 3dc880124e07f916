// The state of a flow without a circuit, at either of its ends: why the last circuit ended, what has failed since
// then, how long the application has waited, and whether the other end still has the flow.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_OUTAGE_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_OUTAGE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/clock.h"

namespace cableway {

class Outage {
 public:
  // `limit`: the maximum time for which a flow without a circuit may keep its application waiting (setting
  // path_wait); 0: the flow ends with its last circuit. `other_node`: the node of the flow's other end.
  Outage(Duration limit, std::string other_node) : limit_(limit), other_node_(std::move(other_node)) {}

  Duration limit() const { return limit_; }
  // The last circuit has ended for this reason.
  void began(const absl::Status& cause);
  // A circuit has lived for a while, so the outage is over. A circuit that ends soon does not end the
  // outage.
  void ended() { since_.reset(); }

  enum class Verdict : std::uint8_t {
    kGoOn,
    kConfirm,  // the other end reports that it does not know the flow: try again after FlowInquiry::kConfirmAfter
    kOver,     // a second attempt has confirmed that
  };
  // An attempt to reach the other end has failed.
  Verdict failed(const absl::Status& reason);
  // The same for a failure that says nothing about the other end.
  void attempt_failed(const absl::Status& reason) { failed_since_ = reason; }
  // To be called at intervals while the flow has no circuit. `waits`: the application has posted messages that are not
  // done; only that time counts. `arrived`: CircuitOwner::arrived(). If it has grown since the last call, the
  // limit starts again. Returns whether the limit is reached.
  bool lasts_too_long(Instant now, bool waits, std::uint64_t arrived);

  // The reasons reported to the application: after kOver, and when the outage lasts too long. A connection that the
  // peer has closed is no fault of its cable, so the other end's reason is then the cause.
  absl::Status forgotten(const absl::Status& reason) const;
  absl::Status too_long() const;

 private:
  const Duration limit_;
  const std::string other_node_;
  absl::Status cause_;
  absl::Status failed_since_;
  bool doubted_ = false;
  std::optional<Instant> since_;
  std::uint64_t arrived_ = 0;  // at the last call
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_OUTAGE_H_
