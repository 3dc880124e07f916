#include "tools/cableway/address_plan/plan_folder.h"

#include <filesystem>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "tools/cableway/text/named_file.h"

namespace cableway::cli {
namespace {

namespace fs = std::filesystem;

absl::Status folder_fault(const std::string& path, const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat(routing::in_quotes(path, path.size()), " ", what));
}

// Whether the file is there with this text.
absl::StatusOr<bool> is_written(const std::string& path, const std::string& text, bool overwrite) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) return false;
  if (status.type() != fs::file_type::regular)
    return folder_fault(path, "is not a regular file; expected another --output");
  const absl::StatusOr<std::string> present = read_named_file(path, text.size() + 1);
  if (present.ok() && *present == text) return true;
  if (overwrite) return false;
  return folder_fault(path, "exists with other content; expected another --output, or --force to overwrite it");
}

}  // namespace

absl::Status write_plan(const std::string& folder, const std::vector<PlanFile>& files, bool overwrite) {
  const auto path_of = [&](const PlanFile& file) { return (fs::path(folder) / file.name).string(); };
  std::vector<const PlanFile*> left;
  for (const PlanFile& file : files) {
    const absl::StatusOr<bool> written = is_written(path_of(file), file.text, overwrite);
    if (!written.ok()) return written.status();
    if (!*written) left.push_back(&file);
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return folder_fault(folder, absl::StrCat("cannot be created: ", error.message()));
  for (const PlanFile* file : left) {
    if (absl::Status status = write_named_file(path_of(*file), file->text); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace cableway::cli
