// All manual pages of the package.
#ifndef CABLEWAY_TOOLS_REFERENCE_MANUAL_PAGES_H_
#define CABLEWAY_TOOLS_REFERENCE_MANUAL_PAGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cableway/command/command.h"
#include "tools/reference/markdown.h"

namespace cableway::reference {

// A file to install.
struct ReferenceFile {
  std::string path;  // below share: "man/man1/cableway.1"
  std::string text;
};

// The documents that pages take text from.
struct Documents {
  std::vector<Block> command_line;  // docs/cli.md
  std::vector<Block> settings;      // docs/settings.md
  std::vector<Block> findings;      // docs/findings.md
};

// Pages about `program` with its `commands`, one a command.
absl::StatusOr<std::vector<ReferenceFile>> pages_of_commands(const cli::Program& program,
                                                             const std::vector<cli::Command>& commands,
                                                             const Documents& documents);

// Pages about the other programs.
absl::StatusOr<std::vector<ReferenceFile>> pages_of_programs(const std::string& version, const Documents& documents);

// Pages about files, and about events, findings and jobs.
absl::StatusOr<std::vector<ReferenceFile>> pages_of_topics(const std::string& version, const Documents& documents);

}  // namespace cableway::reference

#endif  // CABLEWAY_TOOLS_REFERENCE_MANUAL_PAGES_H_
