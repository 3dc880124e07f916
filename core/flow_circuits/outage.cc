#include "core/flow_circuits/outage.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/chunk_link.h"

namespace cableway {

void Outage::began(const absl::Status& cause) {
  cause_ = cause;
  failed_since_ = absl::OkStatus();
  doubted_ = false;
}

Outage::Verdict Outage::failed(const absl::Status& reason) {
  if (ends_flow(reason)) return std::exchange(doubted_, true) ? Verdict::kOver : Verdict::kConfirm;
  doubted_ = false;
  failed_since_ = reason;
  return Verdict::kGoOn;
}

bool Outage::lasts_too_long(Instant now, bool waits, std::uint64_t arrived) {
  if (std::exchange(arrived_, arrived) != arrived || !waits) since_.reset();
  if (!waits) return false;
  if (!since_.has_value()) since_ = now;
  return now - *since_ >= limit_;
}

absl::Status Outage::forgotten(const absl::Status& reason) const {
  if (!says_peer_closed(cause_)) {
    return absl::Status(reason.code(), absl::StrCat(cause_.message(), "; ", reason.message()));
  }
  return absl::Status(reason.code(), absl::StrCat("its other end has ended (seen here as: ", cause_.message(),
                                                  "): ", reason.message()));
}

absl::Status Outage::too_long() const {
  const double seconds = std::chrono::duration<double>(limit_).count();
  std::string text = absl::StrCat(cause_.message(), "; no other path to node ", other_node_, " within ", seconds, " s");
  if (!failed_since_.ok()) absl::StrAppend(&text, " (last: ", failed_since_.message(), ")");
  return absl::Status(cause_.code(), text);
}

}  // namespace cableway
