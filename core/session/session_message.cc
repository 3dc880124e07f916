#include "core/session/session_message.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/session/path_offer_codec.h"
#include "core/wire.h"
#include "routing/text/node_name.h"
#include "routing/topology/topology.h"

namespace cableway {
namespace {

constexpr std::array<bool, 256> kInPaths = [] {
  std::array<bool, 256> allowed{};
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._- >()";
  for (const char c : kAllowed) allowed[static_cast<unsigned char>(c)] = true;
  return allowed;
}();

enum class Type : std::uint8_t {
  kHello = 1,
  kWelcome,
  kRefusal,
  kPathRequest,
  kPathReply,
  kViewRequest,
  kViewReply,
  kCableProbeRequest,
  kCableProbeReply,
  kFlowOpened,
  kFlowEnded,
  kPortLost,
  kFlowCounts,
  kFlowRerouted,
  kFlowWaits,
  kChunkCorrupted,
  kDrainRequest,
  kDrainReply,
  kPathsChanged,
  kCircuitRetired,
  kListensAt,
  kClusterViewRequest,
  kClusterViewReply
};

constexpr std::size_t kMaxText = 4096;
// Errors in replies repeat the names of requests, so names are limited to far less than errors.
constexpr std::size_t kMaxRequestedName = 256;
constexpr std::size_t kMaxAddresses = 1024;

class Encoder {
 public:
  explicit Encoder(std::vector<std::byte>& out) : out_(out), writer_(out) {}

