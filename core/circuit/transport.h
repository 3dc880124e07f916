// What a hop's data may go over, and how its two ends agree on it while the hop is set up.
//
//   dialing end                                       accepting end
//   offer(): an end of its own, and its words    -->  join(): an end of its own, joined to the offered one
//   settle(): joined to the end that answered    <--  its words
//
// The connection that a hop is set up on is a transport, too: the one that always works, needs no words, and is taken
// where nothing better is to be had at both ends. core/linux/hop/transport_table.h lists those of a host; the simulator
// has its own.
//
// Set-up only; one thread.
#ifndef CABLEWAY_CORE_CIRCUIT_TRANSPORT_H_
#define CABLEWAY_CORE_CIRCUIT_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cableway {

struct CircuitSetup;
class SetupConnection;

// On the wire. A node passes over what it does not know.
enum class TransportKind : std::uint8_t { kRdma = 1 };

inline constexpr std::size_t kMaxOffers = 4;       // of one set-up
inline constexpr std::size_t kMaxOfferBytes = 56;  // words of one offer

// What one end of a hop says of itself to the other, in its transport's own words.
struct TransportOffer {
  TransportKind kind = TransportKind::kRdma;
  std::vector<std::byte> words;  // at most kMaxOfferBytes

  friend bool operator==(const TransportOffer&, const TransportOffer&) = default;
};

// One end of a hop over one transport, from the offer to the link that is made of it.
class TransportEnd {
 public:
  TransportEnd() = default;
  virtual ~TransportEnd() = default;
  TransportEnd(const TransportEnd&) = delete;
  TransportEnd& operator=(const TransportEnd&) = delete;

  // For people: "tcp", "rdma mlx5_0".
  virtual std::string name() const = 0;
  // For the other end.
  virtual std::vector<std::byte> words() const { return {}; }
  // The largest chunk that can cross it, in bytes: a multiple of 128.
  virtual std::uint32_t max_chunk_bytes() const = 0;
};

// HopTransport::reason where a hop goes over what its ends have agreed on.
inline constexpr char kAtBothEnds[] = "both ends have it";

// What one end of a hop goes over.
struct TransportChoice {
  std::unique_ptr<TransportEnd> end;  // null: the transport in question cannot be had
  std::string why;                    // HopTransport::reason
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual TransportKind kind() const = 0;
  // The end to be offered for the set-up's hop. A device that should work and does not is an error.
  virtual absl::StatusOr<TransportChoice> offer(const CircuitSetup& setup) = 0;
  // Joins the end that was offered to the one that answered. InvalidArgument: its words cannot be, and why.
  virtual absl::Status settle(const CircuitSetup& setup, const SetupConnection& connection, TransportEnd& offered,
                              std::span<const std::byte> words) = 0;
  // The accepting end, joined to the one that was offered.
  virtual absl::StatusOr<TransportChoice> join(const CircuitSetup& setup, const SetupConnection& connection,
                                               std::span<const std::byte> words) = 0;
  // The other end does without: why this one does, too. FailedPrecondition: it may not.
  virtual absl::StatusOr<std::string> missing_there() const = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_TRANSPORT_H_
