// Takes the steps of `cableway up`, and takes them back.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_APPLY_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_APPLY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cableway/system/host_root.h"
#include "tools/cableway/system/program.h"
#include "tools/cableway/up/change.h"

namespace cableway::cli {

// Stops at the first step that fails, whose reason it returns; the journal has that step and those before.
absl::Status apply_changes(const std::vector<Change>& changes, const HostRoot& root, const ProgramRunner& runner);

struct LeftChange {
  std::string what;  // a path, or a command
  std::string reason;
};

struct UndoReport {
  std::vector<std::string> undone;  // paths and commands, in the order in which they were taken back
  std::vector<LeftChange> left;     // what someone else has changed since, and commands that failed
};

// Takes back all runs since the last call. A file or parameter that has other contents than `cableway up` gave it stays
// as it is, and in the journal. Errors of read_journal() and write_journal().
absl::StatusOr<UndoReport> undo_changes(const HostRoot& root, const ProgramRunner& runner);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_APPLY_H_
