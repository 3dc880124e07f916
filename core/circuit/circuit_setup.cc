#include "core/circuit/circuit_setup.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"
#include "core/wire.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_name.h"
#include "routing/topology/topology.h"

namespace cableway {
namespace {

constexpr std::size_t kHandleBodyBytes = 96;        // the checksum follows
constexpr std::uint32_t kHandleMagic = 0x59574243;  // "CBWY"

// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/): detects a damaged handle, not a forged one.
std::uint32_t checksum(std::span<const std::byte> bytes) {
  std::uint32_t hash = 2166136261U;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 16777619U;
  return hash;
}

// Names from a peer are shown in logs and views, so they must be valid names.
absl::Status check_path_names(const CircuitSetup& setup) {
  bool valid = routing::is_valid_name(setup.from_node, routing::kMaxNodeNameBytes);
  for (const Hop& hop : setup.hops) {
    valid = valid && routing::is_valid_name(hop.to_node, routing::kMaxNodeNameBytes) &&
            routing::is_valid_cable_name(hop.cable);
  }
  if (valid) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "set-up: the name of a node or cable on its path is empty or has other characters than letters, digits, '.', '_' "
      "and '-'");
}

absl::Status check_view(const CircuitSetup& setup) {
  if (setup.purpose != SetupPurpose::kView) return absl::OkStatus();
  const bool is_name = !setup.view.empty() && setup.view.size() <= kMaxViewName &&
                       std::all_of(setup.view.begin(), setup.view.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (!is_name) return absl::InvalidArgumentError("set-up: the name of its view has other characters than a to z");
  if (setup.budget_ms > kViewLimit.count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("set-up: ", setup.budget_ms, " ms for a view, at most ", kViewLimit.count()));
  }
  return absl::OkStatus();
}

absl::Status check_path(const CircuitSetup& setup) {
  // A path between two processes of one node crosses no cable.
  if (setup.hops.size() == 1 && setup.hops[0].to_node == setup.from_node) return absl::OkStatus();
  std::vector<std::string> nodes{setup.from_node};
  for (const Hop& hop : setup.hops) {
    if (hop.to_port == 0) {
      return absl::InvalidArgumentError(absl::StrCat("set-up: no port for node ", hop.to_node));
    }
    nodes.push_back(hop.to_node);
  }
  std::sort(nodes.begin(), nodes.end());
  if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end()) {
    return absl::InvalidArgumentError(absl::StrCat("set-up: path visits a node twice: ", describe_path(setup)));
  }
  return absl::OkStatus();
}

absl::Status check_limits(const CircuitSetup& setup) {
  if (setup.chunk_bytes == 0 || setup.chunk_bytes > kMaxChunkBytes || setup.chunk_bytes % kLineBytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("set-up: chunk size ", setup.chunk_bytes, ", expected a multiple of 128 up to ", kMaxChunkBytes));
  }
  if (setup.budget_ms == 0 || setup.budget_ms > kMaxBudgetMs) {
    return absl::InvalidArgumentError(
        absl::StrCat("set-up: ", setup.budget_ms, " ms to complete it, expected 1 to ", kMaxBudgetMs));
  }
  if (setup.path_wait_ms > kMaxPathWaitMs) {
    return absl::InvalidArgumentError(
        absl::StrCat("set-up: a flow that waits ", setup.path_wait_ms, " ms for a path, at most ", kMaxPathWaitMs));
  }
  if (setup.hop >= setup.hops.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("set-up: hop ", setup.hop, " of a path of ", setup.hops.size(), " hops"));
  }
  if (setup.circuit.slot >= kMaxFlowCircuits || setup.circuit.generation == 0) {
    return absl::InvalidArgumentError(absl::StrCat("set-up: circuit slot ", setup.circuit.slot, ", generation ",
                                                   setup.circuit.generation, "; expected slot 0 to ",
                                                   kMaxFlowCircuits - 1, " and generation 1 or later"));
  }
  if (absl::Status status = check_path_names(setup); !status.ok()) return status;
  if (absl::Status status = check_view(setup); !status.ok()) return status;
  return check_path(setup);
}

void put_offer(WireWriter& writer, const TransportOffer& offer) {
  writer.put(static_cast<std::uint8_t>(offer.kind));
  writer.put(static_cast<std::uint8_t>(offer.parameters.size()));
  writer.put_bytes(offer.parameters);
}

// A length above its bound puts the reader into its error state.
TransportOffer get_offer(WireReader& reader) {
  TransportOffer offer;
  offer.kind = static_cast<TransportKind>(reader.get<std::uint8_t>());
  const std::size_t bytes = reader.get<std::uint8_t>();
  if (bytes > kMaxOfferBytes) {
    reader.reject();
    return offer;
  }
  offer.parameters.resize(bytes);
  reader.get_bytes(offer.parameters);
  return offer;
}

