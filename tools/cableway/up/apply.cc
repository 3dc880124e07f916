#include "tools/cableway/up/apply.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/cableway/up/journal.h"
#include "tools/cableway/up/up_facts.h"

namespace cableway::cli {
namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::minutes kLongestCommand{2};  // a node that starts waits for nothing; netplan may for interfaces

absl::Status run_words(const Words& words, const ProgramRunner& runner) {
  const ProgramCall call{.words = words, .input = "", .deadline = kLongestCommand};
  const ProgramEnd end = runner(call);
  return end.succeeded() ? absl::OkStatus() : absl::FailedPreconditionError(failure_text(call, end));
}

class Undoing {
 public:
  Undoing(const HostRoot& root, const ProgramRunner& runner) : root_(root), runner_(runner) {}

  // Whether the record is done with; else it stays in the journal.
  bool take_back(const FileRecord& record) {
    const absl::StatusOr<std::optional<HostFile>> now = root_.read(record.path);
    if (!now.ok()) return leave(record.path, std::string(now.status().message()));
    if (*now != record.before) {
      const bool is_ours = *now && text_digest((*now)->text) == record.after;
      if (!is_ours) return leave(record.path, *now ? "was changed since" : "was removed since");
      const absl::Status status = record.before ? root_.write(record.path, *record.before) : root_.remove(record.path);
      if (!status.ok()) return leave(record.path, std::string(status.message()));
      report_.undone.push_back(record.path);
    }
    for (auto folder = record.folders.rbegin(); folder != record.folders.rend(); ++folder) {
      root_.remove_empty_folder(*folder);
    }
    return true;
  }

  bool take_back(const ValueRecord& record) {
    const std::optional<std::string> now = root_.read_value(record.path);
    if (!now || *now == record.before) return true;
    if (*now != record.after) return leave(record.path, "was changed since");
    if (absl::Status status = root_.write_value(record.path, record.before); !status.ok()) {
      return leave(record.path, std::string(status.message()));
    }
    report_.undone.push_back(record.path);
    return true;
  }

  // One that fails is reported and not tried again: what it names may be gone.
  bool take_back(const CommandRecord& record) {
    const std::string text = absl::StrJoin(record.undo, " ");
    if (absl::Status status = run_words(record.undo, runner_); !status.ok()) {
      leave(text, std::string(status.message()));
    } else {
      report_.undone.push_back(text);
    }
    return true;
  }

  UndoReport report() && { return std::move(report_); }

 private:
  bool leave(const std::string& what, const std::string& reason) {
    report_.left.push_back({what, reason});
    return false;
  }

  const HostRoot& root_;
  const ProgramRunner& runner_;
  UndoReport report_;
};

class Application {
 public:
  Application(const HostRoot& root, const ProgramRunner& runner, Journal journal)
      : root_(root), runner_(runner), journal_(std::move(journal)) {}

  absl::Status take(const FileChange& change, const PlanPart& part) {
    const absl::StatusOr<std::optional<HostFile>> before = root_.read(change.path);
    if (!before.ok()) return before.status();
    journal_.restart_due |= change.path == kSettingsPath;
    absl::Status noted = note(
        FileRecord{change.path, *before, text_digest(change.wanted.text), root_.missing_folders(change.path), part});
    if (!noted.ok()) return noted;
    if (absl::Status status = root_.write(change.path, change.wanted); !status.ok()) return status;
    return join_with_earlier() ? write_journal(root_, journal_) : absl::OkStatus();
  }

  absl::Status take(const ValueChange& change, const PlanPart& part) {
    const std::optional<std::string> before = root_.read_value(change.path);
    if (!before) return absl::OkStatus();  // an interface may go at any time
    const absl::Status noted = note(ValueRecord{change.path, *before, change.wanted, part});
    return noted.ok() ? root_.write_value(change.path, change.wanted) : noted;
  }

  absl::Status take(const CommandChange& change, const PlanPart& part) {
    if (!change.undo.empty()) {
      if (absl::Status status = note(CommandRecord{change.undo, part}); !status.ok()) return status;
    }
    if (change.run.empty()) return absl::OkStatus();
    if (absl::Status status = run_words(change.run, runner_); !status.ok()) return status;
    if (!change.starts_node || !journal_.restart_due) return absl::OkStatus();
    journal_.restart_due = false;
    return write_journal(root_, journal_);
  }

  // Later records come first: the places of earlier ones stay.
  absl::Status take(const TakenBack& change, const PlanPart& part) {
    if (change.record >= journal_.records.size()) return absl::InternalError("the journal has changed");
    if (change.is_there) {
      Undoing undoing(root_, runner_);
      std::visit([&](const auto& each) { undoing.take_back(each); }, journal_.records[change.record]);
      const UndoReport report = std::move(undoing).report();
      if (!report.left.empty()) {
        return absl::FailedPreconditionError(
            absl::StrCat(part.name, ", of an earlier plan, stays: ", report.left[0].what, ": ", report.left[0].reason));
      }
    }
    journal_.records.erase(journal_.records.begin() + static_cast<std::ptrdiff_t>(change.record));
    return write_journal(root_, journal_);
  }

 private:
  // Makes one record of the newest, of a file, and an earlier one that wrote what the newest has replaced, so that a
  // journal does not grow with the number of runs. Returns whether there was one.
  bool join_with_earlier() {
    const auto& newest = std::get<FileRecord>(journal_.records.back());
    if (!newest.before) return false;
    const std::string replaced = text_digest(newest.before->text);
    for (std::size_t i = 0; i + 1 < journal_.records.size(); ++i) {
      auto* const earlier = std::get_if<FileRecord>(&journal_.records[i]);
      if (earlier == nullptr || earlier->path != newest.path || earlier->after != replaced) continue;
      earlier->after = newest.after;
      journal_.records.pop_back();
      return true;
    }
    return false;
  }

  absl::Status note(Record record) {
    if (journal_.records.empty()) journal_.folders = root_.missing_folders(kJournalPath);
    journal_.records.push_back(std::move(record));
    return write_journal(root_, journal_);
  }

  const HostRoot& root_;
  const ProgramRunner& runner_;
  Journal journal_;
};

}  // namespace

absl::Status apply_changes(const std::vector<Change>& changes, const HostRoot& root, const ProgramRunner& runner) {
  absl::StatusOr<Journal> journal = read_journal(root);
  if (!journal.ok()) return journal.status();
  Application application(root, runner, *std::move(journal));
  for (const Change& change : changes) {
    absl::Status status =
        std::visit([&](const auto& action) { return application.take(action, change.part); }, change.action);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<UndoReport> undo_changes(const HostRoot& root, const ProgramRunner& runner) {
  absl::StatusOr<Journal> journal = read_journal(root);
  if (!journal.ok()) return journal.status();
  if (journal->records.empty()) return UndoReport{};
  Undoing undoing(root, runner);
  Journal kept{.records = {}, .folders = journal->folders, .restart_due = false};
  for (auto record = journal->records.rbegin(); record != journal->records.rend(); ++record) {
    if (!std::visit([&](const auto& each) { return undoing.take_back(each); }, *record))
      kept.records.push_back(*record);
  }
  std::reverse(kept.records.begin(), kept.records.end());
  if (absl::Status status = write_journal(root, kept); !status.ok()) return status;
  return std::move(undoing).report();
}

}  // namespace cableway::cli
