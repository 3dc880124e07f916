// `cableway doctor`: what is wrong with this host, its node and its cables, and what to do about it. Read-only.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/settings/settings.h"
#include "routing/topology/topology.h"
#include "tools/cableway/doctor/code_default.h"
#include "tools/cableway/doctor/facts/host_facts.h"
#include "tools/cableway/expectation/expected_topology.h"
#include "tools/cableway/node/node_answer.h"

namespace cableway::cli {

// A smaller MTU is worth a remark: it costs processor time, and RDMA needs it for packets of 4096 bytes.
inline constexpr std::uint64_t kJumboMtu = 4096;

struct Finding {
  Severity severity = Severity::kOk;
  std::string code;    // name of a FindingCode, or of an EventCode where the node reports the same
  std::string about;   // "port eth1", "key", ..
  std::string what;    // the observation
  std::string advice;  // what to do; empty if nothing is to be done
  Json measured = {};  // results of a speed test, rates in Mbit/s (docs/cli.md); else null
  // The node at the other end of the port's cable that this is about; empty: of no such cable.
  std::string neighbour = "";
  std::string neighbour_port = "";  // its interface there
};

// Everything that doctor examines.
struct Examined {
  Settings settings;
  HostFacts host;
  absl::Status key;            // result of reading the key file, if there is one
  absl::Status node;           // result of querying it; the following are its answers
  std::optional<Json> ports;   // core/view/ports_view.h
  std::optional<Json> status;  // core/view/status_view.h
  std::optional<Json> events;  // core/view/events_view.h
  std::optional<routing::Topology> topology;
  std::optional<absl::StatusOr<ExpectedTopology>> expected;  // nullopt: none was named
};

// Pure. Findings are in the order settings, host, ports, neighbours, topology. Throws Json::exception if an answer of
// the node is malformed.
std::vector<Finding> examine(const Examined& examined);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_H_
