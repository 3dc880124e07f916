#include "nccl_adapter/process/process_flows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/circuit/flow_proof.h"
#include "core/flow_circuits/source_circuits.h"
#include "core/flow_circuits/source_inquiry.h"
#include "core/linux/hop/asio_connection.h"
#include "nccl_adapter/process/circuit_reports.h"

namespace cableway::nccl {
namespace {

// Longer than a source waits for a path by default.
constexpr std::chrono::seconds kRememberClosed{60};
// Each takes some 10 KB.
constexpr std::size_t kMaxClosed = 256;
// The interval between flows that look for better paths: if all looked at once, the node's answers to others would be
// delayed.
constexpr std::chrono::milliseconds kNextLook{5};
// How long a source that has lost a circuit waits for an idle destination to poll. The interval is longer if polling
// all such flows would otherwise take more than a twentieth of the thread's time.
constexpr std::chrono::milliseconds kAttendInterval{10};
constexpr int kAttendPart = 20;
// In bytes of large messages: the amounts that make further circuits worth their set-up.
constexpr std::uint64_t kStandbyAfter = 1U << 20;
constexpr std::uint64_t kStripeAfter = 4U << 20;

}  // namespace

class ProcessFlows::Flow {
 public:
  Flow(FlowIdentity identity, bool sends) : circuit_reports(sends), identity_(std::move(identity)) {}
  virtual ~Flow() = default;
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  virtual std::shared_ptr<FlowComm> comm() const = 0;
  virtual void circuits_ended(const CommCircuits::Ended& ended) = 0;
  // The other end waits without a circuit, and has asked about the flow.
  virtual void asked() {}
  // A port of this host is lost.
  virtual void lose_port(const PortLost& lost) { comm()->lose_port(lost); }
  // The flow has failed.
  virtual void stop() = 0;
  // What the flow has carried, and the loads of its ports.
  virtual void carried(const FlowActivity& /*activity*/) {}
  const FlowIdentity& identity() const { return identity_; }
  // The name of this node.
  virtual const std::string& node() const = 0;
  CircuitReports circuit_reports;

 private:
  const FlowIdentity identity_;
};

class ProcessFlows::Outgoing final : public Flow, public SourceCircuits::Flow {
 public:
  Outgoing(ProcessFlows& flows, std::shared_ptr<SendComm> comm, const FlowIdentity& identity)
      : ProcessFlows::Flow(identity, true),
        flows_(flows),
        comm_(std::move(comm)),
        circuits_(flows.means_, identity,
                  {.open = flows.limits_.open,
                   .path_wait = std::min(flows.limits_.path_wait, identity.path_wait),
                   .chunk_bytes = flows.limits_.chunk_bytes,
                   .shares = flows.limits_.shares},
                  *this) {}

  void start() { circuits_.start(); }
  void asked() override { circuits_.asked(); }
  void paths_changed(Duration delay) { circuits_.paths_changed(delay); }
  void stop() override { circuits_.stop(); }
  void carried(const FlowActivity& activity) override {
    const FlowTraffic& traffic = activity.traffic;
    const bool may_have_more = flows_.limits_.shares != CircuitShare::kNone;
    if (may_have_more && traffic.large_bytes() >= kStandbyAfter) circuits_.want(2);
    if (traffic.large_bytes() >= kStripeAfter) circuits_.stripe();
    circuits_.loads(activity.loads);
  }

  std::shared_ptr<FlowComm> comm() const override { return comm_; }
  const std::string& node() const override { return identity().source_node; }
  void lose_port(const PortLost& lost) override {
    circuits_.lose_port(lost);
    comm_->lose_port(lost);
  }
  void circuits_ended(const CommCircuits::Ended& ended) override {
    for (const CircuitName& circuit : ended.circuits) circuits_.circuit_ended(circuit, ended.reason);
    circuits_.posted();
  }

 private:
  std::optional<CircuitName> reserve() override { return comm_->reserve(); }
  void release(const CircuitName& reserved) override { comm_->release(reserved); }
  absl::Status join(const CircuitSetup& setup, OpenHop first_hop) override {
    host::HopConnection connection = host::release(std::move(first_hop));
    const HopTransport transport = transport_of(connection);
    absl::Status joined = comm_->join(setup, std::move(connection));
    if (!joined.ok()) {
      comm_->release(setup.circuit);
      return joined;
    }
    circuit_reports.joined(setup, transport, std::chrono::steady_clock::now());
    flows_.log_.info(absl::StrCat("circuit ", describe_path(setup), " is open, first over ", transport.over, ": ",
                                  transport.reason));
    return joined;
  }
  std::size_t live() override { return comm_->live(); }
  void end_circuit(const CircuitName& circuit, const absl::Status& reason) override {
    comm_->end_circuit(circuit, reason);
  }
  bool waits() override { return comm_->waits(); }
  std::uint64_t arrived() override { return comm_->arrived(); }
  void lacks_circuit(const absl::Status& reason) override {
    flows_.log_.info(absl::StrCat("flow ", identity().flow, " to node ", identity().destination_node,
                                  " lacks a further circuit: ", reason.message()));
  }
  void fail(const absl::Status& reason) override {
    comm_->end(reason);
    flows_.report_failure(comm_.get());
  }

