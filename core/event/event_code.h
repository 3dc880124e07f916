// What can happen to a node, as stable codes: the one table that the log, `cableway events`, doctor and metrics share.
// docs/findings.md is the same table for operators. Codes are never renamed or reused; new ones may be added.
#ifndef CABLEWAY_CORE_EVENT_EVENT_CODE_H_
#define CABLEWAY_CORE_EVENT_EVENT_CODE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace cableway {

// Debug: for maintainers. Info: as intended, or caused by peers that need not be trusted. Warning: something was lost,
// or works worse than it should. Error: the node cannot do what it was told to.
enum class EventSeverity : std::uint8_t { kDebug, kInfo, kWarning, kError };
inline constexpr std::size_t kEventSeverities = 4;

enum class EventCode : std::uint8_t {
  // The node.
  kNodeStarted,
  kNodeLeaving,
  kNodeRestarted,
  kDraining,
  kDrainingEnded,
  kSettingsChanged,
  kSettingsRefused,
  kKeyMissing,
  kLogUnavailable,
  kDescriptorsLimited,
  // Its ports.
  kNoPorts,
  kPortUnusable,
  kPortDeaf,
  kNotListening,
  kRdmaUnwatched,
  kRdmaDeviceFailed,
  kRdmaDeviceUnusable,
  kRdmaDeviceUsable,
  kRdmaPortError,
  kRdmaPortActive,
  kRdmaAddressChanged,
  // What is heard on a port and is no usable cable.
  kVersionDiffers,
  kClusterDiffers,
  kKeyDiffers,
  kNameTaken,
  kCableToSelf,
  kCableRefused,
  kLinkLocalUsed,
  kSegmentCrowded,
  // Cables, and the topology that they make.
  kCableUp,
  kCableLost,
  kNeighbourLeft,
  kCableLeftOut,
  kTopologyChanged,
  kTopologyRefused,
  // Paths for this host's processes.
  kPathRequested,
  kPathFound,
  kPathMissing,
  // Circuits that pass through.
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
  kRelayMemoryShort,
  kLeasesExhausted,
  kRdmaLeasesExhausted,
  kPipesSmall,
  // Sessions with this host's processes, and their flows.
  kSessionRefused,
  kSessionStalled,
  kFlowOpened,
  kFlowFailed,
};

struct EventKind {
  EventCode code;
  std::string_view name;  // "CABLE_UP"
  EventSeverity severity;
  std::string_view meaning;  // one line, as docs/findings.md has it
  std::string_view advice;   // what to do; "-" where nothing is to be done
};

// All codes, in the order of EventCode.
std::span<const EventKind> event_kinds();
inline constexpr std::size_t kEventCodes = static_cast<std::size_t>(EventCode::kFlowFailed) + 1;

const EventKind& kind_of(EventCode code);
inline std::string_view name_of(EventCode code) {
  return kind_of(code).name;
}
// Null: no event has that name.
const EventKind* find_event_kind(std::string_view name);

// "debug", "info", "warning", "error".
std::string_view name_of(EventSeverity severity);
std::optional<EventSeverity> parse_event_severity(std::string_view name);

}  // namespace cableway

#endif  // CABLEWAY_CORE_EVENT_EVENT_CODE_H_
