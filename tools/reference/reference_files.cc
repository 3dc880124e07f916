#include "tools/reference/reference_files.h"

#include <iterator>
#include <string>
#include <utility>

#include "tools/cableway/command_set.h"

namespace cableway::reference {
namespace {

using Files = std::vector<ReferenceFile>;

absl::Status append(Files& files, absl::StatusOr<Files> more) {
  if (!more.ok()) return more.status();
  files.insert(files.end(), std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Files> reference_files(const Documents& documents) {
  const cli::Program program = cli::cableway_program();
  const cli::CommandSet set;
  Files files;
  absl::Status status = append(files, pages_of_commands(program, set.commands(), documents));
  if (status.ok()) status = append(files, pages_of_programs(program.version, documents));
  if (status.ok()) status = append(files, pages_of_topics(program.version, documents));
  if (!status.ok()) return status;
  return files;
}

}  // namespace cableway::reference
