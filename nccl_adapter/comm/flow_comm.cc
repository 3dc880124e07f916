#include "nccl_adapter/comm/flow_comm.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/circuit/hop_names.h"
#include "core/flow/chunk_link.h"
#include "routing/text/node_name.h"

namespace cableway::nccl {

FlowComm::FlowComm(Origin origin, CircuitOwner& flow, bool lands)
    : memory_(this),
      origin_(std::move(origin)),
      circuit_owner_(flow),
      lands_(lands),
      circuits_(flow, memory_, origin_.port_stamps == nullptr ? nullptr : &origin_.port_stamps->page()) {
  for (Request& request : messages_) request.comm = this;
  for (Request& request : flushes_) {
    request.comm = this;
    request.flushes = true;
  }
}

absl::StatusOr<MemoryRegion*> FlowComm::register_memory(const NamedMemory& memory) {
  const std::lock_guard lock(mutex_);
  absl::StatusOr<MemoryRegion*> region = memory_.add(memory, lands_);
  if (!region.ok()) return named(region.status());
  return region;
}

absl::Status FlowComm::deregister_memory(MemoryRegion* region) {
  const std::lock_guard lock(mutex_);
  if (!memory_.holds(region)) {
    return named(absl::InvalidArgumentError("deregMr of memory that is not registered on it"));
  }
  if (region->in_flight > 0) {
    // Without a circuit, the lost path is the cause, so the reason begins with it.
    const bool is_cut_off = circuits_.joined() > 0 && circuit_owner_.live() == 0;
    const std::string cause = is_cut_off ? absl::StrCat(circuit_owner_.last_end().message(), "; then ") : "";
    static_cast<void>(fail(absl::AbortedError(absl::StrCat(cause, "its memory was deregistered while in use"))));
    memory_.end_flushes();
    for (Requests* requests : {&messages_, &flushes_}) {
      for (Request& request : *requests) {
        if (request.active && request.region == region) request.region = nullptr;
      }
    }
  }
  memory_.remove(region);
  return absl::OkStatus();
}

absl::StatusOr<Completion> FlowComm::test(Request* request) {
  const std::lock_guard lock(mutex_);
  if (!request->active) {
    return absl::InvalidArgumentError(absl::StrCat(name(), ": test of a request that is already done"));
  }
  return request->flushes ? test_flush(*request) : test_message(*request);
}

absl::StatusOr<Completion> FlowComm::test_message(Request& request) {
  // Messages that were done before the flow failed remain done.
  if (!circuit_owner_.done(request.number) && failure_.ok()) progress_in_loop().IgnoreError();
  if (circuit_owner_.done(request.number)) {
    release(request);
    return Completion{true, circuit_owner_.size(request.number)};
  }
  if (!failure_.ok()) return own_failure();
  return Completion{};
}

absl::Status FlowComm::progress_in_loop() {
  // A flow with one circuit polls it in every call, so the clock need not be read.
  return noted(circuits_.joined() > 1 ? circuit_owner_.progress_in_loop(now()) : circuit_owner_.progress());
}

absl::Status FlowComm::noted(const absl::Status& progress) {
  note_ended();
  note_moved();
  return progress.ok() ? progress : fail(progress);
}

void FlowComm::note_ended() {
  if (ended_seen_ == circuit_owner_.circuits_ended()) return;
  ended_seen_ = circuit_owner_.circuits_ended();
  circuits_.note_ended();
  pauses_.circuits_ended(circuit_owner_, now());
  origin_.needs_control(this);
}

// Independent of the flow's state, since the flow may have ended normally after its last message: a flush concerns
// only the device and the GPU.
absl::StatusOr<Completion> FlowComm::test_flush(Request& request) {
  const absl::StatusOr<bool> flushed = memory_.flushed(request.number);
  if (!flushed.ok()) return named(flushed.status());
  if (*flushed) release(request);
  return Completion{*flushed, 0};
}

std::vector<host::UniqueFd> FlowComm::close() {
  const std::lock_guard lock(mutex_);
  // Sends the last acknowledgements before the connections are shut down.
  if (failure_.ok()) circuit_owner_.progress().IgnoreError();
  answers_after_close_ = lands_ && failure_.ok() && circuit_owner_.idle();
  if (failure_.ok()) failure_ = absl::AbortedError(absl::StrCat(name(), " is closed"));
  memory_.end_flushes();
  circuits_.end_all();
  memory_.clear();
  return circuits_.take_sockets();
}

std::vector<host::UniqueFd> FlowComm::abandon(const char* reason) {
  const std::lock_guard lock(mutex_);
  static_cast<void>(fail(absl::AbortedError(reason)));
  memory_.end_flushes();
  circuits_.end_all();
  return circuits_.take_sockets();
}

absl::StatusOr<bool> FlowComm::opened() {
  const std::lock_guard lock(mutex_);
  if (circuits_.joined() > 0) return true;
  if (!failure_.ok()) return own_failure();
  return false;
}

absl::Status FlowComm::join(const CircuitSetup& setup, host::HopConnection connection) {
  HopEnd end = lands_ ? accepting_end(setup, setup.hop) : dialing_end(setup, setup.hop);
  const std::uint32_t chunk_bytes = connection.chunk_bytes;
  const auto place = lands_ ? host::HopPlace::kDestination : host::HopPlace::kSource;
  absl::StatusOr<std::unique_ptr<host::HopLink>> hop = host::make_hop_link(
      std::move(connection), {.place = place, .last_hop = setup.last_hop(), .checksums = origin_.checksums});
  if (!hop.ok()) return found_at(to_text(end), hop.status());
  const std::lock_guard lock(mutex_);
  if (answers_after_close_) return answer_after_close(setup, *std::move(hop), std::move(end));
  if (!failure_.ok()) return own_failure();
  absl::Status joined = circuits_.join(setup, *std::move(hop), std::move(end), chunk_bytes);
  note_ended();
  return joined;
}

absl::Status FlowComm::answer_after_close(const CircuitSetup& setup, std::unique_ptr<host::HopLink> hop, HopEnd end) {
  absl::Status joined = circuits_.join(setup, std::move(hop), std::move(end), setup.chunk_bytes);
  // Sends the last acknowledgement before the end.
  circuit_owner_.progress().IgnoreError();
  circuits_.fail(absl::StrCat("node ", origin_.node, ": this end has closed the flow"));
  circuits_.end_all();
  return joined;
}

void FlowComm::check() {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return;
  circuits_.check();
  note_ended();
}

void FlowComm::lose_port(const PortLost& lost) {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return;
  circuits_.lose_port(lost);
  note_ended();
}

CommCircuits::Ended FlowComm::take_ended() {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return {};
  return circuits_.take_ended();
}

std::vector<host::UniqueFd> FlowComm::take_sockets() {
  const std::lock_guard lock(mutex_);
  return circuits_.take_sockets();
}

std::size_t FlowComm::live() {
  const std::lock_guard lock(mutex_);
  return circuit_owner_.live();
}

bool FlowComm::waits() {
  const std::lock_guard lock(mutex_);
  return !circuit_owner_.idle();
}

std::uint64_t FlowComm::arrived() {
  const std::lock_guard lock(mutex_);
  return circuit_owner_.arrived();
}

void FlowComm::end_circuit(const CircuitName& circuit, const absl::Status& reason) {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return;
  circuit_owner_.end_circuit(circuit, reason);
  note_ended();
}

void FlowComm::end(const absl::Status& reason) {
  const std::lock_guard lock(mutex_);
  static_cast<void>(fail_with(reason, std::string(reason.message())));
}

std::unique_lock<std::mutex> FlowComm::lock_at_leisure(std::size_t& missed) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() && ++missed > kMostLocksMissed) lock.lock();
  if (lock.owns_lock()) missed = 0;
  return lock;
}

