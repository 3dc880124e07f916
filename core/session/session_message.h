// The messages between an application process and its node on the session socket. Each is encoded as a 32-bit
// little-endian length, then that many bytes: a type and the fields in the order below.
//
//   application or CLI -> node      node -> application or CLI
//   Hello                           Welcome, or Refusal
//   PathRequest                     PathReply
//   ViewRequest                     ViewReply
//   ClusterViewRequest              ClusterViewReply (cluster_view_message.h)
//   CableProbeRequest               CableProbeReply
//   DrainRequest                    DrainReply
//   FlowOpened, FlowEnded,
//   FlowCounts, FlowRerouted,
//   FlowWaits, ChunkCorrupted,
//   CircuitRetired, ListensAt       no reply
//   no request                      Welcome again, when anything in it has changed;
//                                   PortLost: the process ends its circuits there;
//                                   PathsChanged: the process's flows look for their best paths
#ifndef CABLEWAY_CORE_SESSION_SESSION_MESSAGE_H_
#define CABLEWAY_CORE_SESSION_SESSION_MESSAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_names.h"
#include "core/circuit/hop_transport.h"
#include "core/circuit/path_offer.h"
#include "core/crypto/setup_keys.h"
#include "core/flow/circuit_end.h"
#include "core/flow/circuit_name.h"
#include "core/flow/circuit_share.h"
#include "core/ports/port_lost.h"
#include "core/session/cluster_view_message.h"
#include "routing/text/node_name.h"

