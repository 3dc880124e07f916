#include "nccl_adapter/process/first_failure.h"

#include "absl/strings/str_cat.h"

namespace cableway::nccl {
namespace {

constexpr char kBefore[] = "; the job's first failure: ";

}  // namespace

void FirstFailure::note(const std::string& failure, const std::string& told, Instant now) {
  if (failure.empty() || !text(now).empty()) return;
  const std::size_t named = told.find(kBefore);
  failure_ = named == std::string::npos ? failure : told.substr(named + sizeof kBefore - 1);
  since_ = now;
}

std::string FirstFailure::text(Instant now) const {
  if (failure_.empty() || now - since_ >= kRemembered) return "";
  return absl::StrCat(kBefore, failure_);
}

}  // namespace cableway::nccl