void FlowComm::tend() {
  const std::unique_lock<std::mutex> lock = lock_at_leisure(tends_missed_);
  if (!lock.owns_lock() || !failure_.ok()) return;
  if (circuits_.joined() > 1) {
    if (const std::optional<CircuitName> best = circuits_.best(); best.has_value()) prefer(*best);
    circuit_owner_.end_stuck();
    note_ended();
  }
  if (!circuit_owner_.idle()) return;
  // Over TCP there is nothing else to answer, and each poll is a system call.
  if (circuits_.joined() > 1 || circuits_.needs_idle_polls()) progress_idle();
}

void FlowComm::progress_idle() {
  circuits_.look_at_connections();
  noted(circuit_owner_.progress()).IgnoreError();
}

void FlowComm::poll_if_idle() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && failure_.ok() && circuit_owner_.idle()) progress_idle();
}

bool FlowComm::attend() {
  if (!lands_) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return true;
  if (!failure_.ok() || circuits_.joined() < 2) return false;
  const Instant now = FlowComm::now();
  const std::uint64_t used = circuit_owner_.traffic().chunks() + circuits_.joined();
  if (std::exchange(used_, used) != used) used_at_ = now;
  if (circuit_owner_.idle()) progress_idle();
  return now - used_at_ < kAttended;
}

