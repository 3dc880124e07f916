// What an application process and its node say to each other on the session socket. Each message travels as a 32-bit
// little-endian length, then that many bytes: a type and the fields in the order below.
//
//   application or CLI -> node      node -> application or CLI
//   Hello                           Welcome, or Refusal
//   PathRequest                     PathReply
//   ViewRequest                     ViewReply
//   CableProbeRequest                CableProbeReply
//   FlowOpened, FlowEnded           nothing: they are told, and not asked
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

namespace cableway {

inline constexpr std::uint32_t kMaxSessionMessageBytes = 32U << 20;  // a view of the largest topology fits

// Of this conversation alone: process and node come from one installation, and nodes from several.
inline constexpr std::uint16_t kSessionVersion = 3;

struct Hello {
  std::uint16_t version = kSessionVersion;
  std::string program;
  friend bool operator==(const Hello&, const Hello&) = default;
};

// What a process must know of its node to make data listeners and to answer NCCL.
struct Welcome {
  std::string node;
  std::string cluster;
  std::uint64_t boot_nonce = 0;
  std::uint64_t rate_mbps = 0;         // of the node's fastest cable, one direction
  std::vector<std::string> addresses;  // of its cable ports
  // With which set-ups are sealed, where the cluster has a key. The node's peer may have it: it may have paths, too.
  std::optional<SubKey> setup_key = std::nullopt;
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

struct Refusal {
  std::string reason;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// The path for the `ordinal`-th flow from this node to `node`.
struct PathRequest {
  std::uint64_t request = 0;  // comes back in the reply
  std::uint64_t ordinal = 0;
  std::string node;
  friend bool operator==(const PathRequest&, const PathRequest&) = default;
};

inline constexpr std::size_t kMaxPaths = 8;  // in one reply

struct PathReply {
  std::uint64_t request = 0;
  std::string error;                    // empty: there is a path
  std::vector<std::vector<Hop>> paths;  // best first: one, for now. to_port of the last hop is 0: the listen handle
                                        // knows it
  friend bool operator==(const PathReply&, const PathReply&) = default;
};

struct ViewRequest {
  std::string name;  // "topology": answered by a topology file (TOML); "status", "ports", "events": by JSON
  friend bool operator==(const ViewRequest&, const ViewRequest&) = default;
};

struct ViewReply {
  std::string error;
  std::string text;
  friend bool operator==(const ViewReply&, const ViewReply&) = default;
};

// Sends data over the cable between a port of this node and the port of a neighbour, to see how fast it is.
struct CableProbeRequest {
  std::string interface;          // of this node
  std::string node;               // the neighbour there
  std::uint32_t duration_ms = 0;  // 1 to kMaxProbeMs
  bool both_ways = false;         // at once; else from here to there
  friend bool operator==(const CableProbeRequest&, const CableProbeRequest&) = default;
};

struct CableProbeReply {
  std::string error;  // empty: it was measured
  std::uint64_t to_mbps = 0;
  std::uint64_t from_mbps = 0;  // 0 where it was not asked for
  friend bool operator==(const CableProbeReply&, const CableProbeReply&) = default;
};

// A flow of the process is set up, or still is when it joins another incarnation of its node. For people: the node
// shows it. All texts are printable ASCII.
struct FlowOpened {
  std::uint64_t number = 0;  // grows with each that the session tells
  std::uint64_t flow = 0;    // as its set-up calls it
  std::string node;          // at the other end
  bool sends = false;        // from here to there
  std::string path;          // nodes_on_path()
  std::string port;          // of this node, that it uses; "" where no cable is crossed, or its name does not say
  HopTransport transport;    // of this end's hop
  std::uint64_t open_ms = 0;
  friend bool operator==(const FlowOpened&, const FlowOpened&) = default;
};

struct FlowEnded {
  std::uint64_t number = 0;
  std::string failure;  // why it failed; "": it was closed
  friend bool operator==(const FlowEnded&, const FlowEnded&) = default;
};

// What their texts may have, beside kMaxNodeNameBytes and kMaxPathText.
inline constexpr std::size_t kMaxPortName = 15;
inline constexpr std::size_t kMaxTransportName = 80;  // "rdma " and a device
inline constexpr std::size_t kMaxTransportReason = 200;
inline constexpr std::size_t kMaxFlowFailure = 1024;
inline constexpr std::uint64_t kMaxOpenMs = 1ULL << 48;

using SessionMessage = std::variant<Hello, Welcome, Refusal, PathRequest, PathReply, ViewRequest, ViewReply,
                                    CableProbeRequest, CableProbeReply, FlowOpened, FlowEnded>;

// With the length in front. Whoever sends it wipes it: a Welcome may carry a key.
std::vector<std::byte> encode_session_message(const SessionMessage& message);
// Without the length. InvalidArgument says what is wrong. Whoever received the bytes wipes them.
absl::StatusOr<SessionMessage> decode_session_message(std::span<const std::byte> bytes);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_SESSION_MESSAGE_H_
