// Exit statuses of `cableway`. A script can distinguish "there is no node" from "the node does not answer".
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_EXIT_STATUS_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_EXIT_STATUS_H_

#include "absl/status/status.h"

namespace cableway::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;      // invalid topology file, unknown node, request refused by the node
inline constexpr int kNotUsable = 2;   // invalid arguments or CABLEWAY_ settings
inline constexpr int kNoNode = 3;      // no node runs here
inline constexpr int kNoAnswer = 4;    // a node runs here but did not answer in time
inline constexpr int kJobEnded = 5;    // of sim: a cut cable ended the job
inline constexpr int kLosesPaths = 6;  // of drain: two nodes would have no path left
// Of doctor.
inline constexpr int kWarnings = 1;
inline constexpr int kErrors = 2;

// The exit status of a failed command: NotFound is kNoNode, DeadlineExceeded is kNoAnswer, as ask_node() returns them.
inline int exit_status_of(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kNotFound:
      return kNoNode;
    case absl::StatusCode::kDeadlineExceeded:
      return kNoAnswer;
    default:
      return kFailed;
  }
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_EXIT_STATUS_H_
