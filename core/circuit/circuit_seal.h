// What proves to the two ends of a circuit's hop that both have the cluster's key, and that they talk to each other
// now.
//
//   acceptor                          dialer
//   challenge ----------------------> <---------------------- challenge      (at once, 16 random bytes each)
//             <---------------------------------------------- set-up, seal
//   set-up-ok, seal ---------------->
//
// A seal covers both challenges and every frame before it, so that one which was recorded on another connection, or
// sent the other way, is worth nothing. Frames and order are those of docs/protocol.md; docs/decisions/0008 says why.
#ifndef CABLEWAY_CORE_CIRCUIT_CIRCUIT_SEAL_H_
#define CABLEWAY_CORE_CIRCUIT_CIRCUIT_SEAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/crypto/keyed_mac.h"
#include "core/crypto/sub_key.h"
#include "core/flow/frame.h"

namespace cableway {

using Challenge = std::array<std::byte, 16>;

// For the message where one end has another key than the other, or none.
inline constexpr char kSameKeyAdvice[] = "CABLEWAY_KEY_FILE must name the same key on every node, or on none";

// The 16 bytes that a challenge or a seal carries.
std::array<std::byte, 16> sixteen_bytes_of(const Frame& frame);
FrameBytes encode_challenge(const Challenge& challenge);
FrameBytes encode_seal(const Mac& seal);

// The seals of one connection, in their order; both ends make the same ones. Its key is wiped when it goes.
class CircuitSeal {
 public:
  // `key` is that of KeyUse::kCircuitSetup.
  CircuitSeal(const SubKey& key, const Challenge& of_acceptor, const Challenge& of_dialer);

  // The seal of the next frame: header, and body if it has one.
  Mac next(std::span<const std::byte> frame);
  // Whether `seal` is that, in a time that does not depend on where it differs.
  bool next_is(std::span<const std::byte> frame, const Mac& seal) { return same_mac(next(frame), seal); }
  // The frame and its seal, as they travel.
  void append_next(std::vector<std::byte>& frame);

 private:
  SubKey key_;
  std::vector<std::byte> so_far_;  // the challenges, and the seals that were made
  std::uint8_t turn_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_CIRCUIT_SEAL_H_
