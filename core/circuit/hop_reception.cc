#include "core/circuit/hop_reception.h"

#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/hop_names.h"
#include "core/flow/chunk_link.h"
#include "routing/topology/port_address.h"

namespace cableway {
namespace {

// Ignores scopes: they are interface names, which differ on the two ends.
bool same_address(const std::string& left, const std::string& right) {
  absl::StatusOr<routing::PortAddress> a = routing::parse_port_address(left);
  absl::StatusOr<routing::PortAddress> b = routing::parse_port_address(right);
  if (!a.ok() || !b.ok()) return false;
  a->scope.clear();
  b->scope.clear();
  return *a == *b;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SetupConnection>> ArrivedSetup::accept(const SetupAnswer& answer) && {
  std::vector<std::byte> bytes = encode_setup_answer(answer);
  if (seal_) seal_->append_next(bytes);
  if (!connection_->send_first(bytes).ok())
    return absl::CancelledError("the peer closed the connection during the set-up");
  return std::move(connection_);
}

ArrivedSetup::Documented ArrivedSetup::with_document(absl::string_view document) && {
  const FrameBytes header =
      encode_frame(Frame{FrameKind::kDocument, static_cast<std::uint32_t>(document.size()), 0, 0, 0});
  std::vector<std::byte> bytes(header.begin(), header.end());
  const auto text = std::as_bytes(std::span(document.data(), document.size()));
  bytes.insert(bytes.end(), text.begin(), text.end());
  if (seal_) seal_->append_next(bytes);
  return {std::move(connection_), std::move(bytes)};
}

void ArrivedSetup::refuse(const absl::Status& reason, FailureScope scope) && {
  // Where an earlier version asks for something else, it expects no cause.
  const bool is_view = setup_.purpose == SetupPurpose::kView;
  connection_->end_with(refusal(reason.message(), scope, seal_, is_view ? cause_of(reason) : RefusalCause::kOther));
}

void ArrivedProbe::refuse(absl::string_view reason) && {
  connection->end_with(refusal(reason, FailureScope::kCircuit, seal));
}

HopReception::HopReception(Clock& clock, std::unique_ptr<SetupConnection> connection, SetupKeys keys,
                           const Challenge& challenge)
    : clock_(clock), connection_(std::move(connection)), handshake_(std::move(keys), challenge) {}

void HopReception::start(Duration limit, Done done) {
  done_ = std::move(done);
  limit_ = clock_.call_after(limit, [this, limit] {
    refuse(absl::DeadlineExceededError(
        absl::StrCat("no complete set-up within ", limit / std::chrono::milliseconds(1), " ms")));
  });
  // If this fails, the read below also fails.
  if (const std::vector<std::byte> challenge = handshake_.begin(); !challenge.empty()) {
    connection_->send_first(challenge).IgnoreError();
  }
  read_on();
}

void HopReception::read_on() {
  connection_->read(handshake_.bytes_needed(),
                    [this](const absl::Status& ended, std::span<const std::byte> bytes) { have(ended, bytes); });
}

void HopReception::have(const absl::Status& ended, std::span<const std::byte> bytes) {
  begun_ = begun_ || ended.ok();
  const absl::Status status = ended.ok() ? handshake_.take(bytes) : handshake_.ended(ended.message());
  if (!status.ok()) return refuse(status);
  handshake_.opened() ? opened() : read_on();
}

void HopReception::opened() {
  if (handshake_.opening().kind == FrameKind::kProbe) {
    absl::StatusOr<ProbeOpening> opening = decode_probe(handshake_.opening(), handshake_.opening_body());
    if (!opening.ok()) return refuse(opening.status());
    return finish(ArrivedProbe{std::move(connection_), *std::move(opening), handshake_.release_seal()});
  }
  absl::StatusOr<CircuitSetup> setup = decode_circuit_setup(handshake_.opening_body());
  absl::Status status = setup.status();
  if (absl::IsUnimplemented(status)) status = with_cause(std::move(status), RefusalCause::kUnknownPurpose);
  if (status.ok()) status = check_cable(*setup);
  if (!status.ok()) return refuse(status);
  finish(ArrivedSetup(std::move(connection_), *std::move(setup), handshake_.release_seal()));
}

// A set-up must arrive over the cable it names: from one address of that cable to the other.
absl::Status HopReception::check_cable(const CircuitSetup& setup) const {
  const Hop& hop = setup.this_hop();
  const std::string from = connection_->other_address();
  const std::string to = connection_->own_address();
  if (same_address(hop.from_address, from) && same_address(hop.to_address, to)) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("a set-up for cable ", hop.cable, " from ", hop.from_address, " to ",
                                                  hop.to_address, " came from ", from, " to ", to));
}

void HopReception::refuse(const absl::Status& reason) {
  std::optional<CircuitSeal> seal = handshake_.release_seal();  // none if the dialer is not authenticated
  connection_->end_with(refusal(reason.message(), FailureScope::kCircuit, seal, cause_of(reason)));
  finish(reason);
}

void HopReception::finish(absl::StatusOr<std::variant<ArrivedSetup, ArrivedProbe>> result) {
  limit_.reset();
  connection_.reset();
  std::exchange(done_, nullptr)(std::move(result));
}

absl::StatusOr<OpenHop> accept_hop(ArrivedSetup arrived, const TransportNegotiator& transports,
                                   const Prepare& prepare) {
  const CircuitSetup& setup = arrived.setup();
  std::uint32_t chunk_bytes = setup.chunk_bytes;
  absl::StatusOr<TransportNegotiator::Joined> joined = transports.join(setup, arrived.connection());
  absl::Status status = found_at(to_text(accepting_end(setup, setup.hop)), joined.status());
  FailureScope scope = FailureScope::kCircuit;
  if (joined.ok() && prepare) {
    const absl::StatusOr<std::uint32_t> accepted = prepare(*joined->choice.end);
    status = accepted.status();
    if (absl::IsResourceExhausted(status)) scope = FailureScope::kBusy;
    if (accepted.ok()) chunk_bytes = std::min(chunk_bytes, *accepted);
  }
  if (!status.ok()) {
    std::move(arrived).refuse(status, scope);
    return status;
  }
  chunk_bytes = std::min(chunk_bytes, joined->choice.end->max_chunk_bytes());
  const SetupAnswer answer{chunk_bytes < setup.chunk_bytes ? chunk_bytes : 0, std::move(joined->answer)};
  absl::StatusOr<std::unique_ptr<SetupConnection>> connection = std::move(arrived).accept(answer);
  if (!connection.ok()) return connection.status();
  return OpenHop{*std::move(connection), std::move(joined->choice), chunk_bytes};
}

}  // namespace cableway
