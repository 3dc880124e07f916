#include "core/flooding/link_segment.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/discovery/control_channel.h"
#include "core/discovery/control_datagram.h"
#include "core/wire.h"

namespace cableway {

// One message of any size, or several of kSegmentBytes together (AdjacencyLink), whose headers are smaller than they.
static_assert(kControlHeaderBytes + 64 + std::max(2 * kSegmentBytes, kMaxLinkMessageBytes) + kSealBytes <=
              kMaxDatagramBytes);

std::vector<std::byte> encode_link_segment(const LinkSegment& segment) {
  std::vector<std::byte> body;
  WireWriter writer(body);
  writer.put(segment.to);
  writer.put(segment.your_adjacency);
  writer.put(segment.my_adjacency);
  writer.put(segment.sequence);
  writer.put(segment.acknowledged);
  writer.put(static_cast<std::uint16_t>(segment.messages.size()));
  for (const LinkMessage& message : segment.messages) {
    writer.put(static_cast<std::uint8_t>(message.kind));
    writer.put(static_cast<std::uint16_t>(message.bytes.size()));
    writer.put_bytes(message.bytes);
  }
  return body;
}

absl::StatusOr<LinkSegment> decode_link_segment(std::span<const std::byte> body) {
  WireReader reader(body);
  LinkSegment segment;
  segment.to = reader.get<std::uint64_t>();
  segment.your_adjacency = reader.get<std::uint64_t>();
  segment.my_adjacency = reader.get<std::uint64_t>();
  segment.sequence = reader.get<std::uint32_t>();
  segment.acknowledged = reader.get<std::uint32_t>();
  const std::size_t count = reader.get<std::uint16_t>();
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    const auto kind = reader.get<std::uint8_t>();
    LinkMessage message{static_cast<LinkMessageKind>(kind), {}};
    const std::size_t bytes = reader.get<std::uint16_t>();
    if (bytes > kMaxLinkMessageBytes || bytes > reader.left()) {
      return absl::InvalidArgumentError(absl::StrCat("segment: message ", i, " of ", bytes, " bytes"));
    }
    message.bytes.resize(bytes);
    reader.get_bytes(message.bytes);
    const bool is_known =
        message.kind == LinkMessageKind::kAdvertisement || message.kind == LinkMessageKind::kToldPorts;
    if (is_known) segment.messages.push_back(std::move(message));
  }
  if (!reader.finished()) return absl::InvalidArgumentError("segment: bad length");
  if (segment.sequence == 0 && count != 0) return absl::InvalidArgumentError("segment: messages without a sequence");
  return segment;
}

}  // namespace cableway