// Encodes a frame whose body is an offer, or empty.
std::vector<std::byte> with_offer(Frame frame, const std::optional<TransportOffer>& offer) {
  std::vector<std::byte> bytes;
  WireWriter writer(bytes);
  if (offer) put_offer(writer, *offer);
  frame.payload = static_cast<std::uint32_t>(bytes.size());
  const FrameBytes header = encode_frame(frame);
  bytes.insert(bytes.begin(), header.begin(), header.end());
  return bytes;
}

absl::StatusOr<std::optional<TransportOffer>> only_offer(const Frame& header, std::span<const std::byte> body) {
  if (body.empty()) return std::nullopt;
  WireReader reader(body);
  TransportOffer offer = get_offer(reader);
  if (reader.finished()) return offer;
  return absl::InvalidArgumentError(absl::StrCat(to_text(header.kind), ": truncated, or followed by trailing bytes"));
}

absl::Status check_offers(const std::vector<TransportOffer>& offers) {
  for (auto offer = offers.begin(); offer != offers.end(); ++offer) {
    const auto same = [&](const TransportOffer& earlier) { return earlier.kind == offer->kind; };
    if (std::none_of(offers.begin(), offer, same)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("set-up: two offers of the transport of kind ", static_cast<int>(offer->kind)));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::byte> encode_circuit_setup(const CircuitSetup& setup) {
  std::vector<std::byte> bytes;
  WireWriter writer(bytes);
  writer.put(kProtocolVersion);
  writer.put(static_cast<std::uint8_t>(setup.purpose));
  writer.put_bytes(setup.listener);
  writer.put_bytes(setup.nonce);
  writer.put(setup.circuit.slot);
  writer.put(setup.circuit.generation);
  writer.put(setup.offer);
  writer.put(setup.rank);
  writer.put(static_cast<std::uint8_t>(setup.share));
  writer.put(static_cast<std::uint8_t>(setup.further ? 1 : 0));
  writer.put(setup.source_port);
  writer.put(setup.path_wait_ms);
  writer.put_bytes(setup.proof);
  writer.put(setup.flow);
  writer.put(setup.chunk_bytes);
  writer.put(setup.budget_ms);
  writer.put_text(setup.from_node);
  writer.put(setup.hop);
  writer.put(static_cast<std::uint16_t>(setup.hops.size()));
  for (const Hop& hop : setup.hops) put_hop(writer, hop);
  writer.put(static_cast<std::uint8_t>(setup.offers.size()));
  for (const TransportOffer& offer : setup.offers) put_offer(writer, offer);
  if (setup.purpose == SetupPurpose::kView) writer.put_text(setup.view);
  return bytes;
}

std::vector<std::byte> encode_setup_frame(const CircuitSetup& setup) {
  std::vector<std::byte> frame = encode_circuit_setup(setup);
  const FrameBytes header = encode_frame(Frame{FrameKind::kSetup, static_cast<std::uint32_t>(frame.size()), 0, 0, 0});
  frame.insert(frame.begin(), header.begin(), header.end());
  return frame;
}

absl::StatusOr<CircuitSetup> decode_circuit_setup(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  const auto version = reader.get<std::uint16_t>();
  if (reader.ok() && version != kProtocolVersion) {
    return absl::FailedPreconditionError(absl::StrCat("peer speaks protocol version ", version, ", this node ",
                                                      kProtocolVersion, ": install the same Cableway on both"));
  }
  CircuitSetup setup;
  const auto purpose = reader.get<std::uint8_t>();
  if (reader.ok() && purpose > static_cast<std::uint8_t>(SetupPurpose::kView)) {
    return absl::UnimplementedError(
        absl::StrCat("set-up: unknown purpose ", purpose, ": install the same Cableway on both"));
  }
  setup.purpose = static_cast<SetupPurpose>(purpose);
  reader.get_bytes(setup.listener);
  reader.get_bytes(setup.nonce);
  setup.circuit.slot = reader.get<std::uint8_t>();
  setup.circuit.generation = reader.get<std::uint32_t>();
  setup.offer = reader.get<std::uint32_t>();
  setup.rank = reader.get<std::uint8_t>();
  const auto share = reader.get<std::uint8_t>();
  if (share > static_cast<std::uint8_t>(CircuitShare::kAlternate)) reader.reject();
  setup.share = static_cast<CircuitShare>(share);
  setup.further = reader.get_flag();
  setup.source_port = reader.get<std::uint16_t>();
  setup.path_wait_ms = reader.get<std::uint32_t>();
  reader.get_bytes(setup.proof);
  setup.flow = reader.get<std::uint64_t>();
  setup.chunk_bytes = reader.get<std::uint32_t>();
  setup.budget_ms = reader.get<std::uint32_t>();
  setup.from_node = reader.get_text(routing::kMaxNodeNameBytes);
  setup.hop = reader.get<std::uint16_t>();
  const std::size_t hops = reader.get<std::uint16_t>();
  if (hops > kMaxHops) {
    return absl::InvalidArgumentError(absl::StrCat("set-up: ", hops, " hops, at most ", kMaxHops));
  }
  for (std::size_t i = 0; i < hops && reader.ok(); ++i) setup.hops.push_back(get_hop(reader));
  const std::size_t offers = reader.get<std::uint8_t>();
  if (offers > kMaxOffers) {
    return absl::InvalidArgumentError(absl::StrCat("set-up: ", offers, " transports offered, at most ", kMaxOffers));
  }
  for (std::size_t i = 0; i < offers && reader.ok(); ++i) setup.offers.push_back(get_offer(reader));
  if (setup.purpose == SetupPurpose::kView) setup.view = reader.get_text(kMaxViewName);
  if (!reader.finished()) return absl::InvalidArgumentError("set-up: truncated, unknown share, or trailing bytes");
  if (absl::Status status = check_offers(setup.offers); !status.ok()) return status;
  if (absl::Status status = check_limits(setup); !status.ok()) return status;
  return setup;
}

std::vector<std::byte> encode_setup_answer(const SetupAnswer& answer) {
  return with_offer(Frame{FrameKind::kSetupOk, 0, 0, 0, answer.chunk_bytes}, answer.taken);
}

absl::StatusOr<SetupAnswer> decode_setup_answer(const Frame& header, std::span<const std::byte> body) {
  absl::StatusOr<std::optional<TransportOffer>> taken = only_offer(header, body);
  if (!taken.ok()) return taken.status();
  return SetupAnswer{static_cast<std::uint32_t>(header.size), *std::move(taken)};
}

std::vector<std::byte> encode_probe(const ProbeOpening& opening) {
  return with_offer(opening.probe, opening.offered);
}

absl::StatusOr<ProbeOpening> decode_probe(const Frame& header, std::span<const std::byte> body) {
  absl::StatusOr<std::optional<TransportOffer>> offered = only_offer(header, body);
  if (!offered.ok()) return offered.status();
  return ProbeOpening{header, *std::move(offered)};
}

std::string describe_path(const CircuitSetup& setup) {
  std::string text = setup.from_node;
  for (const Hop& hop : setup.hops) absl::StrAppend(&text, " -", hop.cable, "-> ", hop.to_node);
  return text;
}

std::array<std::byte, kListenHandleBytes> encode_listen_handle(const ListenHandle& handle) {
  std::vector<std::byte> body;
  WireWriter writer(body);
  writer.put(kHandleMagic);
  writer.put(kProtocolVersion);
  writer.put_bytes(handle.cookie);
  writer.put(handle.port);
  writer.put_text(handle.node.substr(0, routing::kMaxNodeNameBytes));
  writer.put(handle.path_wait_ms);
  writer.put(handle.tuner.cabling);
  writer.put(handle.tuner.sizes);
  body.resize(kHandleBodyBytes);
  writer.put(checksum(std::span(body)));
  std::array<std::byte, kListenHandleBytes> bytes{};
  std::copy(body.begin(), body.end(), bytes.begin());
  return bytes;
}

absl::StatusOr<ListenHandle> decode_listen_handle(std::span<const std::byte, kListenHandleBytes> bytes) {
  WireReader reader(bytes);
  if (reader.get<std::uint32_t>() != kHandleMagic) {
    return absl::InvalidArgumentError("the handle is not one of Cableway's: do all ranks load this plugin?");
  }
  const auto version = reader.get<std::uint16_t>();
  if (version != kProtocolVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the handle is of protocol version ", version, ", expected ",
                                                      kProtocolVersion, ": install the same Cableway on all nodes"));
  }
  ListenHandle handle;
  reader.get_bytes(handle.cookie);
  handle.port = reader.get<std::uint16_t>();
  handle.node = reader.get_text(routing::kMaxNodeNameBytes);
  handle.path_wait_ms = reader.get<std::uint32_t>();
  handle.tuner.cabling = reader.get<std::uint8_t>();
  handle.tuner.sizes = reader.get<std::uint16_t>();
  WireReader sum(bytes.subspan(kHandleBodyBytes));
  if (!reader.ok() || !routing::is_valid_name(handle.node, routing::kMaxNodeNameBytes) || handle.port == 0 ||
      handle.path_wait_ms > kMaxPathWaitMs || sum.get<std::uint32_t>() != checksum(bytes.first(kHandleBodyBytes))) {
    return absl::InvalidArgumentError("the handle is damaged: its checksum or its fields are wrong");
  }
  return handle;
}

}  // namespace cableway
