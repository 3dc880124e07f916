#include "core/circuit/circuit_seal.h"

#include "core/little_endian.h"

namespace cableway {
namespace {

// The header's last 16 bytes are two little-endian fields (offset, size), so the bytes are copied as they are.
FrameBytes encode_sixteen_bytes(FrameKind kind, std::span<const std::byte, 16> bytes) {
  constexpr std::size_t kAt = kFrameHeaderBytes - 16;
  FrameBytes frame = encode_frame(Frame{kind, 0, 0, 0, 0});
  for (std::size_t i = 0; i < bytes.size(); ++i) frame[kAt + i] = bytes[i];
  return frame;
}

}  // namespace

std::array<std::byte, 16> sixteen_bytes_of(const Frame& frame) {
  std::array<std::byte, 16> bytes;
  store_little_endian(&bytes[0], frame.offset);
  store_little_endian(&bytes[8], frame.size);
  return bytes;
}

FrameBytes encode_challenge(const Challenge& challenge) {
  return encode_sixteen_bytes(FrameKind::kChallenge, challenge);
}

FrameBytes encode_seal(const Mac& seal) {
  return encode_sixteen_bytes(FrameKind::kSeal, seal);
}

CircuitSeal::CircuitSeal(const SubKey& key, const Challenge& of_acceptor, const Challenge& of_dialer) : key_(key) {
  so_far_.insert(so_far_.end(), of_acceptor.begin(), of_acceptor.end());
  so_far_.insert(so_far_.end(), of_dialer.begin(), of_dialer.end());
}

Mac CircuitSeal::next(std::span<const std::byte> frame) {
  std::vector<std::byte> sealed;
  sealed.reserve(1 + so_far_.size() + frame.size());
  sealed.push_back(static_cast<std::byte>(++turn_));
  sealed.insert(sealed.end(), so_far_.begin(), so_far_.end());
  sealed.insert(sealed.end(), frame.begin(), frame.end());
  const Mac seal = key_.mac(sealed);
  so_far_.insert(so_far_.end(), seal.begin(), seal.end());
  return seal;
}

void CircuitSeal::append_next(std::vector<std::byte>& frame) {
  const FrameBytes seal = encode_seal(next(frame));
  frame.insert(frame.end(), seal.begin(), seal.end());
}

}  // namespace cableway
