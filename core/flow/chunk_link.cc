#include "core/flow/chunk_link.h"

#include "absl/strings/str_cat.h"

namespace cableway {

void end_hop(ChunkLink& link, absl::string_view where, const absl::Status& reason) {
  if (absl::IsAborted(reason) || absl::IsCancelled(reason)) return link.fence();
  link.fail(where.empty() ? std::string(reason.message()) : absl::StrCat(where, ": ", reason.message()));
}

}  // namespace cableway
