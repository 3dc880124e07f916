// The messages between an application process and its node on the session socket. Each is encoded as a 32-bit
// little-endian length, then that many bytes: a type and the fields in the order below.
//
//   application or CLI -> node      node -> application or CLI
//   Hello                           Welcome, or Refusal
//   PathRequest                     PathReply
//   ViewRequest                     ViewReply
//   CableProbeRequest               CableProbeReply
//   FlowOpened, FlowEnded           no reply
//   no request                      Welcome again; PortLost, upon which the process ends its circuits there
#ifndef CABLEWAY_CORE_SESSION_SESSION_MESSAGE_H_
#define CABLEWAY_CORE_SESSION_SESSION_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop.h"
#include "core/circuit/hop_names.h"
#include "core/circuit/hop_transport.h"
#include "core/crypto/sub_key.h"
#include "core/ports/port_lost.h"
#include "routing/text/node_name.h"

namespace cableway {

inline constexpr std::uint32_t kMaxSessionMessageBytes = 32U << 20;  // a view of the largest topology fits

// Separate from kProtocolVersion: process and node come from one installation, nodes from several.
inline constexpr std::uint16_t kSessionVersion = 5;

struct Hello {
  std::uint16_t version = kSessionVersion;
  std::string program;
  friend bool operator==(const Hello&, const Hello&) = default;
};

// What a process needs of its node to open data listeners and to answer NCCL.
struct Welcome {
  std::string node;
  std::string cluster;
  std::uint64_t boot_nonce = 0;
  std::uint64_t rate_mbps = 0;         // of the node's fastest plug, one direction (core/node/plug_rate.h)
  std::vector<std::string> addresses;  // of its cable ports
  // The key that seals set-ups, if the cluster has one. Given to every process that may request paths.
  std::optional<SubKey> setup_key = std::nullopt;
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

struct Refusal {
  std::string reason;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// The path for the `ordinal`-th flow from this node to `node`.
struct PathRequest {
  std::uint64_t request = 0;  // repeated in the reply
  std::uint64_t ordinal = 0;
  std::string node;
  friend bool operator==(const PathRequest&, const PathRequest&) = default;
};

inline constexpr std::size_t kMaxPaths = 8;  // in one reply

struct PathReply {
  std::uint64_t request = 0;
  std::string error;  // empty: there is a path
  // Best first; one, for now. to_port of the last hop is 0: the listen handle has it.
  std::vector<std::vector<Hop>> paths;
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
  bool both_ways = false;           // both directions at once; else from here to there
  friend bool operator==(const CableProbeRequest&, const CableProbeRequest&) = default;
};

struct CableRates {
  std::string error;  // empty: it was measured
  std::uint64_t to_mbps = 0;
  std::uint64_t from_mbps = 0;     // 0 if not requested
  std::string over;                // the transport, named like a hop's: "tcp", or "rdma " and this end's device
  std::uint32_t packet_bytes = 0;  // payload of a full RDMA packet, as both ends allow; 0: over TCP
  friend bool operator==(const CableRates&, const CableRates&) = default;
};

struct CableProbeReply {
  std::string error;               // why nothing was measured; else empty
  std::vector<CableRates> cables;  // without an error: in the order of the request
  friend bool operator==(const CableProbeReply&, const CableProbeReply&) = default;
};

// A flow of the process is set up, or is still open when the process connects to another incarnation of its node. For
// display by the node. All texts are printable ASCII.
struct FlowOpened {
  std::uint64_t number = 0;  // strictly increasing in a session
  std::uint64_t flow = 0;    // CircuitSetup::flow
  std::string node;          // at the other end
  bool sends = false;        // from here to there
  std::string path;          // nodes_on_path()
  std::string port;          // of this node; "" if no cable is crossed, or its name does not contain the port
  HopTransport transport;    // of this end's hop
  std::uint64_t open_ms = 0;
  friend bool operator==(const FlowOpened&, const FlowOpened&) = default;
};

struct FlowEnded {
  std::uint64_t number = 0;
  std::string failure;  // why it failed; "": it was closed
  friend bool operator==(const FlowEnded&, const FlowEnded&) = default;
};

// Bounds of the texts of reports and of PortLost, beside routing::kMaxNodeNameBytes and kMaxPathText.
inline constexpr std::size_t kMaxPortName = 15;
inline constexpr std::size_t kMaxTransportName = 80;  // "rdma " and a device
inline constexpr std::size_t kMaxTransportReason = 200;
inline constexpr std::size_t kMaxFlowFailure = 1024;
inline constexpr std::size_t kMaxPortLostReason = 256;
inline constexpr std::uint64_t kMaxOpenMs = 1ULL << 48;

using SessionMessage = std::variant<Hello, Welcome, Refusal, PathRequest, PathReply, ViewRequest, ViewReply,
                                    CableProbeRequest, CableProbeReply, FlowOpened, FlowEnded, PortLost>;

// Includes the length. The caller wipes the bytes after sending: a Welcome may carry a key.
std::vector<std::byte> encode_session_message(const SessionMessage& message);
// Without the length. InvalidArgument names the fault. The caller wipes the bytes.
absl::StatusOr<SessionMessage> decode_session_message(std::span<const std::byte> bytes);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_SESSION_MESSAGE_H_
