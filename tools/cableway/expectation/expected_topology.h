// The topology that a cluster should have: the file that --expect or the setting `expect` names.
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPECTED_TOPOLOGY_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPECTED_TOPOLOGY_H_

#include <string>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "tools/cableway/command/argument.h"

namespace cableway::cli {

struct ExpectedTopology {
  std::string file;  // as it was given
  routing::Topology topology;
};

// "--expect"
Argument expect_option(std::string& file);

// A file or a shape, as find_topology() reads them, with its errors.
absl::StatusOr<ExpectedTopology> read_expected(const std::string& file);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPECTED_TOPOLOGY_H_
