#include "core/rdma/rdma_endpoint.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/wire.h"

namespace cableway {
namespace {

absl::Status check(const RdmaEndpoint& endpoint) {
  constexpr std::uint32_t kMax24Bits = (1U << 24) - 1;
  const bool numbers =
      endpoint.queue_pair >= 1 && endpoint.queue_pair <= kMax24Bits && endpoint.packet_sequence <= kMax24Bits;
  const bool mtu = endpoint.mtu >= 256 && endpoint.mtu <= 4096 && (endpoint.mtu & (endpoint.mtu - 1)) == 0;
  const bool ethernet = endpoint.ethernet.is_of_an_interface() || endpoint.ethernet.is_zero();
  if (numbers && mtu && endpoint.mailbox != 0 && ethernet) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("set-up: an invalid end of a queue pair: number ", endpoint.queue_pair,
                                                 ", packet sequence ", endpoint.packet_sequence, ", MTU ", endpoint.mtu,
                                                 ", mailbox ", endpoint.mailbox, ", Ethernet address ",
                                                 to_text(endpoint.ethernet)));
}

}  // namespace

std::vector<std::byte> encode_rdma_endpoint(const RdmaEndpoint& endpoint) {
  std::vector<std::byte> parameters;
  WireWriter writer(parameters);
  writer.put(endpoint.queue_pair);
  writer.put(endpoint.packet_sequence);
  writer.put_bytes(endpoint.gid);
  writer.put(endpoint.mtu);
  writer.put(endpoint.mailbox);
  writer.put(endpoint.mailbox_key);
  writer.put_bytes(endpoint.ethernet.bytes);
  return parameters;
}

absl::StatusOr<RdmaEndpoint> decode_rdma_endpoint(std::span<const std::byte> parameters) {
  WireReader reader(parameters);
  RdmaEndpoint endpoint;
  endpoint.queue_pair = reader.get<std::uint32_t>();
  endpoint.packet_sequence = reader.get<std::uint32_t>();
  reader.get_bytes(endpoint.gid);
  endpoint.mtu = reader.get<std::uint32_t>();
  endpoint.mailbox = reader.get<std::uint64_t>();
  endpoint.mailbox_key = reader.get<std::uint32_t>();
  reader.get_bytes(endpoint.ethernet.bytes);
  if (!reader.finished()) {
    return absl::InvalidArgumentError("set-up: an end of a queue pair is truncated, or followed by trailing bytes");
  }
  if (absl::Status status = check(endpoint); !status.ok()) return status;
  return endpoint;
}

}  // namespace cableway