namespace cableway {

inline constexpr std::uint32_t kMaxSessionMessageBytes = 32U << 20;  // a view of the largest topology fits

// Separate from kProtocolVersion: a process and its node come from one installation, the nodes of a cluster from
// several.
inline constexpr std::uint16_t kSessionVersion = 18;

struct Hello {
  std::uint16_t version = kSessionVersion;
  std::string program;
  friend bool operator==(const Hello&, const Hello&) = default;
};

// A cable that the node does not trust now. No circuit may join over it, or none that the neighbour relays.
struct UnusedCable {
  std::string cable;
  std::string reason;
  bool only_relayed = false;  // PortLost's
  friend bool operator==(const UnusedCable&, const UnusedCable&) = default;
};

inline constexpr std::size_t kMaxUnused = 32;  // in one Welcome

// What a process needs from its node to open data listeners and to answer NCCL.
struct Welcome {
  std::string node;
  std::string cluster;
  std::uint64_t boot_nonce = 0;
  std::uint64_t rate_mbps = 0;         // of the node's fastest plug, one direction (core/node/plug_rate.h)
  std::vector<std::string> addresses;  // of its cable ports
  // Given to every process that may request paths.
  SetupKeys setup_keys = {};
  std::vector<UnusedCable> unused = {};  // the first kMaxUnused of them
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

struct Refusal {
  std::string reason;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

inline constexpr std::uint8_t kMaxPaths = 8;  // in one reply

// Paths for the `ordinal`-th flow from this node to `node`.
struct PathRequest {
  std::uint64_t request = 0;  // repeated in the reply
  std::uint64_t ordinal = 0;
  std::uint8_t most = 1;  // paths in the reply, 1 to kMaxPaths
  std::string node;
  // For inquiries, not for circuits: the reply comes at once, and may contain a path that no circuit can use now.
  bool for_inquiry = false;
  friend bool operator==(const PathRequest&, const PathRequest&) = default;
};

struct PathReply {
  std::uint64_t request = 0;
  std::string error;             // empty: there is a path
  std::vector<PathOffer> paths;  // without an error at least one: the first path, then the others by kind
  friend bool operator==(const PathReply&, const PathReply&) = default;
};

struct ViewRequest {
  std::string name;  // "topology", "status", "ports" or "events"; answered as JSON (core/view/view_table.h)
  friend bool operator==(const ViewRequest&, const ViewRequest&) = default;
};

struct ViewReply {
  std::string error;
  std::string text;
  friend bool operator==(const ViewReply&, const ViewReply&) = default;
};

// A cable between a port of this node and a neighbour's port.
struct ProbedCable {
  std::string interface;        // of this node
  std::string node;             // the neighbour there
  std::string other_interface;  // of the neighbour
  friend bool operator==(const ProbedCable&, const ProbedCable&) = default;
};

inline constexpr std::size_t kMaxProbedCables = 8;

// Measures the throughput of cables, all at the same time.
struct CableProbeRequest {
  std::vector<ProbedCable> cables;  // 1 to kMaxProbedCables, all different
  std::uint32_t duration_ms = 0;    // 1 to kMaxProbeMs
  bool both_ways = false;           // both directions at once; else only from this node to the neighbour
  friend bool operator==(const CableProbeRequest&, const CableProbeRequest&) = default;
};

struct CableRates {
  std::string error;  // empty: the cable was measured
  std::uint64_t to_mbps = 0;
  std::uint64_t from_mbps = 0;     // 0 if not requested
  std::string over;                // the transport, named as a hop's: "tcp", or "rdma " and this end's device
  std::uint32_t packet_bytes = 0;  // payload of a full RDMA packet that both ends allow; 0: over TCP
  friend bool operator==(const CableRates&, const CableRates&) = default;
};

struct CableProbeReply {
  std::string error;               // why nothing was measured; else empty
  std::vector<CableRates> cables;  // without an error: in the order of the request
  friend bool operator==(const CableProbeReply&, const CableProbeReply&) = default;
};

// Keeps paths away from this node, or from one of its cables, until the same request with `drain` false. Refused to
// users other than root and the node's user.
struct DrainRequest {
  std::string cable;  // its name in the topology; "": the node
  bool drain = true;
  friend bool operator==(const DrainRequest&, const DrainRequest&) = default;
};

struct DrainReply {
  std::string error;  // why nothing has changed; "": the request took effect
  friend bool operator==(const DrainReply&, const DrainReply&) = default;
};

// The best paths of flows may have changed, because of nodes, cables, or draining.
struct PathsChanged {
  friend bool operator==(const PathsChanged&, const PathsChanged&) = default;
};

// A flow of the process was set up, or is still open when the process connects to another incarnation of its node.
// The node uses the report for display. All texts are printable ASCII.
struct FlowOpened {
  std::uint64_t number = 0;  // strictly increasing in a session
  std::uint64_t flow = 0;    // CircuitSetup::flow
  std::string node;          // the node at the other end
  bool sends = false;        // this process is the source
  std::string path;          // nodes_on_path()
  std::string port;          // of this node; "" if no cable is crossed, or the cable's name does not contain the port
  HopTransport transport;    // of this end's hop
  std::uint64_t open_ms = 0;
  friend bool operator==(const FlowOpened&, const FlowOpened&) = default;
};

struct FlowEnded {
  std::uint64_t number = 0;
  std::string failure;  // why the flow failed; "": it was closed
  friend bool operator==(const FlowEnded&, const FlowEnded&) = default;
};

// A live circuit of a flow of the process.
struct CircuitCounts {
  std::string path;  // as in FlowOpened, and so are port and transport
  std::string port;
  HopTransport transport;
  std::uint64_t bytes = 0;  // payload that the circuit has carried
  std::uint64_t open_ms = 0;
  // The circuit of the newest chunk, or the primary where chunks are shared.
  bool carries = false;
  CircuitShare share = CircuitShare::kNone;
  // FlowTraffic::stalled() and kept_away(), if the flow begins here.
  std::uint64_t stalled_us = 0;
  std::uint64_t kept_away_us = 0;
  friend bool operator==(const CircuitCounts&, const CircuitCounts&) = default;
};

// What an open flow has carried. Sent about once a second while that changes.
struct FlowCounts {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;        // payload: given to circuits at the source, landed at the destination
  std::uint64_t bytes_again = 0;  // given to another circuit after the first one had ended
  std::uint64_t reroutes = 0;     // of a flow that begins here; also the total time without progress
  std::uint64_t pause_us = 0;
  std::vector<CircuitCounts> circuits;  // the live ones, at most kMaxFlowCircuits
  // Circuits that ended while the flow continued, by CircuitEndKind.
  std::array<std::uint64_t, kCircuitEndKinds> retired{};
  friend bool operator==(const FlowCounts&, const FlowCounts&) = default;
};

// Another circuit carries a flow that begins in this process. The source knows how long nothing moved.
struct FlowRerouted {
  std::uint64_t number = 0;
  std::string path;               // FlowOpened::path of the circuit that carries it now
  std::string cause;              // why the previous circuit ended; "": a better path was found
  std::uint64_t times = 1;        // since the last such report; more than one only within a fraction of a second
  std::uint64_t pause_us = 0;     // total time in which nothing moved
  std::uint64_t bytes_again = 0;  // sent again
  friend bool operator==(const FlowRerouted&, const FlowRerouted&) = default;
};

// A circuit of an open flow has ended because damaged bytes were found here. The flow continues over another circuit.
struct ChunkCorrupted {
  std::uint64_t number = 0;  // FlowOpened::number
  std::string reason;        // names the cable, or the first part of the path, at this end
  friend bool operator==(const ChunkCorrupted&, const ChunkCorrupted&) = default;
};

// A circuit of an open flow has ended, possibly one that has carried nothing. The flow continues.
struct CircuitRetired {
  std::uint64_t number = 0;  // FlowOpened::number
  std::string path;          // as in FlowOpened
  CircuitEndKind kind = CircuitEndKind::kFailed;
  std::string reason;
  std::uint64_t bytes_again = 0;  // at the source: to be sent again over other circuits
  friend bool operator==(const CircuitRetired&, const CircuitRetired&) = default;
};

// The process accepts circuits at this TCP port, on every address of its node. Sent to each incarnation of its node,
// which tells its neighbours: their relays connect to no other port.
struct ListensAt {
  std::uint16_t port = 0;  // not 0
  friend bool operator==(const ListensAt&, const ListensAt&) = default;
};

// A flow has had no circuit for a second, and its application waits. Followed by FlowCounts, or by FlowEnded.
struct FlowWaits {
  std::uint64_t number = 0;
  std::string cause;  // why its last circuit ended
  friend bool operator==(const FlowWaits&, const FlowWaits&) = default;
};

// Bounds of the texts in reports and in PortLost, in addition to routing::kMaxNodeNameBytes and kMaxPathText.
inline constexpr std::size_t kMaxPortName = 15;
inline constexpr std::size_t kMaxTransportName = 80;  // "rdma " and a device
inline constexpr std::size_t kMaxTransportReason = 200;
inline constexpr std::size_t kMaxFlowFailure = 1024;  // also of causes
inline constexpr std::size_t kMaxPortLostReason = 256;
inline constexpr std::uint64_t kMaxOpenMs = 1ULL << 48;

using SessionMessage = std::variant<Hello, Welcome, Refusal, PathRequest, PathReply, ViewRequest, ViewReply,
                                    CableProbeRequest, CableProbeReply, FlowOpened, FlowEnded, PortLost, FlowCounts,
                                    FlowRerouted, FlowWaits, ChunkCorrupted, DrainRequest, DrainReply, PathsChanged,
                                    CircuitRetired, ListensAt, ClusterViewRequest, ClusterViewReply>;

// Whether the message is a process's report about its flows or its listener, which the node does not answer.
bool is_report(const SessionMessage& message);

// Includes the length. The caller wipes the bytes after sending: a Welcome may carry a key.
std::vector<std::byte> encode_session_message(const SessionMessage& message);
// Without the length. InvalidArgument names the fault. The caller wipes the bytes.
absl::StatusOr<SessionMessage> decode_session_message(std::span<const std::byte> bytes);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_SESSION_MESSAGE_H_
