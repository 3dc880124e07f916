// How a process finds paths for a flow's circuits, and what the set-ups of these circuits have in common.
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

// The identity of one flow, known to both ends.
struct FlowIdentity {
  Cookie cookie{};
  FlowNonce nonce{};
  std::uint64_t flow = 0;  // for logs
  std::string source_node;
  std::uint16_t source_port = 0;  // TCP port of the source's process, for inquiries
  std::string destination_node;
  std::uint16_t destination_port = 0;
  std::uint64_t ordinal = 0;  // the flow's number among the flows from its process to that node
  // The other end's setting path_wait, from its handle or its set-up.
  std::chrono::milliseconds path_wait{kMaxPathWaitMs};
};

// Best first, as from PathPlanner::paths_for_flow().
using PathOffers = std::vector<PathOffer>;

// What a process provides for its flows' circuits. One thread, the clock's. Must outlive its users.
struct FlowMeans {
  HopDial::Means dial;
  // Calls `done` once, possibly from inside the call, with at least one path or an error.
  using FindPaths = std::function<void(const std::string& node, std::uint64_t ordinal, std::size_t most,
                                       std::function<void(absl::StatusOr<PathOffers>)> done)>;
  FindPaths find_paths;
  // The same for inquiries, as PathPlanner::paths_for_inquiry().
  FindPaths find_inquiry_paths;
  // Returns the key that seals set-ups now (KeyUse::kCircuitSetup).
  std::function<std::optional<SubKey>()> key;
};

// The delay until flows check whether changed paths are better. More changes often follow, for instance while a
// node's cables come up one after the other.
inline constexpr std::chrono::milliseconds kFollowAfter{300};
// The most paths that a flow asks for at a time.
inline constexpr std::size_t kPathsForFlow = 5;
// The time limit for setting up a circuit or an inquiry while the flow has lost its circuits: a path that does not
// answer must not keep the flow from trying another one.
inline constexpr std::chrono::milliseconds kReopenLimit{2000};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_FLOW_PATHS_H_
