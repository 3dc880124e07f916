// Parts of a node's status as JSON, which several views show. docs/cli.md describes the members.
#ifndef CABLEWAY_CORE_VIEW_STATUS_PARTS_H_
#define CABLEWAY_CORE_VIEW_STATUS_PARTS_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/node/node.h"
#include "core/relay/relay_status.h"
#include "core/session/flow_ledger.h"
#include "core/view/status_view.h"

namespace cableway {

nlohmann::ordered_json or_null(const std::string& text);
nlohmann::ordered_json mbps_json(const std::optional<std::uint64_t>& bytes_per_s);
// null at a destination, which does not know it.
nlohmann::ordered_json milliseconds_json(bool is_known, std::uint64_t microseconds);
// The time of day at that moment, if the wall clock has not jumped since.
nlohmann::ordered_json wall_time_json(const Node& node, const ProgramRun& run, Instant at);

// `own`, `relayed`, `relay_memory` and `rdma_memory`: numbers.
nlohmann::ordered_json own_flows_json(const FlowsStatus& flows);
nlohmann::ordered_json relayed_json(const RelayStatus& relay);
nlohmann::ordered_json relay_memory_json(const RelayMemoryStatus& memory);
nlohmann::ordered_json rdma_memory_json(const RdmaMemoryStatus& memory);
// One of `flows`, without its circuits.
nlohmann::ordered_json flow_facts_json(const FlowStatus& each);
// `more`: of the host.
nlohmann::ordered_json problems_json(const Node& node, const std::vector<HostProblem>& more, const ProgramRun& run);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_STATUS_PARTS_H_
