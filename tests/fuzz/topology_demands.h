// Requirements on every parser that makes topologies from bytes.
#ifndef CABLEWAY_TESTS_FUZZ_TOPOLOGY_DEMANDS_H_
#define CABLEWAY_TESTS_FUZZ_TOPOLOGY_DEMANDS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "routing/topology_io/json_topology.h"
#include "routing/topology_io/topology_file.h"
#include "tests/fuzz/require.h"

namespace cableway::fuzz {

// Whether the message begins with `file_name`, a colon, a line and a colon.
inline bool names_line(const std::string& message, const std::string& file_name) {
  const std::string prefix = file_name + ":";
  if (message.compare(0, prefix.size(), prefix) != 0) return false;
  const std::size_t end = message.find_first_not_of("0123456789", prefix.size());
  return end != std::string::npos && end > prefix.size() && message.compare(end, 2, ": ") == 0;
}

inline void require_reason(const absl::Status& status) {
  const std::string message(status.message());
  require(absl::IsInvalidArgument(status), "an error is not the fault of the input");
  require(message.find("; expected ") != std::string::npos, "an error does not say what was expected");
  require(message.size() < 4096, "an error is too long");
}

// The topology may be disconnected.
inline void require_survives_writing(const routing::Topology& topology) {
  const absl::StatusOr<routing::Topology> again =
      routing::parse_topology(routing::to_topology_file(topology), "again.toml", routing::Disconnected::kAccepted);
  require(again.ok() && *again == topology, "a topology does not survive being written and read");
  const absl::StatusOr<routing::Topology> from_json =
      routing::parse_json_topology(routing::to_json_topology(topology), "again.json", routing::Disconnected::kAccepted);
  require(from_json.ok() && *from_json == topology, "a topology does not survive being written and read as JSON");
}

}  // namespace cableway::fuzz

#endif  // CABLEWAY_TESTS_FUZZ_TOPOLOGY_DEMANDS_H_
