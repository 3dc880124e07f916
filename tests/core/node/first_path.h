// The path of a flow that uses only one.
#ifndef CABLEWAY_TESTS_CORE_NODE_FIRST_PATH_H_
#define CABLEWAY_TESTS_CORE_NODE_FIRST_PATH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/node/path_planner.h"

namespace cableway::test {

inline absl::StatusOr<std::vector<Hop>> first_path(const PathPlanner& planner, const std::string& destination,
                                                   std::uint64_t ordinal) {
  absl::StatusOr<std::vector<PathOffer>> paths = planner.paths_for_flow(destination, ordinal, 1);
  if (!paths.ok()) return paths.status();
  return std::move(paths->front().hops);
}

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_NODE_FIRST_PATH_H_
