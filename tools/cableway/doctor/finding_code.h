// Stable codes of the findings that only `cableway doctor` reports; those of the node itself are in
// core/event/event_code.h. docs/findings.md is the same table for operators. Codes are never renamed or reused; new
// ones may be added.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FINDING_CODE_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FINDING_CODE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace cableway::cli {

enum class FindingCode : std::uint8_t {
  // The node and the host.
  kNodeAnswers,
  kNodeNotRunning,
  kNodeNotAnswering,
  kSessionAccess,
  kSessionNotAllowed,
  kKeyReadable,
  kPluginMissing,
  kMemlockLow,
  kDefaultRouteMissing,
  kDefaultRouteOnCable,
  kSubnetBesideCable,
  kCablesShareSubnet,
  kVerbsFilesMissing,
  kVerbsLibraryMissing,
  kContainerNetwork,
  kNcclPluginUnused,
  kNcclChannelsFew,
  kNcclFileFault,
  // Ports, cables and neighbours.
  kPortNotUsed,
  kCarrierMissing,
  kNeighbourMissing,
  kCableOneWay,
  kCableUnusedThere,
  kPortUnpaired,
  kRateBelowNeighbour,
  kRateBelowFastest,
  kMtuSmall,
  kRdmaMtuSmall,
  kRdmaMtuNotTaken,
  kArpAnsweredForTwin,
  kHopsRefused,
  kRdmaDeviceGone,
  kRdmaDeviceUnused,
  kRdmaDeviceNone,
  kDatagramsFirewalled,
  kDatagramsUnsent,
  kDatagramsRouted,
  kDatagramsOversized,
  // The hardware behind a port.
  kRdmaLinkSlow,
  kPcieLinkSlow,
  kPcieRootShared,
  kRdmaLosses,
  kRdmaCongestion,
  // How fast cables are.
  kCableTested,
  kCableSlow,
  kCableDegraded,
  kCableUntested,
  kCableUnreachable,
  // The topology.
  kTopologyInParts,
  kSinglePointOfFailure,
  kTunerUnfit,
  // Its difference from the expected one.
  kTopologyAsExpected,
  kExpectationUnreadable,
  kExpectedNodeMissing,
  kNodeNotExpected,
  kNodeNamedOtherwise,
  kCablesSwapped,
  kCableInWrongPlug,
  kExpectedCableMissing,
  kCableNotExpected,
  kCableFunctionsDiffer,
};

struct FindingKind {
  FindingCode code;
  std::string_view name;     // "CARRIER_MISSING"
  std::string_view meaning;  // one line, as in docs/findings.md
  std::string_view advice;   // what to do; "-" if nothing is to be done. Findings add names and numbers
};

// All codes, in the order of FindingCode.
std::span<const FindingKind> finding_kinds();
const FindingKind& kind_of(FindingCode code);
inline std::string_view name_of(FindingCode code) {
  return kind_of(code).name;
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FINDING_CODE_H_