  void operator()(const Hello& message) {
    type(Type::kHello);
    writer_.put(message.version);
    writer_.put_text(message.program);
  }
  void operator()(const Welcome& message) {
    type(Type::kWelcome);
    writer_.put_text(message.node);
    writer_.put_text(message.cluster);
    writer_.put(message.boot_nonce);
    writer_.put(message.rate_mbps);
    writer_.put(static_cast<std::uint16_t>(message.addresses.size()));
    for (const std::string& address : message.addresses) writer_.put_text(address);
    writer_.put(static_cast<std::uint16_t>(message.unused.size()));
    for (const UnusedCable& unused : message.unused) {
      writer_.put_text(unused.cable);
      writer_.put_text(unused.reason);
      writer_.put(static_cast<std::uint8_t>(unused.only_relayed));
    }
    const std::span<const SubKey> keys = message.setup_keys.accepted();
    writer_.put(static_cast<std::uint8_t>(keys.size()));
    // Reallocation would leave a copy of a key behind.
    out_.reserve(out_.size() + keys.size() * SubKey::kBytes);
    for (const SubKey& key : keys) writer_.put_bytes(key.bytes());
  }
  void operator()(const Refusal& message) {
    type(Type::kRefusal);
    writer_.put_text(message.reason);
  }
  void operator()(const PathRequest& message) {
    type(Type::kPathRequest);
    writer_.put(message.request);
    writer_.put(message.ordinal);
    writer_.put(message.most);
    writer_.put_text(message.node);
    writer_.put(static_cast<std::uint8_t>(message.for_inquiry));
  }
  void operator()(const PathReply& message) {
    type(Type::kPathReply);
    writer_.put(message.request);
    writer_.put_text(message.error);
    writer_.put(static_cast<std::uint8_t>(message.paths.size()));
    for (const PathOffer& path : message.paths) put_path_offer(writer_, path);
  }
  void operator()(const ViewRequest& message) {
    type(Type::kViewRequest);
    writer_.put_text(message.name);
  }
  void operator()(const ViewReply& message) {
    type(Type::kViewReply);
    writer_.put_text(message.error);
    writer_.put_long_text(message.text);
  }
  void operator()(const CableProbeRequest& message) {
    type(Type::kCableProbeRequest);
    writer_.put(static_cast<std::uint8_t>(message.cables.size()));
    for (const ProbedCable& cable : message.cables) {
      writer_.put_text(cable.interface);
      writer_.put_text(cable.node);
      writer_.put_text(cable.other_interface);
    }
    writer_.put(message.duration_ms);
    writer_.put(static_cast<std::uint8_t>(message.both_ways));
  }
  void operator()(const CableProbeReply& message) {
    type(Type::kCableProbeReply);
    writer_.put_text(message.error);
    writer_.put(static_cast<std::uint8_t>(message.cables.size()));
    for (const CableRates& cable : message.cables) {
      writer_.put_text(cable.error);
      writer_.put(cable.to_mbps);
      writer_.put(cable.from_mbps);
      writer_.put_text(cable.over);
      writer_.put(cable.packet_bytes);
    }
  }
  void operator()(const FlowOpened& message) {
    type(Type::kFlowOpened);
    writer_.put(message.number);
    writer_.put(message.flow);
    writer_.put_text(message.node);
    writer_.put(static_cast<std::uint8_t>(message.sends));
    writer_.put_text(message.path);
    writer_.put_text(message.port);
    writer_.put_text(message.transport.over);
    writer_.put_text(message.transport.reason);
    writer_.put(message.open_ms);
  }
  void operator()(const FlowEnded& message) {
    type(Type::kFlowEnded);
    writer_.put(message.number);
    writer_.put_text(message.failure);
  }
  void operator()(const PortLost& message) {
    type(Type::kPortLost);
    writer_.put_text(message.interface);
    writer_.put_text(message.reason);
    writer_.put(static_cast<std::uint8_t>(message.only_rdma));
    writer_.put_text(message.cable);
    writer_.put(static_cast<std::uint8_t>(message.only_relayed));
  }
  void operator()(const FlowCounts& message) {
    type(Type::kFlowCounts);
    writer_.put(message.number);
    writer_.put(message.bytes);
    writer_.put(message.bytes_again);
    writer_.put(message.reroutes);
    writer_.put(message.pause_us);
    writer_.put(static_cast<std::uint8_t>(message.circuits.size()));
    for (const CircuitCounts& circuit : message.circuits) {
      writer_.put_text(circuit.path);
      writer_.put_text(circuit.port);
      writer_.put_text(circuit.transport.over);
      writer_.put_text(circuit.transport.reason);
      writer_.put(circuit.bytes);
      writer_.put(circuit.open_ms);
      writer_.put(static_cast<std::uint8_t>(circuit.carries));
      writer_.put(static_cast<std::uint8_t>(circuit.share));
      writer_.put(circuit.stalled_us);
      writer_.put(circuit.kept_away_us);
    }
    for (const std::uint64_t circuits : message.retired) writer_.put(circuits);
  }
  void operator()(const FlowRerouted& message) {
    type(Type::kFlowRerouted);
    writer_.put(message.number);
    writer_.put_text(message.path);
    writer_.put_text(message.cause);
    writer_.put(message.times);
    writer_.put(message.pause_us);
    writer_.put(message.bytes_again);
  }
  void operator()(const FlowWaits& message) {
    type(Type::kFlowWaits);
    writer_.put(message.number);
    writer_.put_text(message.cause);
  }
  void operator()(const ChunkCorrupted& message) {
    type(Type::kChunkCorrupted);
    writer_.put(message.number);
    writer_.put_text(message.reason);
  }
  void operator()(const DrainRequest& message) {
    type(Type::kDrainRequest);
    writer_.put_text(message.cable);
    writer_.put(static_cast<std::uint8_t>(message.drain));
  }
  void operator()(const DrainReply& message) {
    type(Type::kDrainReply);
    writer_.put_text(message.error);
  }
  void operator()(const PathsChanged& /*message*/) { type(Type::kPathsChanged); }
  void operator()(const CircuitRetired& message) {
    type(Type::kCircuitRetired);
    writer_.put(message.number);
    writer_.put_text(message.path);
    writer_.put(static_cast<std::uint8_t>(message.kind));
    writer_.put_text(message.reason);
    writer_.put(message.bytes_again);
  }
  void operator()(const ListensAt& message) {
    type(Type::kListensAt);
    writer_.put(message.port);
  }
  void operator()(const ClusterViewRequest& message) {
    type(Type::kClusterViewRequest);
    put_cluster_view_request(writer_, message);
  }
  void operator()(const ClusterViewReply& message) {
    type(Type::kClusterViewReply);
    put_cluster_view_reply(writer_, message);
  }

