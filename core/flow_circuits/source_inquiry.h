// At a flow's destination: while no circuit is live and the application waits for messages, asks the source's process
// whether it still has the flow. The source sets up another circuit where it can; this end only needs to know whether
// to wait for it.
//
//   circuit_ended() --> FlowInquiry --> the source has the flow: ask again later
//                                   --> it does not, and confirms that: the flow ends
//
// Without an answer the flow ends once it has been without a circuit for too long (Outage). One thread: the clock's.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_SOURCE_INQUIRY_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_SOURCE_INQUIRY_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "core/clock.h"
#include "core/flow_circuits/flow_inquiry.h"
#include "core/flow_circuits/flow_paths.h"
#include "core/flow_circuits/outage.h"

namespace cableway {

class SourceInquiry {
 public:
  // The flow's end (core/flow/flow_receiver.h) with its owner.
  class Flow {
   public:
    virtual ~Flow() = default;
    virtual std::size_t live() = 0;
    // Whether the application has posted receives that are not done.
    virtual bool waits() = 0;
    // CircuitOwner::arrived()
    virtual std::uint64_t arrived() = 0;
    // The flow has ended. Called once; no other callback follows. May not destroy the SourceInquiry.
    virtual void fail(const absl::Status& reason) = 0;
  };

  // `path_wait` as SourceCircuits::Limits'. `means` and `flow` must outlive this.
  SourceInquiry(const FlowMeans& means, const FlowIdentity& identity, std::chrono::milliseconds path_wait, Flow& flow);
  SourceInquiry(const SourceInquiry&) = delete;
  SourceInquiry& operator=(const SourceInquiry&) = delete;

  // A live circuit of the flow has ended.
  void circuit_ended(const absl::Status& reason);
  // The owner has ended the flow. No callback follows.
  void stop();

 private:
  void watch(Duration interval);
  void tick();
  void forgotten(const absl::Status& answer);
  void end(const absl::Status& reason);

  Clock& clock_;
  Flow& flow_;
  FlowInquiry inquiry_;
  bool over_ = false;
  Outage outage_;
  std::optional<Instant> alive_since_;  // when this object noticed the circuit
  std::unique_ptr<Timer> watch_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_SOURCE_INQUIRY_H_
