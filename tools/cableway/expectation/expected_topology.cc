#include "tools/cableway/expectation/expected_topology.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/cableway/node/topology_source.h"

namespace cableway::cli {

Argument expect_option(std::string& file) {
  return text_option("--expect", "TOPOLOGY", file,
                     "compare with this file or shape, such as the expected.toml of cableway plan addresses; default: "
                     "CABLEWAY_EXPECT")
      .that_names(Argument::Names::kFiles);
}

absl::StatusOr<ExpectedTopology> read_expected(const std::string& file) {
  absl::StatusOr<routing::Topology> topology = read_or_generate_topology(file);
  if (!topology.ok()) {
    return absl::Status(topology.status().code(), absl::StrCat("expected topology: ", topology.status().message()));
  }
  return ExpectedTopology{file, *std::move(topology)};
}

}  // namespace cableway::cli
