#include "core/linux/files/topology_reader.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/bounded_file.h"
#include "routing/text/node_name.h"
#include "routing/topology_io/topology_file.h"
#include "routing/topology_io/topology_input.h"

namespace cableway::host {
namespace {

// Reads up to one byte beyond the limit, so that the parser can report that the file is too long.
absl::StatusOr<std::string> read_bounded(const std::string& path) {
  const auto cannot = [&path](const absl::Status& status) {
    return absl::InvalidArgumentError(
        absl::StrCat("topology file ", routing::in_quotes(path, path.size()), " ", status.message()));
  };
  const absl::StatusOr<UniqueFd> file = open_input(path);
  if (!file.ok()) return cannot(file.status());
  absl::StatusOr<std::string> text = read_in_pieces(*file, routing::kMaxTopologyFileBytes + 1);
  if (!text.ok()) return cannot(text.status());
  return text;
}

}  // namespace

absl::StatusOr<routing::Topology> read_topology(const std::string& path) {
  absl::StatusOr<std::string> text = read_bounded(path);
  if (!text.ok()) return text.status();
  return routing::parse_topology_input(*text, path);
}

}  // namespace cableway::host
