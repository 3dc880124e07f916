// How a process finds paths for a flow's circuits, and what its set-ups have in common.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_PATHS_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_PATHS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_dial.h"
#include "core/circuit/path_offer.h"
#include "core/crypto/sub_key.h"

namespace cableway {

// One flow, as both of its ends know it.
struct FlowIdentity {
  Cookie cookie{};
  FlowNonce nonce{};
  std::uint64_t flow = 0;  // for logs
  std::string source_node;
  std::uint16_t source_port = 0;  // of the source's process, for inquiries
  std::string destination_node;
  std::uint16_t destination_port = 0;
  std::uint64_t ordinal = 0;  // among the flows from its process to that node
  // The other end's setting, from its handle or its set-up.
  std::chrono::milliseconds path_wait{kMaxPathWaitMs};
};

// Ranked, best first; PathPlanner::paths_for_flow().
using PathOffers = std::vector<PathOffer>;

// Means of a process; one thread, the clock's. Must outlive their users.
struct FlowMeans {
  HopDial::Means dial;
  // Calls `done` once, possibly from inside the call, with at least one path or an error.
  using FindPaths = std::function<void(const std::string& node, std::uint64_t ordinal, std::size_t most,
                                       std::function<void(absl::StatusOr<PathOffers>)> done)>;
  FindPaths find_paths;
  // The same for inquiries: PathPlanner::paths_for_inquiry().
  FindPaths find_inquiry_paths;
  // That seals set-ups now (KeyUse::kCircuitSetup).
  std::function<std::optional<SubKey>()> key;
};

// Before flows look whether changed paths are better: a change is often followed by more, as when a node's cables come
// up one after the other.
inline constexpr std::chrono::milliseconds kFollowAfter{300};
// The most paths that a flow asks for at a time.
inline constexpr std::size_t kPathsForFlow = 5;
// For the set-up of a circuit or an inquiry while the flow has lost its circuits: a path that does not answer within
// this time must not keep the flow from trying another one.
inline constexpr std::chrono::milliseconds kReopenLimit{2000};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_PATHS_H_
