// The journal of `cableway up`: how to take each step back. It is written before a step is taken, so that one that is
// interrupted can be taken back, too.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_JOURNAL_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_JOURNAL_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cableway/system/host_root.h"
#include "tools/cableway/up/change.h"

namespace cableway::cli {

inline constexpr char kJournalPath[] = "/var/lib/cableway/up.json";
inline constexpr char kUpLockPath[] = "/run/cableway-up.lock";  // held while the host is examined and changed

struct FileRecord {
  std::string path;
  std::optional<HostFile> before;    // nullopt: there was none
  std::string after;                 // text_digest() of what the step writes: the journal has no secret of its own
  std::vector<std::string> folders;  // that the step creates, outermost first
  PlanPart part = {};
};

struct ValueRecord {
  std::string path;
  std::string before;
  std::string after;
  PlanPart part = {};
};

struct CommandRecord {
  std::vector<std::string> undo;
  PlanPart part = {};
};

using Record = std::variant<FileRecord, ValueRecord, CommandRecord>;

struct Journal {
  std::vector<Record> records;       // in the order of the steps, of all runs since the last --undo
  std::vector<std::string> folders;  // created for the journal itself
  bool restart_due = false;          // the settings have changed, and the node has not been started again since
};

// 32 hex digits.
std::string text_digest(const std::string& text);

// Pure. FailedPrecondition: it is not a journal.
std::string journal_text(const Journal& journal);
absl::StatusOr<Journal> parse_journal(const std::string& text);

// Empty if there is none. Errors of HostRoot::read_own(), since --undo runs what it names, and of parse_journal().
absl::StatusOr<Journal> read_journal(const HostRoot& root);
// For root alone. An empty journal is removed with its folders.
absl::Status write_journal(const HostRoot& root, const Journal& journal);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_JOURNAL_H_
