#include "core/linux/topology_reader.h"

#include <cerrno>
#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/topology_file.h"
#include "routing/topology_input.h"

namespace cableway::linux_ {
namespace {

// At most one piece more than a topology file may have, so that the parser can say that it is too long.
absl::StatusOr<std::string> read_bounded(const std::string& path) {
  constexpr std::size_t kPiece = 65536;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  while (file && text.size() <= routing::kMaxTopologyFileBytes) {
    const std::size_t had = text.size();
    text.resize(had + kPiece);
    file.read(text.data() + had, kPiece);
    text.resize(had + static_cast<std::size_t>(file.gcount()));
  }
  if (!file && !file.eof()) {
    const absl::Status reason = absl::ErrnoToStatus(errno == 0 ? EIO : errno, "cannot be read");
    return absl::InvalidArgumentError(absl::StrCat("topology file \"", path, "\" ", reason.message()));
  }
  return text;
}

}  // namespace

absl::StatusOr<routing::Topology> read_topology(const std::string& path) {
  absl::StatusOr<std::string> text = read_bounded(path);
  if (!text.ok()) return text.status();
  return routing::parse_topology_input(*text, path);
}

}  // namespace cableway::linux_
