// The body of a segment: the part of an AdjacencyLink's stream in one datagram.
#ifndef CABLEWAY_CORE_FLOODING_LINK_SEGMENT_H_
#define CABLEWAY_CORE_FLOODING_LINK_SEGMENT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace cableway {

// A segment carries one message of any size, or as many as fit.
inline constexpr std::size_t kSegmentBytes = 8192;
inline constexpr std::size_t kMaxLinkMessageBytes = 26624;

enum class LinkMessageKind : std::uint8_t { kAdvertisement = 1, kToldPorts = 2 };

struct LinkMessage {
  LinkMessageKind kind = LinkMessageKind::kAdvertisement;
  std::vector<std::byte> bytes;
  friend bool operator==(const LinkMessage&, const LinkMessage&) = default;
};

struct LinkSegment {
  std::uint64_t to = 0;              // node id
  std::uint64_t your_adjacency = 0;  // both as in the hellos; segments of an ended adjacency are ignored
  std::uint64_t my_adjacency = 0;
  std::uint32_t sequence = 0;      // counts segments with messages, from 1; 0: no messages
  std::uint32_t acknowledged = 0;  // all up to this one were received
  std::vector<LinkMessage> messages;
  friend bool operator==(const LinkSegment&, const LinkSegment&) = default;
};

std::vector<std::byte> encode_link_segment(const LinkSegment& segment);
// InvalidArgument names the fault. Messages of unknown kinds are skipped: a newer node may send them.
absl::StatusOr<LinkSegment> decode_link_segment(std::span<const std::byte> body);

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_LINK_SEGMENT_H_