  ProcessFlows& flows_;
  const std::shared_ptr<SendComm> comm_;
  SourceCircuits circuits_;
};

class ProcessFlows::Incoming final : public Flow, public SourceInquiry::Flow {
 public:
  Incoming(ProcessFlows& flows, std::shared_ptr<RecvComm> comm, const FlowIdentity& identity)
      : ProcessFlows::Flow(identity, false),
        flows_(flows),
        comm_(std::move(comm)),
        inquiry_(flows.means_, identity, std::min(flows.limits_.path_wait, identity.path_wait), *this) {}

  std::shared_ptr<FlowComm> comm() const override { return comm_; }
  const std::string& node() const override { return identity().destination_node; }
  const std::shared_ptr<RecvComm>& receiver() const { return comm_; }
  void circuits_ended(const CommCircuits::Ended& ended) override {
    // The receiver may have ended a circuit to make way for another in its slot, which then could not join.
    if (!ended.ends.empty()) inquiry_.circuit_ended(ended.reason);
  }
  void stop() override { inquiry_.stop(); }

 private:
  std::size_t live() override { return comm_->live(); }
  bool waits() override { return comm_->waits(); }
  std::uint64_t arrived() override { return comm_->arrived(); }
  void fail(const absl::Status& reason) override {
    comm_->end(reason);
    flows_.report_failure(comm_.get());
  }

