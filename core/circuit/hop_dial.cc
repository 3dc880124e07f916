#include "core/circuit/hop_dial.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/chunk_link.h"

namespace cableway {
namespace {

constexpr char kRefused[] = "connection refused (is cablewayd running there?)";

}  // namespace

HopDial::HopDial(const Means& means, CircuitSetup setup, std::optional<SubKey> key, Done done)
    : means_(means),
      setup_(std::move(setup)),
      key_(std::move(key)),
      deadline_(means.clock.now() + std::chrono::milliseconds(setup_.budget_ms)),
      done_(std::move(done)) {}

void HopDial::start() {
  limit_ = means_.clock.call_at(deadline_, [this] { time_over(); });
  next_ = means_.clock.call_after(Duration{0}, [this] { begin(); });
}

void HopDial::time_over() {
  // The other end has refused a connection, so it is not silent, although the latest attempt got no answer.
  if (was_refused_) return finish(failed(absl::StatusCode::kUnavailable, kRefused));
  finish(with_cause(failed(absl::StatusCode::kDeadlineExceeded, waiting_for_), RefusalCause::kSilence));
}

absl::Status HopDial::failed(absl::StatusCode code, absl::string_view what) const {
  return absl::Status(
      code, absl::StrCat("node ", setup_.this_hop_from(), " cannot reach node ", hop().to_node, " at ",
                         hop().to_address, " TCP port ", hop().to_port, " over cable ", hop().cable, ": ", what));
}

absl::Status HopDial::failed(const absl::Status& status) const {
  // A missing prerequisite of this end, such as an RDMA device, does not end the flow.
  const absl::StatusCode code = ends_flow(status) ? absl::StatusCode::kFailedPrecondition : status.code();
  return with_cause(failed(code, status.message()), cause_of(status));
}

void HopDial::begin() {
  // Inquiries and views carry no data, and must not need a device.
  if (setup_.purpose != SetupPurpose::kCircuit) return connect();
  // Offers before connecting: the other end limits its wait for a set-up, and creating a process's first queue pair
  // is slow.
  absl::StatusOr<TransportNegotiator::Offered> offered = means_.transports.offer(setup_);
  if (!offered.ok()) return finish(failed(offered.status()));
  offered_ = *std::move(offered);
  connect();
}

void HopDial::connect() {
  waiting_for_ = "no answer to the connection (is the cable up, and is that address configured at its other end?)";
  attempt_ = means_.connector.connect(
      hop(), [this](absl::StatusOr<std::unique_ptr<SetupConnection>> made) { connected(std::move(made)); });
}

void HopDial::connected(absl::StatusOr<std::unique_ptr<SetupConnection>> connection) {
  if (absl::IsNotFound(connection.status())) {
    // The row of a node that does not run must not wait.
    if (setup_.purpose == SetupPurpose::kView) {
      return finish(failed(absl::StatusCode::kUnavailable, kRefused));
    }
    // The destination's process has ended.
    if (setup_.last_hop()) return finish(failed(absl::StatusCode::kNotFound, connection.status().message()));
    was_refused_ = true;
    next_ = means_.clock.call_after(kRetryAfter, [this] { connect(); });
    return;
  }
  if (!connection.ok()) return finish(failed(connection.status()));
  was_refused_ = false;
  connection_ = *std::move(connection);
  handshake_.emplace(key_, means_.challenge());
  if (handshake_->may_open()) return send_setup();
  waiting_for_ = "no challenge received (this end has a key; does the other?)";
  send(handshake_->begin());
}

void HopDial::send_setup() {
  waiting_for_ = "no answer to the set-up";
  // Subtracts the time that connecting took: the next nodes must give up before this one does.
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - means_.clock.now());
  setup_.budget_ms = static_cast<std::uint32_t>(std::max<std::int64_t>(left.count(), 1));
  const bool is_view = setup_.purpose == SetupPurpose::kView;
  send(handshake_->open(encode_setup_frame(setup_), is_view ? FrameKind::kDocument : FrameKind::kSetupOk));
}

void HopDial::send(std::vector<std::byte> bytes) {
  connection_->send(std::move(bytes), [this](const absl::Status& ended) {
    if (!ended.ok()) return finish(failed(absl::StatusCode::kUnavailable, ended.message()));
    read_on();
  });
}

void HopDial::read_on() {
  connection_->read(handshake_->bytes_needed(),
                    [this](const absl::Status& ended, std::span<const std::byte> bytes) { have(ended, bytes); });
}

void HopDial::have(const absl::Status& ended, std::span<const std::byte> bytes) {
  const absl::Status status = ended.ok() ? handshake_->take(bytes) : handshake_->ended(ended.message());
  // An authenticated reason names the hop that failed, so it is passed on unchanged; all other reasons get this hop's
  // names.
  if (ends_flow(status) || refused_for_room(status)) return finish(status);
  if (was_received(status)) return finish(refused(status));
  if (!status.ok()) return finish(failed(status));
  if (handshake_->may_open()) return send_setup();
  if (handshake_->answered()) return answered();
  read_on();
}

absl::Status HopDial::refused(const absl::Status& status) const {
  if (setup_.purpose != SetupPurpose::kView) return absl::UnavailableError(status.message());
  if (cause_of(status) != RefusalCause::kUnknownPurpose) {
    return with_cause(absl::UnavailableError(status.message()), cause_of(status));
  }
  return with_cause(
      absl::UnavailableError(absl::StrCat("node ", hop().to_node, " runs an earlier version, which answers no views")),
      setup_.last_hop() ? RefusalCause::kOldEnd : RefusalCause::kOldRelay);
}

void HopDial::answered() {
  if (setup_.purpose == SetupPurpose::kView) {
    const std::span<const std::byte> body = handshake_->answer_body();
    OpenHop answer;
    answer.document.assign(reinterpret_cast<const char*>(body.data()), body.size());
    return finish(std::move(answer));
  }
  const absl::StatusOr<SetupAnswer> answer = decode_setup_answer(handshake_->answer(), handshake_->answer_body());
  if (!answer.ok()) return finish(failed(absl::StatusCode::kUnavailable, answer.status().message()));
  std::uint32_t chunk_bytes = setup_.chunk_bytes;
  if (answer->chunk_bytes != 0) chunk_bytes = std::min(chunk_bytes, answer->chunk_bytes);
  absl::StatusOr<TransportChoice> settled =
      means_.transports.settle(setup_, *connection_, *answer, std::move(offered_));
  if (!settled.ok()) return finish(failed(settled.status()));
  chunk_bytes = std::min(chunk_bytes, settled->end->max_chunk_bytes());
  finish(OpenHop{std::move(connection_), *std::move(settled), chunk_bytes});
}

void HopDial::finish(absl::StatusOr<OpenHop> result) {
  limit_.reset();
  next_.reset();
  attempt_.reset();
  connection_.reset();
  offered_ = {};
  std::exchange(done_, nullptr)(std::move(result));
}

}  // namespace cableway
