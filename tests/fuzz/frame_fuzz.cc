// Feeds bytes to the decoder of frames, header by header.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/circuit/circuit_seal.h"
#include "core/flow/frame.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

namespace {

void check_accepted(const cableway::Frame& frame, std::span<const std::byte, cableway::kFrameHeaderBytes> bytes) {
  using namespace cableway;
  const FrameBytes again = encode_frame(frame);
  require(std::equal(again.begin(), again.end(), bytes.begin()), "a frame does not survive a round trip");
  require(std::string(to_text(frame.kind)) != "of unknown kind", "a kind that does not exist was accepted");
  if (frame.kind == FrameKind::kChallenge || frame.kind == FrameKind::kSeal) {
    const std::array<std::byte, 16> carried = sixteen_bytes_of(frame);
    require(std::equal(carried.begin(), carried.end(), bytes.end() - carried.size()), "other bytes than were sent");
  }
  if (frame.kind != FrameKind::kChunk) {
    require(frame.payload <= kMaxSetupBytes, "a payload without a bound");
    return;
  }
  require(frame.payload <= kMaxChunkBytes, "a chunk without a bound");
  require(frame.offset <= frame.size && frame.payload <= frame.size - frame.offset, "a chunk outside its message");
  require(frame.offset % kLineBytes == 0, "a chunk that splits a line");
}

void decode(const cableway::FrameBytes& header) {
  const absl::StatusOr<cableway::Frame> frame = cableway::decode_frame(header);
  if (frame.ok()) return check_accepted(*frame, header);
  require(!frame.status().message().empty() && frame.status().message().size() < 512, "an error without a reason");
}

// Without it hardly any input would get beyond the header's sum.
void set_sum(cableway::FrameBytes& header) {
  const std::uint16_t sum = cableway::header_sum(header);
  header[2] = static_cast<std::byte>(sum & 0xff);
  header[3] = static_cast<std::byte>(sum >> 8);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  for (std::size_t at = 0; at + kFrameHeaderBytes <= size; at += kFrameHeaderBytes) {
    for (const bool summed : {false, true}) {
      FrameBytes header;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), header.size(), header.begin());
      if (summed) set_sum(header);
      decode(header);
    }
  }
  return 0;
}
