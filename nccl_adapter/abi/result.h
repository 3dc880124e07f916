// The only mapping of absl statuses to NCCL's results.
#ifndef CABLEWAY_NCCL_ADAPTER_ABI_RESULT_H_
#define CABLEWAY_NCCL_ADAPTER_ABI_RESULT_H_

#include "absl/status/status.h"
#include "nccl_adapter/abi/net_abi_types.h"

namespace cableway::nccl {

inline abi::Result to_result(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return abi::kSuccess;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return abi::kInvalidArgument;
    case absl::StatusCode::kFailedPrecondition:
      return abi::kInvalidUsage;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kNotFound:  // ends_flow(): the other end has given up the flow
    case absl::StatusCode::kCancelled:
      return abi::kRemoteError;
    case absl::StatusCode::kInternal:
      return abi::kInternalError;
    default:
      return abi::kSystemError;
  }
}

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_ABI_RESULT_H_
