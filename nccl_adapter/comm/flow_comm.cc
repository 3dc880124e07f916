#include "nccl_adapter/comm/flow_comm.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::nccl {

FlowComm::FlowComm(Context& context, std::unique_ptr<host::HopLink> hop, Names names, Log log)
    : circuits_(circuit_of(std::move(hop), std::move(names.end))),
      memory_(hops_of(circuits_), this),
      context_(context),
      flow_(std::move(names.flow)),
      log_(log) {
  for (Request& request : messages_) request.comm = this;
  for (Request& request : flushes_) {
    request.comm = this;
    request.flushes = true;
  }
}

std::vector<FlowComm::Circuit> FlowComm::circuit_of(std::unique_ptr<host::HopLink> hop, HopEnd end) {
  std::vector<Circuit> circuits;
  const std::string text = to_text(end);
  circuits.push_back({std::move(hop), std::move(end), text});
  return circuits;
}

std::vector<const host::HopLink*> FlowComm::hops_of(const std::vector<Circuit>& circuits) {
  std::vector<const host::HopLink*> hops;
  hops.reserve(circuits.size());
  for (const Circuit& circuit : circuits) hops.push_back(circuit.hop.get());
  return hops;
}

absl::StatusOr<MemoryRegion*> FlowComm::register_memory(const NamedMemory& memory) {
  const std::lock_guard lock(mutex_);
  absl::StatusOr<MemoryRegion*> region = memory_.add(memory, receives());
  if (!region.ok()) return named(region.status());
  return region;
}

absl::Status FlowComm::deregister_memory(MemoryRegion* region) {
  const std::lock_guard lock(mutex_);
  if (!memory_.holds(region)) {
    return named(absl::InvalidArgumentError("deregMr of memory that is not registered on it"));
  }
  if (region->in_flight > 0) {
    static_cast<void>(fail(absl::AbortedError("its memory was deregistered while in use")));
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
    return absl::InvalidArgumentError(absl::StrCat(flow_, ": test of a request that is already done"));
  }
  return request->flushes ? test_flush(*request) : test_message(*request);
}

absl::StatusOr<Completion> FlowComm::test_message(Request& request) {
  // What was done before the flow failed remains done.
  if (!done(request.number) && failure_.ok()) {
    if (absl::Status status = progress(); !status.ok()) static_cast<void>(fail(status));
  }
  if (done(request.number)) {
    release(request);
    return Completion{true, size(request.number)};
  }
  if (!failure_.ok()) return failure_;
  return Completion{};
}

// Independent of the flow's state, which may have ended normally after its last message: a flush is between device and
// GPU.
absl::StatusOr<Completion> FlowComm::test_flush(Request& request) {
  const absl::StatusOr<bool> flushed = memory_.flushed(request.number);
  if (!flushed.ok()) return named(flushed.status());
  if (*flushed) release(request);
  return Completion{*flushed, 0};
}

std::vector<host::UniqueFd> FlowComm::close() {
  const std::lock_guard lock(mutex_);
  // Sends the last acknowledgements before the connection is shut down.
  if (failure_.ok()) static_cast<void>(progress());
  if (failure_.ok()) failure_ = absl::AbortedError(absl::StrCat(flow_, " is closed"));
  memory_.end_flushes();
  return take_sockets();
}

std::vector<host::UniqueFd> FlowComm::take_sockets() {
  std::vector<host::UniqueFd> sockets;
  for (const Circuit& circuit : circuits_) sockets.push_back(circuit.hop->take_socket());
  return sockets;
}

std::vector<host::UniqueFd> FlowComm::abandon() {
  const std::lock_guard lock(mutex_);
  static_cast<void>(fail(absl::AbortedError("its communicator was finalized before it was closed")));
  memory_.end_flushes();
  return take_sockets();
}

void FlowComm::check() {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return;
  for (const Circuit& circuit : circuits_) {
    if (absl::Status found = circuit.hop->check(); !found.ok()) static_cast<void>(fail(found));
  }
}

void FlowComm::lose_port(const PortLost& lost) {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return;
  for (const Circuit& circuit : circuits_) {
    const bool uses_it = !lost.only_rdma || circuit.hop->registrar() != nullptr;
    if (uses_it && is_at(circuit.end, lost.interface)) static_cast<void>(fail(absl::UnavailableError(lost.reason)));
  }
}

void FlowComm::poll_if_idle() {
  // Over TCP there is nothing to answer, and each poll is a system call.
  const auto needs_polls = [](const Circuit& circuit) { return circuit.hop->needs_idle_polls(); };
  if (std::none_of(circuits_.begin(), circuits_.end(), needs_polls)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !failure_.ok() || !idle()) return;
  if (absl::Status status = progress(); !status.ok()) static_cast<void>(fail(status));
}

std::string FlowComm::failure() {
  const std::lock_guard lock(mutex_);
  return failed_busy_ ? std::string(failure_.message()) : "";
}

Request* FlowComm::take(Requests& requests, std::uint64_t number, MemoryRegion* region) {
  // A flow stores a message's state in the same entry of a ring of the same length, so a request that is done but not
  // yet tested keeps that entry in use, too.
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
  if (!failure_.ok()) return failure_;
  const absl::StatusCode code = absl::IsInvalidArgument(reason) ? absl::StatusCode::kUnavailable : reason.code();
  // A failure found here concerns the hop. A reason received from the peer names the party at fault itself, and a
  // failure of this side's caller concerns no hop.
  const bool about_hop = !absl::IsAborted(reason) && !absl::IsOutOfRange(reason);
  const Circuit& where = circuits_.front();
  const std::string found = absl::StrCat(about_hop ? absl::StrCat(where.end_text, ": ") : "", reason.message());
  failure_ = absl::Status(code, absl::StrCat(flow_, " failed: ", found));
  // Without the flow's name: the peer has the path, and a failure frame holds only a reason.
  const std::string to_peer = about_hop ? found : absl::StrCat("node ", where.end.node, ": ", found);
  for (const Circuit& circuit : circuits_) circuit.hop->link().fail(to_peer);
  // When the peer closes an idle flow, the job has ended normally.
  failed_busy_ = failure_logged_ = !idle();
  if (failure_logged_) log_.warn(std::string(failure_.message()));
  return failure_;
}

absl::Status FlowComm::named(const absl::Status& status) const {
  return absl::Status(status.code(), absl::StrCat(flow_, ": ", status.message()));
}

void FlowComm::log_failure(const absl::Status& reason) {
  const std::lock_guard lock(mutex_);
  if (reason == failure_) {
    failed_busy_ = true;  // it was idle when it failed, and is now in use
    if (std::exchange(failure_logged_, true)) return;
  }
  log_.warn(std::string(reason.message()));
}

}  // namespace cableway::nccl