  ProcessFlows& flows_;
  const std::shared_ptr<RecvComm> comm_;
  SourceInquiry inquiry_;
};

ProcessFlows::ProcessFlows(const FlowMeans& means, const Limits& limits, FlowReports& reports, Log log,
                           CloseConnections close)
    : means_(means), limits_(limits), reports_(reports), log_(log), close_connections_(std::move(close)) {}

ProcessFlows::~ProcessFlows() = default;

void ProcessFlows::open(const std::shared_ptr<SendComm>& comm, const FlowIdentity& identity) {
  auto flow = std::make_unique<Outgoing>(*this, comm, identity);
  Outgoing& started = *flow;
  sources_[identity.nonce] = flow.get();
  flows_[comm.get()] = std::move(flow);
  started.start();
}

void ProcessFlows::arrived(const std::shared_ptr<RecvComm>& comm, const FlowIdentity& identity,
                           const CircuitSetup& setup, const HopTransport& transport) {
  auto flow = std::make_unique<Incoming>(*this, comm, identity);
  flow->circuit_reports.joined(setup, transport, std::chrono::steady_clock::now());
  destinations_[identity.nonce] = flow.get();
  flows_[comm.get()] = std::move(flow);
}

void ProcessFlows::joined(FlowComm* comm, const CircuitSetup& setup, const HopTransport& transport) {
  const auto flow = flows_.find(comm);
  if (flow == flows_.end()) return;
  flow->second->circuit_reports.joined(setup, transport, std::chrono::steady_clock::now());
  if (comm->attend() && attend_ == nullptr) attend_later(kAttendInterval);
}

ProcessFlows::Destination ProcessFlows::find_destination(const FlowNonce& nonce) const {
  const auto found = destinations_.find(nonce);
  if (found == destinations_.end() || found->second->receiver()->has_failed()) return {};
  return {found->second->receiver(), found->second->identity().cookie};
}

std::optional<std::string> ProcessFlows::why_ended(const CircuitSetup& setup) const {
  const auto found = destinations_.find(setup.nonce);
  if (found == destinations_.end() || !verify_flow_proof(found->second->identity().cookie, setup)) {
    return ended_.find(setup);
  }
  if (!found->second->receiver()->has_failed()) return std::nullopt;
  return reason_of_end(*found->second);
}

ProcessFlows::Answer ProcessFlows::asked(const CircuitSetup& inquiry) {
  Flow* const flow = find(inquiry.nonce);
  if (flow == nullptr || !verify_flow_proof(flow->identity().cookie, inquiry)) return {false, ended_.find(inquiry)};
  FlowComm& comm = *flow->comm();
  if (comm.has_failed()) return {false, reason_of_end(*flow)};
  comm.poll_if_idle();
  flow->asked();
  return {true, std::nullopt};
}

// If both ends of a flow are in this process, either end answers for both.
ProcessFlows::Flow* ProcessFlows::find(const FlowNonce& nonce) const {
  if (const auto source = sources_.find(nonce); source != sources_.end()) return source->second;
  const auto destination = destinations_.find(nonce);
  return destination == destinations_.end() ? nullptr : destination->second;
}

std::string ProcessFlows::reason_of_end(const Flow& flow) const {
  std::string reason = flow.comm()->reason_for_peer();
  if (!reason.empty()) return reason;
  return absl::StrCat("node ", flow.node(), ": the application has closed the flow",
                      first_failure_.text(means_.dial.clock.now()));
}

void ProcessFlows::in_use(FlowComm* comm) {
  const auto flow = flows_.find(comm);
  if (flow == flows_.end()) return;
  if (const std::optional<FlowOpened>& opened = flow->second->circuit_reports.opened()) reports_.opened(comm, *opened);
}

void ProcessFlows::look_at(FlowComm* comm) {
  const auto flow = flows_.find(comm);
  if (flow == flows_.end()) return;
  if (comm->has_failed()) {
    first_failure_.note(comm->failure(), comm->reason_for_peer(), means_.dial.clock.now());
    return flow->second->stop();
  }
  const CommCircuits::Ended ended = comm->take_ended();
  if (ended.corruptions > 0) {
    const std::string reason(ended.last_corruption.message());
    log_.warn(reason);
    reports_.corrupted(comm, ended.corruptions, reason);
  }
  flow->second->circuit_reports.ended(ended, std::chrono::steady_clock::now());
  flow->second->circuits_ended(ended);
}

void ProcessFlows::closed(FlowComm* comm, const std::string& failure) {
  first_failure_.note(failure, comm->reason_for_peer(), means_.dial.clock.now());
  reports_.ended(comm, failure);
  const auto flow = flows_.find(comm);
  if (flow == flows_.end()) return;
  if (!comm->answers_after_close()) {
    ended_.add(flow->second->identity(), reason_of_end(*flow->second), means_.dial.clock.now());
    return forget(comm);
  }
  if (closed_.size() == kMaxClosed) {
    forget(closed_.front().comm);
    closed_.pop_front();
  }
  closed_.push_back({comm, means_.dial.clock.now()});
}

void ProcessFlows::forget(FlowComm* comm) {
  const auto flow = flows_.find(comm);
  if (flow == flows_.end()) return;
  sources_.erase(flow->second->identity().nonce);
  destinations_.erase(flow->second->identity().nonce);
  flows_.erase(flow);
}

void ProcessFlows::check() {
  const Instant now = means_.dial.clock.now();
  ended_.expire(now);
  while (!closed_.empty() && now - closed_.front().since >= kRememberClosed) {
    forget(closed_.front().comm);
    closed_.pop_front();
  }
  for (const auto& [comm, flow] : flows_) {
    comm->check();
    report_failure(comm);
    report_activity(comm, *flow, true);
    close_connections_(comm->take_sockets());
  }
}

void ProcessFlows::poll_idle() {
  for (const auto& [comm, flow] : flows_) {
    comm->tend();
    report_activity(comm, *flow, false);
  }
  if (attend_ == nullptr) attend_idle();
}

void ProcessFlows::attend_idle() {
  attend_.reset();
  const Instant began = means_.dial.clock.now();
  bool goes_on = false;
  for (const auto& [comm, flow] : flows_) goes_on = comm->attend() || goes_on;
  const Duration took = means_.dial.clock.now() - began;
  if (goes_on) attend_later(std::max<Duration>(kAttendInterval, kAttendPart * took));
}

void ProcessFlows::attend_later(Duration pause) {
  attend_ = means_.dial.clock.call_after(pause, [this] { attend_idle(); });
}

void ProcessFlows::lose_port(const PortLost& lost) {
  for (const auto& [comm, flow] : flows_) {
    flow->lose_port(lost);
    report_failure(comm);
  }
}

void ProcessFlows::paths_changed() {
  Duration delay = kFollowAfter;
  for (const auto& [nonce, flow] : sources_) {
    flow->paths_changed(delay);
    delay += kNextLook;
  }
}

void ProcessFlows::report_activity(FlowComm* comm, Flow& flow, bool with_counts) {
  const std::optional<FlowActivity> activity = comm->take_activity();
  if (!activity.has_value()) return;
  flow.carried(*activity);
  const auto now = std::chrono::steady_clock::now();
  std::optional<FlowRerouted> rerouted = flow.circuit_reports.rerouted(*activity);
  std::optional<FlowWaits> waits = flow.circuit_reports.waits(*activity, now);
  const std::vector<CircuitRetired> retired = flow.circuit_reports.retired(*activity, now);
  const bool has_news = rerouted.has_value() || !retired.empty();
  for (const CircuitRetired& circuit : retired) reports_.retired(comm, circuit);
  if (rerouted.has_value()) reports_.rerouted(comm, *std::move(rerouted));
  if (waits.has_value()) reports_.waits(comm, *std::move(waits));
  if (with_counts || has_news) reports_.counted(comm, flow.circuit_reports.counts(*activity, now));
}

void ProcessFlows::report_failure(FlowComm* comm) {
  const std::string failure = comm->failure();
  if (failure.empty()) return;
  first_failure_.note(failure, comm->reason_for_peer(), means_.dial.clock.now());
  reports_.ended(comm, failure);
}

}  // namespace cableway::nccl
