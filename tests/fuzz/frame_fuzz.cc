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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  for (std::size_t at = 0; at + kFrameHeaderBytes <= size; at += kFrameHeaderBytes) {
    const auto header = bytes.subspan(at).first<kFrameHeaderBytes>();
    const absl::StatusOr<Frame> frame = decode_frame(header);
    if (frame.ok()) {
      check_accepted(*frame, header);
    } else {
      require(!frame.status().message().empty() && frame.status().message().size() < 512, "an error without a reason");
    }
  }
  return 0;
}
