// A transport of a hop's data, and how the two ends agree on one while the hop is set up.
//
//   dialing end                                       accepting end
//   offer(): creates its end, sends parameters   -->  join(): creates its end, joined to the offered one
//   settle(): joins its end to the answering one <--  sends its parameters
//
// The connection that a hop is set up on is a transport as well: it always works, needs no parameters, and is used if
// the two ends have no better one in common. core/linux/hop/transport_table.h lists the transports of a host; the
// simulator has its own.
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

// Wire values. A node ignores kinds that it does not know.
enum class TransportKind : std::uint8_t { kRdma = 1 };

inline constexpr std::size_t kMaxOffers = 4;       // in one set-up
inline constexpr std::size_t kMaxOfferBytes = 56;  // parameters of one offer

// The parameters of one end of a hop for the other, in the transport's own encoding.
struct TransportOffer {
  TransportKind kind = TransportKind::kRdma;
  std::vector<std::byte> parameters;  // at most kMaxOfferBytes

  friend bool operator==(const TransportOffer&, const TransportOffer&) = default;
};

// One end of a hop over one transport, from the offer until its link is made.
class TransportEnd {
 public:
  TransportEnd() = default;
  virtual ~TransportEnd() = default;
  TransportEnd(const TransportEnd&) = delete;
  TransportEnd& operator=(const TransportEnd&) = delete;

  // For display: "tcp", "rdma mlx5_0".
  virtual std::string name() const = 0;
  // The parameters to send to the other end.
  virtual std::vector<std::byte> parameters() const { return {}; }
  // The largest chunk that can cross it, in bytes: a multiple of 128.
  virtual std::uint32_t max_chunk_bytes() const = 0;
};

// HopTransport::reason of a hop whose ends both have the transport.
inline constexpr char kAtBothEnds[] = "both ends have it";

// The transport chosen for one end of a hop.
struct TransportChoice {
  std::unique_ptr<TransportEnd> end;  // null: this transport is not available
  std::string why;                    // HopTransport::reason
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual TransportKind kind() const = 0;
  // Whether it works over a hop with IP routers in between.
  virtual bool crosses_routers() const { return false; }
  // Creates the end to be offered for the set-up's hop. A device that should work and does not is an error.
  virtual absl::StatusOr<TransportChoice> offer(const CircuitSetup& setup) = 0;
  // Joins the offered end to the end that answered. InvalidArgument: its parameters are invalid.
  virtual absl::Status settle(const CircuitSetup& setup, const SetupConnection& connection, TransportEnd& offered,
                              std::span<const std::byte> parameters) = 0;
  // Creates the accepting end, joined to the offered one.
  virtual absl::StatusOr<TransportChoice> join(const CircuitSetup& setup, const SetupConnection& connection,
                                               std::span<const std::byte> parameters) = 0;
  // The other end does not have this transport: returns the reason for HopTransport. FailedPrecondition: this end
  // requires the transport.
  virtual absl::StatusOr<std::string> missing_there() const = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_TRANSPORT_H_
