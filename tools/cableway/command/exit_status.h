// Exit statuses of `cableway`. A script can tell "there is no node" from "the node does not answer".
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_EXIT_STATUS_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_EXIT_STATUS_H_

#include "absl/status/status.h"

namespace cableway::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;     // a file that is no topology, a node that is not in it, a node that refuses
inline constexpr int kNotUsable = 2;  // arguments or CABLEWAY_ settings that make no sense
inline constexpr int kNoNode = 3;     // no node runs here
inline constexpr int kNoAnswer = 4;   // a node runs here and has not answered in time
inline constexpr int kJobEnded = 5;   // of sim: a cable that was cut has ended the job
// Of doctor.
inline constexpr int kWarnings = 1;
inline constexpr int kErrors = 2;

// Of a command that has failed so: NotFound is kNoNode, DeadlineExceeded kNoAnswer, as ask_node() has them.
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
