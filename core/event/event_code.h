// A node's events as stable codes: the one table that the log, `cableway events`, doctor and metrics share.
// docs/findings.md is the same table for operators. Codes are never renamed or reused; new ones may be added.
#ifndef CABLEWAY_CORE_EVENT_EVENT_CODE_H_
#define CABLEWAY_CORE_EVENT_EVENT_CODE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace cableway {

// Debug: for maintainers. Info: works as intended, or a refusal of a set-up, connection or session, which any peer can
// cause. Warning: degraded, lost or misconfigured, even where a peer can feign it (kVersionDiffers, kClusterDiffers,
// kKeyDiffers; rate-limited). Error: the node cannot do what its settings require.
enum class EventSeverity : std::uint8_t { kDebug, kInfo, kWarning, kError };
inline constexpr std::size_t kEventSeverities = 4;

enum class EventCode : std::uint8_t {
  // The node.
  kNodeStarted,
  kNodeLeaving,
  kDraining,
  kDrainingEnded,
  kSettingsChanged,
  kSettingsRefused,
  kKeyMissing,
  kKeyUnreadable,
  kKeyValid,
  kKeysChanged,
  kLogUnavailable,
  kDescriptorsLimited,
  kHttpFailed,
  // Its ports.
  kNoPorts,
  kPortUnusable,
  kControlSocketFailed,
  kNotListening,
  kPulsesFailed,
  kRdmaUnwatched,
  kRdmaDeviceFailed,
  kRdmaDeviceUnusable,
  kRdmaDeviceUsable,
  kRdmaPortError,
  kRdmaPortActive,
  kRdmaAddressChanged,
  // Neighbours heard on a port without a usable cable.
  kVersionDiffers,
  kClusterDiffers,
  kKeyDiffers,
  kNameTaken,
  kCableToSelf,
  kCableRefused,
  kLinkLocalUsed,
  kLargePacketsLost,
  kSegmentCrowded,
  kHoldTooLong,
  // Cables and the topology.
  kCableUp,
  kCableLost,
  kCableDraining,
  kCableDrainingEnded,
  kNeighbourLeft,
  kCableSilent,
  kRelaySilent,
  kCableHeardAgain,
  kCableLossy,
  kCableLossless,
  kCableLeftOut,
  kTopologyChanged,
  kTopologyRefused,
  kNameDefended,
  kAdvertisementRefused,
  kTopologyCrowded,
  // Paths for this host's processes.
  kPathRequested,
  kPathFound,
  kPathMissing,
  // Relayed circuits.
  kSetupArrived,
  kSetupWaiting,
  kDialStarted,
  kDialEnded,
  kCircuitOpened,
  kCircuitEnded,
  kCircuitBroken,
  kCircuitLost,
  kCircuitRefused,
  kConnectionRefused,
  kConnectionsFlooded,
  kRelayMemoryShort,
  kLeasesExhausted,
  kRdmaLeasesExhausted,
  kPipesSmall,
  // Sessions with this host's processes, and their flows.
  kSessionRefused,
  kSessionStalled,
  kSessionNameTaken,
  kSessionGroupMissing,
  kFlowOpened,
  kFlowRerouted,
  kFlowReturned,
  kCircuitRetired,
  kCircuitLeft,
  kFlowWaiting,
  kFlowFailed,
  kChunkCorrupted,
};

struct EventKind {
  EventCode code;
  std::string_view name;  // "CABLE_UP"
  EventSeverity severity;
  std::string_view meaning;  // one line, as docs/findings.md has it
  std::string_view advice;   // what to do; "-": nothing
};

// All codes, in the order of EventCode.
std::span<const EventKind> event_kinds();
inline constexpr std::size_t kEventCodes = static_cast<std::size_t>(EventCode::kChunkCorrupted) + 1;

const EventKind& kind_of(EventCode code);
inline std::string_view name_of(EventCode code) {
  return kind_of(code).name;
}
// Null: no event has this name.
const EventKind* find_event_kind(std::string_view name);

// "debug", "info", "warning", "error".
std::string_view name_of(EventSeverity severity);
std::optional<EventSeverity> parse_event_severity(std::string_view name);

}  // namespace cableway

#endif  // CABLEWAY_CORE_EVENT_EVENT_CODE_H_