std::optional<FlowActivity> FlowComm::take_activity() {
  const std::unique_lock<std::mutex> lock = lock_at_leisure(takes_missed_);
  if (!lock.owns_lock() || !failure_.ok()) return std::nullopt;
  FlowActivity activity{circuit_owner_.traffic(),
                        circuit_owner_.carrier(),
                        circuits_.live(),
                        pauses_.take(circuit_owner_.traffic(), now()),
                        {},
                        circuit_owner_.loads(),
                        circuits_.counted()};
  const bool waits = circuits_.joined() > 0 && circuit_owner_.live() == 0 && !circuit_owner_.idle();
  if (waits) activity.waits = std::string(circuit_owner_.last_end().message());
  return activity;
}

std::string FlowComm::failure() {
  const std::lock_guard lock(mutex_);
  return failed_busy_ ? std::string(failure_.message()) : "";
}

std::string FlowComm::reason_for_peer() {
  const std::lock_guard lock(mutex_);
  return reason_for_peer_;
}

bool FlowComm::has_failed() {
  const std::lock_guard lock(mutex_);
  return !failure_.ok() && !answers_after_close_;
}

bool FlowComm::answers_after_close() {
  const std::lock_guard lock(mutex_);
  return answers_after_close_;
}

Request* FlowComm::take(Requests& requests, std::uint64_t number, MemoryRegion* region) {
  // A flow stores a message's state in the same entry of a ring of the same length. So a request that is done but not
  // yet tested also keeps that entry in use.
  Request& request = requests[number % requests.size()];
  if (request.active) return nullptr;
  request.number = number;
  request.region = region;
  request.active = true;
  if (region != nullptr) ++region->in_flight;
  return &request;
}

void FlowComm::release(Request& request) {
  request.active = false;
  if (request.region != nullptr) --request.region->in_flight;
  request.region = nullptr;
}

absl::Status FlowComm::check_buffer(const void* data, std::size_t bytes, const MemoryRegion* region) const {
  if (bytes == 0) return absl::OkStatus();
  if (region == nullptr || region->comm != this || !region->contains(data, bytes)) {
    return named(absl::InvalidArgumentError(
        absl::StrCat("a buffer of ", bytes, " bytes is not inside the memory registered for it")));
  }
  return absl::OkStatus();
}

absl::Status FlowComm::fail(const absl::Status& reason) {
  if (!ends_flow(reason)) return fail_with(reason, absl::StrCat("node ", origin_.node, ": ", reason.message()));
  // A received reason names the party at fault itself, in words that must not pass for this node's.
  const std::string words(reason.message());
  return fail_with(absl::Status(reason.code(), routing::in_quotes(words, words.size())), words);
}

// `to_peer` does not contain the flow's name: the peer knows the path, and a failure frame has room only for a
// reason.
absl::Status FlowComm::fail_with(const absl::Status& reason, const std::string& to_peer) {
  if (!failure_.ok()) return own_failure();
  const absl::StatusCode code = absl::IsInvalidArgument(reason) ? absl::StatusCode::kUnavailable : reason.code();
  const bool opened = circuits_.joined() > 0;
  failure_ =
      absl::Status(code, opened ? absl::StrCat(name(), " failed: ", reason.message()) : std::string(reason.message()));
  reason_for_peer_ = to_peer;
  circuits_.fail(to_peer);
  // When the peer closes an idle flow, the job has ended normally.
  failed_busy_ = failure_logged_ = !circuit_owner_.idle();
  if (failure_logged_) origin_.log.warn(std::string(failure_.message()));
  origin_.needs_control(this);  // all circuits have ended
  return own_failure();
}

std::string FlowComm::name() const {
  return circuits_.path().empty() ? origin_.flow : absl::StrCat(origin_.flow, " (", circuits_.path(), ")");
}

absl::Status FlowComm::named(const absl::Status& status) const {
  return absl::Status(status.code(), absl::StrCat(name(), ": ", status.message()));
}

void FlowComm::log_failure(const absl::Status& reason) {
  const std::lock_guard lock(mutex_);
  if (reason == failure_) {
    failed_busy_ = true;  // the flow was idle when it failed, and is now in use
    if (std::exchange(failure_logged_, true)) return;
  }
  origin_.log.warn(std::string(reason.message()));
}

}  // namespace cableway::nccl
