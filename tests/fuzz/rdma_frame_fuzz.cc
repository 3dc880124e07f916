// Feeds bytes to the decoder of the frames that the ends of an RDMA hop write into each other's mailboxes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/rdma/rdma_frame.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

namespace {

void check_accepted(const cableway::RdmaFrame& frame, std::span<const std::byte, cableway::kRdmaFrameBytes> bytes) {
  using namespace cableway;
  const RdmaFrameBytes again = encode_rdma_frame(frame);
  require(std::equal(again.begin(), again.end(), bytes.begin()), "a frame does not survive a round trip");
  if (frame.what != RdmaFrame::What::kFrame) {
    require(frame.frame == Frame(), "a frame inside one that carries none");
    require((frame.address == 0) == (frame.what == RdmaFrame::What::kTaken),
            "an address where none belongs, or a missing one");
    return;
  }
  const FrameKind kind = frame.frame.kind;
  require(kind == FrameKind::kChunk || is_control(kind), "a frame kind that does not belong in a mailbox");
  require(frame.frame.payload <= kMaxChunkBytes, "a chunk without a bound");
  const bool may_have_address = kind == FrameKind::kChunk || kind == FrameKind::kAnnounce;
  require(may_have_address || (frame.address == 0 && frame.key == 0), "an address where none belongs");
}

void decode(const cableway::RdmaFrameBytes& bytes) {
  const absl::StatusOr<cableway::RdmaFrame> frame = cableway::decode_rdma_frame(bytes);
  if (frame.ok()) return check_accepted(*frame, bytes);
  require(!frame.status().message().empty() && frame.status().message().size() < 512, "an error without a reason");
}

// Of the frame inside, which has none over RDMA.
void clear_sum(cableway::RdmaFrameBytes& bytes) {
  bytes[2] = bytes[3] = std::byte{0};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  for (std::size_t at = 0; at + kRdmaFrameBytes <= size; at += kRdmaFrameBytes) {
    for (const bool unsummed : {false, true}) {
      RdmaFrameBytes each;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), each.size(), each.begin());
      if (unsummed) clear_sum(each);
      decode(each);
    }
  }
  return 0;
}