 private:
  void type(Type type) { writer_.put(static_cast<std::uint8_t>(type)); }

  std::vector<std::byte>& out_;
  WireWriter writer_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes.size()), reader_(bytes) {}

  absl::StatusOr<SessionMessage> decode() {
    const auto type = static_cast<Type>(reader_.get<std::uint8_t>());
    SessionMessage message;
    switch (type) {
      case Type::kHello:
        message = Hello{reader_.get<std::uint16_t>(), reader_.get_text(kMaxText)};
        break;
      case Type::kWelcome:
        message = welcome();
        break;
      case Type::kRefusal:
        message = Refusal{reader_.get_text(kMaxText)};
        break;
      case Type::kPathRequest:
        message = path_request();
        break;
      case Type::kPathReply:
        message = path_reply();
        break;
      case Type::kViewRequest:
        message = ViewRequest{reader_.get_text(kMaxRequestedName)};
        break;
      case Type::kViewReply:
        message = view_reply();
        break;
      case Type::kCableProbeRequest:
        message = cable_probe_request();
        break;
      case Type::kCableProbeReply:
        message = cable_probe_reply();
        break;
      case Type::kFlowOpened:
        message = flow_opened();
        break;
      case Type::kFlowEnded:
        message = FlowEnded{reader_.get<std::uint64_t>(), reader_.get_printable(kMaxFlowFailure)};
        break;
      case Type::kPortLost:
        message = port_lost();
        break;
      case Type::kFlowCounts:
        message = flow_counts();
        break;
      case Type::kFlowRerouted:
        message = FlowRerouted{reader_.get<std::uint64_t>(),           path(),
                               reader_.get_printable(kMaxFlowFailure), reader_.get<std::uint64_t>(),
                               reader_.get<std::uint64_t>(),           reader_.get<std::uint64_t>()};
        break;
      case Type::kFlowWaits:
        message = FlowWaits{reader_.get<std::uint64_t>(), reader_.get_printable(kMaxFlowFailure)};
        break;
      case Type::kChunkCorrupted:
        message = ChunkCorrupted{reader_.get<std::uint64_t>(), reader_.get_printable(kMaxFlowFailure)};
        break;
      case Type::kDrainRequest:
        message = DrainRequest{reader_.get_printable(routing::kMaxCableNameLength), reader_.get_flag()};
        break;
      case Type::kDrainReply:
        message = DrainReply{reader_.get_text(kMaxText)};
        break;
      case Type::kPathsChanged:
        message = PathsChanged{};
        break;
      case Type::kCircuitRetired:
        message = circuit_retired();
        break;
      case Type::kListensAt:
        message = listens_at();
        break;
      case Type::kClusterViewRequest:
        message = get_cluster_view_request(reader_);
        break;
      case Type::kClusterViewReply:
        message = get_cluster_view_reply(reader_);
        break;
      default:
        return absl::InvalidArgumentError(
            absl::StrCat("session message of unknown type ", static_cast<unsigned>(type)));
    }
    if (!reader_.finished()) {
      return absl::InvalidArgumentError(absl::StrCat("session message of type ", static_cast<unsigned>(type), " and ",
                                                     bytes_, " bytes is cut short or too long"));
    }
    return message;
  }

