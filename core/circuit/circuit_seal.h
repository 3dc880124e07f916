// Proves to both ends of a hop that the other end has the cluster's key and takes part in this exchange (no replay).
//
//   acceptor                          dialer
//   challenge ----------------------> <---------------------- challenge      (at once, 16 random bytes each)
//             <---------------------------------------------- set-up, seal
//   set-up-ok, seal ---------------->
//
// A seal covers both challenges and, through the earlier seals, every frame before it, so that a seal recorded on
// another connection, or in the other direction, does not verify. docs/protocol.md defines frames and order;
// docs/decisions/0008 gives the reasons.
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

// Advice in errors for ends with different keys, or where only one end has a key.
inline constexpr char kSameKeyAdvice[] = "CABLEWAY_KEY_FILE must name the same key on every node, or on none";

// The 16 bytes that a challenge or a seal carries.
std::array<std::byte, 16> sixteen_bytes_of(const Frame& frame);
FrameBytes encode_challenge(const Challenge& challenge);
FrameBytes encode_seal(const Mac& seal);

// The sequence of seals of one connection; both ends compute the same ones. The destructor wipes the key.
class CircuitSeal {
 public:
  // `key` is that of KeyUse::kCircuitSetup.
  CircuitSeal(const SubKey& key, const Challenge& of_acceptor, const Challenge& of_dialer);

  // The seal of the next frame: header, and body if it has one.
  Mac next(std::span<const std::byte> frame);
  // Whether `seal` equals next(frame); constant time.
  bool next_is(std::span<const std::byte> frame, const Mac& seal) { return same_mac(next(frame), seal); }
  // Appends the frame's seal to the frame, as sent on the wire.
  void append_next(std::vector<std::byte>& frame);

 private:
  SubKey key_;
  std::vector<std::byte> so_far_;  // the challenges and the seals made until now
  std::uint8_t turn_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_CIRCUIT_SEAL_H_
