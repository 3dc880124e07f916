#include "core/flow/chunk_link.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cableway {

bool says_peer_closed(const absl::Status& status) {
  return absl::StrContains(status.message(), kPeerClosed);
}

bool says_source_closed(const absl::Status& status) {
  return absl::StrContains(status.message(), absl::StrCat(kPeerClosed, kPeerIsSource));
}

absl::Status received_failure(FailureScope scope, absl::string_view reason) {
  return scope == FailureScope::kFlow ? absl::NotFoundError(reason) : absl::AbortedError(reason);
}

bool was_received(const absl::Status& status) {
  return absl::IsAborted(status) || ends_flow(status);
}

bool ends_flow(const absl::Status& status) {
  return absl::IsNotFound(status);
}

FailureScope scope_of(const absl::Status& status) {
  return ends_flow(status) ? FailureScope::kFlow : FailureScope::kCircuit;
}

absl::Status found_at(absl::string_view where, const absl::Status& reason) {
  if (where.empty() || was_received(reason)) return reason;
  return absl::Status(reason.code(), absl::StrCat(where, ": ", reason.message()));
}

void end_hop(ChunkLink& link, absl::string_view where, const absl::Status& reason) {
  if (ends_flow(reason)) return link.fail(reason.message(), FailureScope::kFlow);
  if (was_received(reason) || absl::IsCancelled(reason)) return link.fence();
  link.fail(found_at(where, reason).message(), FailureScope::kCircuit);
}

}  // namespace cableway