 private:
  Welcome welcome() {
    Welcome message{reader_.get_text(kMaxText),
                    reader_.get_text(kMaxText),
                    reader_.get<std::uint64_t>(),
                    reader_.get<std::uint64_t>(),
                    {}};
    const std::size_t addresses = reader_.get<std::uint16_t>();
    for (std::size_t i = 0; i < addresses && i < kMaxAddresses && reader_.ok(); ++i) {
      message.addresses.push_back(reader_.get_text(kMaxText));
    }
    const std::size_t unused = reader_.get<std::uint16_t>();
    for (std::size_t i = 0; i < unused && i < kMaxUnused && reader_.ok(); ++i) {
      message.unused.push_back({reader_.get_text(routing::kMaxCableNameLength),
                                reader_.get_printable(kMaxPortLostReason), reader_.get_flag()});
    }
    message.setup_keys = setup_keys();
    return message;
  }
  SetupKeys setup_keys() {
    const std::size_t count = reader_.get<std::uint8_t>();
    if (count > SetupKeys::kMost) reader_.reject();
    if (count == 0 || !reader_.ok()) return {};
    SubKey sealing;
    reader_.get_bytes(sealing.bytes());
    if (count == 1) return SetupKeys(sealing);
    SubKey other;
    reader_.get_bytes(other.bytes());
    return {sealing, other};
  }
  PathRequest path_request() {
    PathRequest message{reader_.get<std::uint64_t>(), reader_.get<std::uint64_t>(), reader_.get<std::uint8_t>(),
                        reader_.get_text(kMaxRequestedName), reader_.get_flag()};
    if (message.most == 0 || message.most > kMaxPaths) reader_.reject();
    if (!routing::is_valid_name(message.node, routing::kMaxNodeNameBytes)) reader_.reject();
    return message;
  }
  PathReply path_reply() {
    PathReply message{reader_.get<std::uint64_t>(), reader_.get_text(kMaxText), {}};
    const std::size_t paths = reader_.get<std::uint8_t>();
    if (paths > kMaxPaths || message.error.empty() != (paths > 0)) reader_.reject();
    for (std::size_t i = 0; i < paths && reader_.ok(); ++i) {
      message.paths.push_back(get_path_offer(reader_));
      const PathKind kind = message.paths.back().kind;
      const bool is_first = kind == PathKind::kFirst;
      if (is_first != (i == 0) || kind < message.paths[i == 0 ? 0 : i - 1].kind) reader_.reject();
    }
    return message;
  }
  // A count above kMaxProbedCables rejects the message.
  std::size_t probed_cables() {
    const std::size_t cables = reader_.get<std::uint8_t>();
    if (cables > kMaxProbedCables) reader_.reject();
    return cables;
  }
  CableProbeRequest cable_probe_request() {
    CableProbeRequest message;
    const std::size_t cables = probed_cables();
    for (std::size_t i = 0; i < cables && reader_.ok(); ++i) {
      message.cables.push_back({reader_.get_text(kMaxRequestedName), reader_.get_text(kMaxRequestedName),
                                reader_.get_text(kMaxRequestedName)});
    }
    message.duration_ms = reader_.get<std::uint32_t>();
    message.both_ways = reader_.get<std::uint8_t>() != 0;
    return message;
  }
  CableProbeReply cable_probe_reply() {
    CableProbeReply message{reader_.get_text(kMaxText), {}};
    const std::size_t cables = probed_cables();
    for (std::size_t i = 0; i < cables && reader_.ok(); ++i) {
      message.cables.push_back({reader_.get_text(kMaxText), reader_.get<std::uint64_t>(), reader_.get<std::uint64_t>(),
                                reader_.get_text(kMaxTransportName), reader_.get<std::uint32_t>()});
    }
    return message;
  }
  // A path stands within a line of the log, unquoted, so it has only what paths have: names, arrows and "(3 nodes)".
  std::string path() {
    std::string path = reader_.get_text(kMaxPathText);
    const auto is_allowed = [](char c) { return kInPaths[static_cast<unsigned char>(c)]; };
    if (!std::all_of(path.begin(), path.end(), is_allowed)) reader_.reject();
    return path;
  }
  FlowOpened flow_opened() {
    FlowOpened message;
    message.number = reader_.get<std::uint64_t>();
    message.flow = reader_.get<std::uint64_t>();
    message.node = reader_.get_printable(routing::kMaxNodeNameBytes);
    if (!message.node.empty() && !routing::is_valid_name(message.node, routing::kMaxNodeNameBytes)) reader_.reject();
    message.sends = reader_.get_flag();
    message.path = path();
    message.port = reader_.get_printable(kMaxPortName);
    message.transport = {reader_.get_printable(kMaxTransportName), reader_.get_printable(kMaxTransportReason)};
    message.open_ms = reader_.get<std::uint64_t>();
    if (message.open_ms > kMaxOpenMs) reader_.reject();
    return message;
  }
  FlowCounts flow_counts() {
    FlowCounts message;
    message.number = reader_.get<std::uint64_t>();
    message.bytes = reader_.get<std::uint64_t>();
    message.bytes_again = reader_.get<std::uint64_t>();
    message.reroutes = reader_.get<std::uint64_t>();
    message.pause_us = reader_.get<std::uint64_t>();
    const std::size_t circuits = reader_.get<std::uint8_t>();
    if (circuits > kMaxFlowCircuits) reader_.reject();
    for (std::size_t i = 0; i < circuits && reader_.ok(); ++i) {
      CircuitCounts& circuit = message.circuits.emplace_back();
      circuit.path = path();
      circuit.port = reader_.get_printable(kMaxPortName);
      circuit.transport = {reader_.get_printable(kMaxTransportName), reader_.get_printable(kMaxTransportReason)};
      circuit.bytes = reader_.get<std::uint64_t>();
      circuit.open_ms = reader_.get<std::uint64_t>();
      circuit.carries = reader_.get_flag();
      circuit.share = static_cast<CircuitShare>(reader_.get<std::uint8_t>());
      if (circuit.share > CircuitShare::kAlternate) reader_.reject();
      circuit.stalled_us = reader_.get<std::uint64_t>();
      circuit.kept_away_us = reader_.get<std::uint64_t>();
      if (circuit.open_ms > kMaxOpenMs) reader_.reject();
    }
    for (std::uint64_t& ended : message.retired) ended = reader_.get<std::uint64_t>();
    return message;
  }
  CircuitRetired circuit_retired() {
    CircuitRetired message;
    message.number = reader_.get<std::uint64_t>();
    message.path = path();
    message.kind = static_cast<CircuitEndKind>(reader_.get<std::uint8_t>());
    if (static_cast<std::size_t>(message.kind) >= kCircuitEndKinds) reader_.reject();
    message.reason = reader_.get_printable(kMaxFlowFailure);
    message.bytes_again = reader_.get<std::uint64_t>();
    return message;
  }
  ListensAt listens_at() {
    const ListensAt message{reader_.get<std::uint16_t>()};
    if (message.port == 0) reader_.reject();
    return message;
  }
  PortLost port_lost() {
    PortLost lost{reader_.get_text(kMaxPortName), reader_.get_printable(kMaxPortLostReason), reader_.get_flag(), "",
                  false};
    lost.cable = reader_.get_text(routing::kMaxCableNameLength);
    lost.only_relayed = reader_.get_flag();
    return lost;
  }
  ViewReply view_reply() { return ViewReply{reader_.get_text(kMaxText), reader_.get_long_text()}; }

  std::size_t bytes_;
  WireReader reader_;
};

}  // namespace

bool is_report(const SessionMessage& message) {
  return std::holds_alternative<FlowOpened>(message) || std::holds_alternative<FlowEnded>(message) ||
         std::holds_alternative<FlowCounts>(message) || std::holds_alternative<FlowRerouted>(message) ||
         std::holds_alternative<FlowWaits>(message) || std::holds_alternative<ChunkCorrupted>(message) ||
         std::holds_alternative<CircuitRetired>(message) || std::holds_alternative<ListensAt>(message);
}

std::vector<std::byte> encode_session_message(const SessionMessage& message) {
  std::vector<std::byte> body;
  std::visit(Encoder(body), message);
  std::vector<std::byte> framed;
  framed.reserve(sizeof(std::uint32_t) + body.size());
  WireWriter writer(framed);
  writer.put(static_cast<std::uint32_t>(body.size()));
  writer.put_bytes(body);
  wipe(body);
  return framed;
}

absl::StatusOr<SessionMessage> decode_session_message(std::span<const std::byte> bytes) {
  return Decoder(bytes).decode();
}

}  // namespace cableway
