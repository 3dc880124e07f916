#include "nccl_adapter/process/first_failure.h"

#include "absl/strings/str_cat.h"

namespace cableway::nccl {
namespace {

constexpr char kBefore[] = "; the job's first failure: ";

}  // namespace

void FirstFailure::note(const std::string& failure, Instant now) {
  if (failure.empty() || !text(now).empty()) return;
  const std::size_t told = failure.find(kBefore);
  failure_ = told == std::string::npos ? failure : failure.substr(told + sizeof kBefore - 1);
  since_ = now;
}

std::string FirstFailure::text(Instant now) const {
  if (failure_.empty() || now - since_ >= kRemembered) return "";
  return absl::StrCat(kBefore, failure_);
}

}  // namespace cableway::nccl
