#include "core/event/event_code.h"

#include <algorithm>
#include <array>

namespace cableway {
namespace {

using Code = EventCode;
using Severity = EventSeverity;

constexpr std::array<EventKind, kEventCodes> kKinds{{
    {Code::kNodeStarted, "NODE_STARTED", Severity::kInfo, "the node runs: it sends hellos and answers sessions", "-"},
    {Code::kNodeLeaving, "NODE_LEAVING", Severity::kInfo,
     "the node is stopping, on request or because it was unused: it announces that to its neighbours", "-"},
    {Code::kDraining, "DRAINING", Severity::kInfo, "no more paths lead through this node",
     "cableway undrain with the node's name ends it; CABLEWAY_DRAIN=true drains it at each start"},
    {Code::kDrainingEnded, "DRAINING_ENDED", Severity::kInfo, "paths may lead through this node again", "-"},
    {Code::kSettingsChanged, "SETTINGS_CHANGED", Severity::kInfo,
     "the settings were read again; what needs a restart to change is named", "restart cablewayd where one is needed"},
    {Code::kSettingsRefused, "SETTINGS_REFUSED", Severity::kError,
     "the settings were read again and are not valid: all of the old ones stay in force",
     "correct the setting that is named, and reload again; cablewayd --check-config tests them"},
    {Code::kKeyMissing, "KEY_MISSING", Severity::kWarning,
     "no CABLEWAY_KEY_FILE: any host that can reach a cable can join the cluster, and read and change what crosses it",
     "give all nodes the same CABLEWAY_KEY_FILE (openssl rand -hex 32 > key; chmod 600 key)"},
    {Code::kKeyUnreadable, "KEY_UNREADABLE", Severity::kError,
     "the key file cannot be read or is invalid: a running node keeps its keys",
     "64 hex digits in one line or two, of root or the node's user, chmod 600; root's key need not be read by others"},
    {Code::kKeyValid, "KEY_VALID", Severity::kInfo, "the key file can be read and is valid again", "-"},
    {Code::kKeysChanged, "KEYS_CHANGED", Severity::kInfo,
     "the key file has changed: the text has the fingerprints of the keys that the node accepts now", "-"},
    {Code::kLogUnavailable, "LOG_UNAVAILABLE", Severity::kWarning,
     "the log file cannot be opened: logging continues to the previous destination, at start standard error",
     "correct CABLEWAY_LOG_FILE or its folder, and reload"},
    {Code::kDescriptorsLimited, "DESCRIPTORS_LIMITED", Severity::kWarning,
     "the limit of open files cannot be raised: each relayed circuit needs four of them",
     "raise LimitNOFILE in the unit, or ulimit -n"},
    {Code::kHttpFailed, "HTTP_FAILED", Severity::kWarning,
     "the page and the metrics cannot be served at the address that CABLEWAY_HTTP gives: the node runs on without them "
     "and retries every two seconds",
     "end the process that holds the TCP port, or set another CABLEWAY_HTTP and restart"},

    {Code::kNoPorts, "NO_PORTS", Severity::kWarning, "this host has no port: no cable can be found",
     "set CABLEWAY_PORTS to the interfaces or prefixes of this host's cables, such as eth1,10.7.0.0/16; cableway ports "
     "says why each one is not used"},
    {Code::kPortUnusable, "PORT_UNUSABLE", Severity::kWarning,
     "an interface that CABLEWAY_PORTS names cannot be used, or only in part", "correct what the reason names"},
    {Code::kControlSocketFailed, "CONTROL_SOCKET_FAILED", Severity::kError,
     "a port's UDP socket cannot be opened: it cannot receive hellos",
     "end the process that holds the UDP port, or set CABLEWAY_CONTROL_PORT on all nodes"},
    {Code::kNotListening, "NOT_LISTENING", Severity::kError,
     "the node cannot listen on an address of its cables: no circuit can arrive there. It retries twice a second",
     "end the process that holds the TCP port, or set CABLEWAY_RELAY_PORT"},
    {Code::kPulsesFailed, "PULSES_FAILED", Severity::kWarning,
     "a cable's UDP socket for pulses cannot be opened, so its silence would be detected late. The node retries once a "
     "second",
     "end the process that holds the UDP port, or set CABLEWAY_PULSE_PORT on all nodes"},
    {Code::kRdmaUnwatched, "RDMA_UNWATCHED", Severity::kWarning,
     "added and removed RDMA devices are noticed only when an interface changes",
     "raise fs.inotify.max_user_instances"},
    {Code::kRdmaDeviceFailed, "RDMA_DEVICE_FAILED", Severity::kError,
     "an RDMA device has failed: its circuits have ended, and it is reopened when it works",
     "see the driver's log (dmesg); rdma link show"},
    {Code::kRdmaDeviceUnusable, "RDMA_DEVICE_UNUSABLE", Severity::kWarning,
     "a port's RDMA device cannot be used now: hops over the port are refused, or use TCP if it was removed",
     "cableway doctor says what to do about the reason"},
    {Code::kRdmaDeviceUsable, "RDMA_DEVICE_USABLE", Severity::kInfo, "a port's RDMA device can be used again", "-"},
    {Code::kRdmaPortError, "RDMA_PORT_ERROR", Severity::kWarning,
     "an RDMA device reports that its port has lost its link", "check the cable and the other end; rdma link show"},
    {Code::kRdmaPortActive, "RDMA_PORT_ACTIVE", Severity::kInfo,
     "an RDMA device reports that its port has a link again", "-"},
    {Code::kRdmaAddressChanged, "RDMA_ADDRESS_CHANGED", Severity::kInfo, "an RDMA device's addresses have changed",
     "-"},

    {Code::kVersionDiffers, "VERSION_DIFFERS", Severity::kWarning,
     "a node on a cable uses another version of the protocol and is ignored", "install the same Cableway on both"},
    {Code::kClusterDiffers, "CLUSTER_DIFFERS", Severity::kWarning, "a node on a cable is of another cluster",
     "give both the same CABLEWAY_CLUSTER, if they are to be one"},
    {Code::kKeyDiffers, "KEY_DIFFERS", Severity::kWarning,
     "a node on a cable seals with a key that this node does not accept, or only one of the two has a key: it is "
     "ignored",
     "give every node the same CABLEWAY_KEY_FILE"},
    {Code::kNameTaken, "NAME_TAKEN", Severity::kWarning, "two nodes of the cluster have one name",
     "set CABLEWAY_NODE on one of them"},
    {Code::kCableToSelf, "CABLE_TO_SELF", Severity::kWarning, "two ports of this node hear each other and no neighbour",
     "plug the cable into another node, or remove one of the ports from CABLEWAY_PORTS"},
    {Code::kCableRefused, "CABLE_REFUSED", Severity::kWarning,
     "MTUs or addresses of a cable's two ends do not match: the cable is not used",
     "configure both ends as the event's text describes"},
    {Code::kLinkLocalUsed, "LINK_LOCAL_USED", Severity::kWarning,
     "a cable's addresses do not match: its link-local addresses are used until they do",
     "give both ends addresses of one subnet"},
    {Code::kLargePacketsLost, "LARGE_PACKETS_LOST", Severity::kWarning,
     "small packets cross a cable, those as large as its MTU do not: the cable is not used",
     "check the MTU at both ends, and that a switch in between passes such frames; the event's text names the "
     "direction"},
    {Code::kSegmentCrowded, "SEGMENT_CROWDED", Severity::kWarning,
     "more ports are on one segment than a node supports: the others are ignored",
     "split the segment, or join the nodes by cables"},
    {Code::kHoldTooLong, "HOLD_TOO_LONG", Severity::kWarning,
     "a neighbour's hold time is more than four times this node's: this node uses four times its own",
     "set CABLEWAY_HELLO_MS and CABLEWAY_HOLD_MS to the same values on both"},

    {Code::kCableUp, "CABLE_UP", Severity::kInfo, "both ends of a cable hear each other, and large packets pass", "-"},
    {Code::kCableLost, "CABLE_LOST", Severity::kWarning,
     "a cable that was up is down: it is unplugged or silent, it drops large packets, or its neighbour ended without "
     "announcing it",
     "check the cable and the neighbour; the reason says which"},
    {Code::kCableDraining, "CABLE_DRAINING", Severity::kInfo, "no more paths lead over a cable of this node",
     "cableway undrain with the cable's name, on this node, ends it"},
    {Code::kCableDrainingEnded, "CABLE_DRAINING_ENDED", Severity::kInfo,
     "paths may lead over a cable again, unless the node at its other end drains it", "-"},
    {Code::kNeighbourLeft, "NEIGHBOUR_LEFT", Severity::kInfo,
     "a neighbour has announced that it leaves: its cable is down", "-"},
    {Code::kCableSilent, "CABLE_SILENT", Severity::kWarning,
     "nothing, or nothing but small packets, arrives over a cable in one direction or both: its circuits have ended, "
     "and new ones avoid it until CABLE_HEARD_AGAIN",
     "check the cable, switches in between and, if large packets are lost, the MTU at both ends; CABLE_LOST follows if "
     "the fault lasts"},
    {Code::kRelaySilent, "RELAY_SILENT", Severity::kWarning,
     "a neighbour's node stands still, although its host answers: circuits through it have ended, those to its "
     "processes go on",
     "see what keeps cablewayd there from running: a debugger, a frozen cgroup, a host without a free processor"},
    {Code::kCableHeardAgain, "CABLE_HEARD_AGAIN", Severity::kInfo,
     "a cable is no longer considered silent or to lose large packets, nor its neighbour's node to stand still; the "
     "reason says why",
     "-"},
    {Code::kCableLossy, "CABLE_LOSSY", Severity::kWarning,
     "a cable loses packets: paths use it only where there is no better way",
     "clean or replace the cable and its connectors; ethtool -S shows which end counts errors"},
    {Code::kCableLossless, "CABLE_LOSSLESS", Severity::kInfo,
     "a cable no longer counts as lossy: it has lost less than 1 % of its packets for a minute, or for longer if it "
     "was lossy before, or its loss history was discarded",
     "-"},
    {Code::kCableLeftOut, "CABLE_LEFT_OUT", Severity::kWarning,
     "both ends of a cable advertise it, but no valid topology can contain it: no path uses it",
     "correct the attribute that the reason names"},
    {Code::kTopologyChanged, "TOPOLOGY_CHANGED", Severity::kInfo, "nodes or cables of the cluster have changed", "-"},
    {Code::kTopologyRefused, "TOPOLOGY_REFUSED", Severity::kError,
     "the nodes' advertisements make no valid topology: the last valid one stays in use",
     "fix what the reason names; restart the node whose advertisement it is"},
    {Code::kNameDefended, "NAME_DEFENDED", Severity::kWarning,
     "the cluster had an advertisement with this node's name and a later version that this node did not make: it is "
     "superseded",
     "nothing, if this host's clock was set back before the node started; otherwise give each node a unique name, and "
     "change the cluster's key if a host may forge advertisements"},
    {Code::kAdvertisementRefused, "ADVERTISEMENT_REFUSED", Severity::kWarning,
     "an advertisement has a boot nonce of more than 20 years ahead of this host's clock: it is neither used nor "
     "passed on",
     "correct the clock of the host that the text names, or of this one"},
    {Code::kTopologyCrowded, "TOPOLOGY_CROWDED", Severity::kWarning,
     "the cluster advertises more nodes or ports than a node holds: each neighbour keeps its fair share, the rest is "
     "left out",
     "check the node that the text names; stop or disconnect it if it advertises nodes that do not exist"},

    {Code::kPathRequested, "PATH_REQUESTED", Severity::kDebug, "a process requests paths for a flow", "-"},
    {Code::kPathFound, "PATH_FOUND", Severity::kDebug, "a process received paths for a flow", "-"},
    {Code::kPathMissing, "PATH_MISSING", Severity::kWarning,
     "a process was refused a path, after up to 8 s without one",
     "cableway topology shows the reachable nodes; see CABLE_LOST there and here"},

    {Code::kSetupArrived, "SETUP_ARRIVED", Severity::kDebug, "a set-up for a circuit to relay has arrived", "-"},
    {Code::kSetupWaiting, "SETUP_WAITING", Severity::kDebug,
     "a set-up names a cable that this node does not know yet: it waits for the topology", "-"},
    {Code::kDialStarted, "DIAL_STARTED", Severity::kDebug, "the next hop of a set-up is dialed", "-"},
    {Code::kDialEnded, "DIAL_ENDED", Severity::kDebug, "the next hop of a set-up has answered, or could not be reached",
     "-"},
    {Code::kCircuitOpened, "CIRCUIT_OPENED", Severity::kDebug, "a circuit through this node is open", "-"},
    {Code::kCircuitEnded, "CIRCUIT_ENDED", Severity::kInfo, "one end of a circuit has closed it, with nothing lost",
     "-"},
    {Code::kCircuitBroken, "CIRCUIT_BROKEN", Severity::kWarning,
     "a circuit through this node has ended by a fault, or with a chunk in flight; its flow looks for another path",
     "the reason names the hop where it was found; see CABLE_LOST there"},
    {Code::kCircuitLost, "CIRCUIT_LOST", Severity::kWarning,
     "a circuit was lost at the last step of its set-up; its source tries another path", "the reason says why"},
    {Code::kCircuitRefused, "CIRCUIT_REFUSED", Severity::kInfo, "a set-up for a circuit to relay was refused",
     "its source received the same reason; fix that if the set-up is one of yours"},
    {Code::kConnectionRefused, "CONNECTION_REFUSED", Severity::kInfo,
     "a connection to the relay port was refused before its set-up",
     "none if the peer is untrusted; else install the same version and CABLEWAY_KEY_FILE on both nodes"},
    {Code::kConnectionsFlooded, "CONNECTIONS_FLOODED", Severity::kWarning,
     "many connections a second to the relay port bring no valid set-up: they are closed or refused. At most once in "
     "10 s",
     "see why CONNECTION_REFUSED refuses them; else find the program at the address that is named, or unplug the "
     "cable: "
     "new circuits still start, but slower"},
    {Code::kRelayMemoryShort, "RELAY_MEMORY_SHORT", Severity::kWarning,
     "the relay memory has no lease for busy circuits: they are slow", "raise CABLEWAY_RELAY_MEMORY"},
    {Code::kLeasesExhausted, "LEASES_EXHAUSTED", Severity::kWarning,
     "all leases of the relay memory are in use: busy circuits take turns, and are slower. At most once a minute",
     "raise CABLEWAY_RELAY_MEMORY"},
    {Code::kRdmaLeasesExhausted, "RDMA_LEASES_EXHAUSTED", Severity::kWarning,
     "all leases of registered memory are in use: busy circuits over RDMA take turns, and are slower. At most once a "
     "minute",
     "raise CABLEWAY_RELAY_MEMORY, up to a node's maximum of leases"},
    {Code::kPipesSmall, "PIPES_SMALL", Severity::kWarning,
     "the kernel gives this user smaller pipes than circuits should have: further circuits are relayed slower",
     "run cablewayd as root, or raise fs.pipe-user-pages-soft"},

    {Code::kSessionRefused, "SESSION_REFUSED", Severity::kInfo,
     "a process of this host was refused a session: another user's, no session left, or it broke the protocol",
     "the reason says which; a system node serves root and a group (CABLEWAY_SESSION_GROUP), any other its user and "
     "root; install the same Cableway for both"},
    {Code::kSessionStalled, "SESSION_STALLED", Severity::kWarning,
     "a process does not read its node's replies: its session was ended", "check whether that process is stopped"},
    {Code::kSessionNameTaken, "SESSION_NAME_TAKEN", Severity::kWarning,
     "a process of another user holds the abstract name of this node's session socket: processes reach the node only "
     "through its socket path; a container must mount the folder of that socket",
     "end the process that the text names; restart cablewayd to take the name"},
    {Code::kSessionGroupMissing, "SESSION_GROUP_MISSING", Severity::kInfo,
     "this host has no group cableway, and CABLEWAY_SESSION_GROUP names none: only root may open sessions",
     "groupadd --system cableway; usermod -aG cableway USER for each user of jobs; restart cablewayd"},
    {Code::kFlowOpened, "FLOW_OPENED", Severity::kDebug, "a flow of a process here is set up", "-"},
    {Code::kFlowRerouted, "FLOW_REROUTED", Severity::kWarning,
     "a flow of a process here goes on over another path, as its circuit has ended",
     "the reason names the cable, port or node that was lost"},
    {Code::kFlowReturned, "FLOW_RETURNED", Severity::kInfo, "a flow of a process here has moved to a better path", "-"},
    {Code::kCircuitRetired, "CIRCUIT_RETIRED", Severity::kWarning,
     "a circuit of a flow of a process here, possibly a standby or an alternate, has ended by a fault: the flow goes "
     "on over its other circuits, or takes another path. Circuits with one reason share an event each second",
     "the reason names the cable, port or node that was lost"},
    {Code::kCircuitLeft, "CIRCUIT_LEFT", Severity::kInfo,
     "a flow of a process here has left a circuit that it no longer needs, or the other end has left it; circuits with "
     "one reason share an event each second",
     "-"},
    {Code::kFlowWaiting, "FLOW_WAITING", Severity::kWarning,
     "a flow of a process here has had no path for a second, and its application waits",
     "mend what the reason names before CABLEWAY_PATH_WAIT is over"},
    {Code::kFlowFailed, "FLOW_FAILED", Severity::kWarning, "a flow of a process here has failed",
     "the reason names the node and the hop where it was found; see the events there"},
    {Code::kChunkCorrupted, "CHUNK_CORRUPTED", Severity::kWarning,
     "data or a header arrived over TCP with other bytes than were sent: nothing of it was delivered, and it is sent "
     "again over another circuit",
     "replace a cable of the path, or its plugs; on a longer path the events of several paths show which; see the "
     "errors of its ports (ethtool -S)"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (static_cast<std::size_t>(kKinds[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kKinds has every code once, in the order of EventCode");

constexpr std::array<std::string_view, kEventSeverities> kSeverityNames{"debug", "info", "warning", "error"};

}  // namespace

std::span<const EventKind> event_kinds() {
  return kKinds;
}

const EventKind& kind_of(EventCode code) {
  return kKinds[static_cast<std::size_t>(code)];
}

const EventKind* find_event_kind(std::string_view name) {
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const EventKind& each) { return each.name == name; });
  return found == kKinds.end() ? nullptr : &*found;
}

std::string_view name_of(EventSeverity severity) {
  return kSeverityNames[static_cast<std::size_t>(severity)];
}

std::optional<EventSeverity> parse_event_severity(std::string_view name) {
  for (std::size_t i = 0; i < kSeverityNames.size(); ++i) {
    if (kSeverityNames[i] == name) return static_cast<EventSeverity>(i);
  }
  return std::nullopt;
}

}  // namespace cableway
