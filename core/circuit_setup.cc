#include "core/circuit_setup.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/frame.h"
#include "core/wire.h"
#include "routing/node_name.h"
#include "routing/topology.h"

namespace cableway {
namespace {

constexpr std::size_t kHandleBodyBytes = 96;        // the checksum follows
constexpr std::uint32_t kHandleMagic = 0x59574243;  // "CBWY"

// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/): tells a damaged handle from a whole one, no more.
std::uint32_t checksum(std::span<const std::byte> bytes) {
  std::uint32_t hash = 2166136261U;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 16777619U;
  return hash;
}

// Names from outside are shown in logs and views, so they must be names.
absl::Status check_path_names(const CircuitSetup& setup) {
  bool valid = routing::is_valid_name(setup.from_node, kMaxNodeNameBytes);
  for (const Hop& hop : setup.hops) {
    valid = valid && routing::is_valid_name(hop.to_node, kMaxNodeNameBytes) &&
            routing::is_valid_name(hop.cable, routing::kMaxCableNameLength);
  }
  if (valid) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "set-up: the name of a node or cable on its path is empty or has other characters than letters, digits, '.', '_' "
      "and '-'");
}

absl::Status check_path(const CircuitSetup& setup) {
  // Between two processes of one node there is no cable to cross.
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
  if (setup.hop >= setup.hops.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("set-up: hop ", setup.hop, " of a path of ", setup.hops.size(), " hops"));
  }
  if (absl::Status status = check_path_names(setup); !status.ok()) return status;
  return check_path(setup);
}

// An end of a queue pair crosses a cable in this form.
void put_rdma_endpoint(WireWriter& writer, const RdmaEndpoint& endpoint) {
  writer.put(endpoint.queue_pair);
  writer.put(endpoint.packet_sequence);
  writer.put_bytes(endpoint.gid);
  writer.put(endpoint.mtu);
  writer.put(endpoint.mailbox);
  writer.put(endpoint.mailbox_key);
}

RdmaEndpoint get_rdma_endpoint(WireReader& reader) {
  RdmaEndpoint endpoint;
  endpoint.queue_pair = reader.get<std::uint32_t>();
  endpoint.packet_sequence = reader.get<std::uint32_t>();
  reader.get_bytes(endpoint.gid);
  endpoint.mtu = reader.get<std::uint32_t>();
  endpoint.mailbox = reader.get<std::uint64_t>();
  endpoint.mailbox_key = reader.get<std::uint32_t>();
  return endpoint;
}

absl::Status check_rdma_endpoint(const RdmaEndpoint& endpoint) {
  constexpr std::uint32_t kMost24Bits = (1U << 24) - 1;
  const bool numbers =
      endpoint.queue_pair >= 1 && endpoint.queue_pair <= kMost24Bits && endpoint.packet_sequence <= kMost24Bits;
  const bool mtu = endpoint.mtu >= 256 && endpoint.mtu <= 4096 && (endpoint.mtu & (endpoint.mtu - 1)) == 0;
  if (numbers && mtu && endpoint.mailbox != 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("set-up: an end of a queue pair that cannot be: number ",
                                                 endpoint.queue_pair, ", packet sequence ", endpoint.packet_sequence,
                                                 ", MTU ", endpoint.mtu, ", mailbox ", endpoint.mailbox));
}

}  // namespace

std::vector<std::byte> encode_circuit_setup(const CircuitSetup& setup) {
  std::vector<std::byte> bytes;
  WireWriter writer(bytes);
  writer.put(kProtocolVersion);
  writer.put_bytes(setup.listener);
  writer.put_bytes(setup.nonce);
  writer.put_bytes(setup.proof);
  writer.put(setup.flow);
  writer.put(setup.chunk_bytes);
  writer.put(setup.budget_ms);
  writer.put_text(setup.from_node);
  writer.put(setup.hop);
  writer.put(static_cast<std::uint16_t>(setup.hops.size()));
  for (const Hop& hop : setup.hops) put_hop(writer, hop);
  writer.put(static_cast<std::uint8_t>(setup.rdma.has_value()));
  if (setup.rdma) put_rdma_endpoint(writer, *setup.rdma);
  return bytes;
}

absl::StatusOr<CircuitSetup> decode_circuit_setup(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  const auto version = reader.get<std::uint16_t>();
  if (reader.ok() && version != kProtocolVersion) {
    return absl::FailedPreconditionError(absl::StrCat("peer speaks protocol version ", version, ", this node ",
                                                      kProtocolVersion, ": install the same Cableway on both"));
  }
  CircuitSetup setup;
  reader.get_bytes(setup.listener);
  reader.get_bytes(setup.nonce);
  reader.get_bytes(setup.proof);
  setup.flow = reader.get<std::uint64_t>();
  setup.chunk_bytes = reader.get<std::uint32_t>();
  setup.budget_ms = reader.get<std::uint32_t>();
  setup.from_node = reader.get_text(kMaxNodeNameBytes);
  setup.hop = reader.get<std::uint16_t>();
  const std::size_t hops = reader.get<std::uint16_t>();
  if (hops > kMaxHops) {
    return absl::InvalidArgumentError(absl::StrCat("set-up: ", hops, " hops, at most ", kMaxHops));
  }
  for (std::size_t i = 0; i < hops && reader.ok(); ++i) setup.hops.push_back(get_hop(reader));
  if (reader.get<std::uint8_t>() != 0) setup.rdma = get_rdma_endpoint(reader);
  if (!reader.finished()) return absl::InvalidArgumentError("set-up: cut short, or followed by something else");
  if (setup.rdma) {
    if (absl::Status status = check_rdma_endpoint(*setup.rdma); !status.ok()) return status;
  }
  if (absl::Status status = check_limits(setup); !status.ok()) return status;
  return setup;
}

std::vector<std::byte> encode_setup_answer(const SetupAnswer& answer) {
  std::vector<std::byte> body;
  WireWriter writer(body);
  if (answer.rdma) put_rdma_endpoint(writer, *answer.rdma);
  const FrameBytes header =
      encode_frame(Frame{FrameKind::kSetupOk, static_cast<std::uint32_t>(body.size()), 0, 0, answer.chunk_bytes});
  body.insert(body.begin(), header.begin(), header.end());
  return body;
}

absl::StatusOr<SetupAnswer> decode_setup_answer(const Frame& header, std::span<const std::byte> body) {
  SetupAnswer answer;
  answer.chunk_bytes = static_cast<std::uint32_t>(header.size);
  if (body.empty()) return answer;
  WireReader reader(body);
  answer.rdma = get_rdma_endpoint(reader);
  if (!reader.finished()) return absl::InvalidArgumentError("set-up-ok: cut short, or followed by something else");
  if (absl::Status status = check_rdma_endpoint(*answer.rdma); !status.ok()) return status;
  return answer;
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
  writer.put_text(handle.node.substr(0, kMaxNodeNameBytes));
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
  handle.node = reader.get_text(kMaxNodeNameBytes);
  WireReader sum(bytes.subspan(kHandleBodyBytes));
  if (!reader.ok() || handle.node.empty() || handle.port == 0 ||
      sum.get<std::uint32_t>() != checksum(bytes.first(kHandleBodyBytes))) {
    return absl::InvalidArgumentError("the handle is damaged: its checksum or its fields are wrong");
  }
  return handle;
}

}  // namespace cableway
