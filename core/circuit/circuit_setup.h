// The set-up message of a circuit, and the listen handle by which a flow's source finds its destination.
//
// A CircuitSetup is the first frame's body on each of a circuit's connections. It names the whole path: the source
// connects to the first relay, that relay to the next, the last one to the destination's process, each only after it
// received the frame. The answer returns the same way: ok once every hop is open, or the reason from the hop that
// failed. Why the set-up travels on the circuit's own connections: docs/decisions/0004.
#ifndef CABLEWAY_CORE_CIRCUIT_CIRCUIT_SETUP_H_
#define CABLEWAY_CORE_CIRCUIT_CIRCUIT_SETUP_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/hop.h"
#include "core/circuit/transport.h"
#include "core/crypto/keyed_mac.h"
#include "core/flow/circuit_name.h"
#include "core/flow/circuit_share.h"
#include "core/flow/frame.h"

namespace cableway {

inline constexpr std::uint16_t kProtocolVersion = 3;
// A relay holds a connection and a dial for as long as a set-up's budget lasts, so the budget is bounded. As much as a
// flow's first circuit may take (nccl_adapter/process).
inline constexpr std::uint32_t kMaxBudgetMs = 10000;
// One day, as the setting path_wait allows.
inline constexpr std::uint32_t kMaxPathWaitMs = 86'400'000;

// One listen comm's secret, 128 random bits: a process that has it may connect. The listen handle carries the cookie,
// a set-up never does.
using Cookie = std::array<std::byte, 16>;
// Identifies the listen comm in a set-up (core/circuit/flow_proof.h).
using ListenerName = std::array<std::byte, 16>;
// Identifies a flow: the same in all of its set-ups, and in no other flow's.
using FlowNonce = std::array<std::byte, 16>;

// What a set-up requests from the process at the end of its path.
enum class SetupPurpose : std::uint8_t {
  kCircuit,  // to accept a circuit of the flow
  // To report whether the process still has the flow; sent from one end of the flow to the other. Always refused,
  // with scope kFlow if the process does not have the flow. An inquiry is small, so it may also use cables that lose
  // large packets.
  kInquiry,
  // To the node at the end of its path, not to a process: to answer with one of its views (CircuitSetup::view), a frame
  // kDocument. It makes no circuit. docs/decisions/0031.
  kView,
};
// The maximum budget of an inquiry, also at a relay.
inline constexpr std::chrono::milliseconds kInquiryLimit{1000};
// The same of a set-up for a view.
inline constexpr std::chrono::milliseconds kViewLimit{2000};
inline constexpr std::size_t kMaxViewName = 16;  // of its lower-case letters

struct CircuitSetup {
  SetupPurpose purpose = SetupPurpose::kCircuit;
  ListenerName listener{};
  FlowNonce nonce{};          // random
  CircuitName circuit{0, 1};  // within the flow
  // For the choice of the primary: a later offer of paths is better than an earlier one, and within an offer the path
  // with the lowest rank is better, 0 being the best.
  std::uint32_t offer = 0;
  std::uint8_t rank = 0;
  // Other than kNone: the source shares chunks among this circuit and the other circuits of this offer with a share,
  // once one of them is the primary.
  CircuitShare share = CircuitShare::kNone;
  // The flow has other circuits, and this one does not replace them. A relay accepts it only while less than half of
  // its places are taken.
  bool further = false;
  std::uint16_t source_port = 0;  // TCP port of the flow's source for inquiries; 0: the source answers none
  // How long the flow may be without a circuit while an application waits. It is the shorter time of the flow's two
  // ends, so that both give up together when they can no longer reach each other. At most kMaxPathWaitMs.
  std::uint32_t path_wait_ms = 0;
  Mac proof{};                    // proves that the sender has the cookie (core/circuit/flow_proof.h)
  std::uint64_t flow = 0;         // random, for logs
  std::uint32_t chunk_bytes = 0;  // a multiple of 128, at most kMaxChunkBytes
  std::uint32_t budget_ms = 0;    // time left to reach the destination and receive the answer, 1 to kMaxBudgetMs
  std::string from_node;
  std::vector<Hop> hops;  // the whole path, 1 to kMaxHops
  std::uint16_t hop = 0;  // index of this connection's hop
  // Transports offered for this hop, at most one of each kind. If one is accepted, the connection stays open beside
  // it.
  std::vector<TransportOffer> offers;
  std::string view;  // the name of the view, with kView only

  // The bundle for CircuitOwner::stripe().
  std::uint32_t bundle() const { return share == CircuitShare::kNone ? 0 : offer + 1; }
  const Hop& this_hop() const { return hops[hop]; }
  const std::string& this_hop_from() const { return hop == 0 ? from_node : hops[hop - 1U].to_node; }
  bool last_hop() const { return hop + 1U == hops.size(); }
  // Whether the hop after this one is the last.
  bool next_is_last() const { return hop + 2U == hops.size(); }
  friend bool operator==(const CircuitSetup&, const CircuitSetup&) = default;
};

// The frame's body, and the frame: header and body.
std::vector<std::byte> encode_circuit_setup(const CircuitSetup& setup);
std::vector<std::byte> encode_setup_frame(const CircuitSetup& setup);
// InvalidArgument names the invalid field; FailedPrecondition: the versions differ; Unimplemented: this version does
// not know the purpose.
absl::StatusOr<CircuitSetup> decode_circuit_setup(std::span<const std::byte> bytes);

// Reports that the circuit is open: a frame kSetupOk, with a body if an offered transport was accepted.
struct SetupAnswer {
  // The largest chunk that the rest of the path accepts, if it is smaller than requested; else 0. A multiple of 128.
  std::uint32_t chunk_bytes = 0;
  std::optional<TransportOffer> taken;  // the offer's kind, and the accepting end's parameters

  friend bool operator==(const SetupAnswer&, const SetupAnswer&) = default;
};

// Header and body.
std::vector<std::byte> encode_setup_answer(const SetupAnswer& answer);
// Requires a checked kSetupOk header, and a body of the length that it states.
absl::StatusOr<SetupAnswer> decode_setup_answer(const Frame& header, std::span<const std::byte> body);

// Opens a connection for a cable test instead of a circuit (core/linux/hop/cable_probe.h): a frame kProbe, with a body
// if a transport is offered. The answer is a SetupAnswer.
struct ProbeOpening {
  Frame probe;  // its payload is the size of the encoded offer
  std::optional<TransportOffer> offered;

  friend bool operator==(const ProbeOpening&, const ProbeOpening&) = default;
};

// Header and body. The header's payload is the body's size, whatever `opening.probe` has.
std::vector<std::byte> encode_probe(const ProbeOpening& opening);
// Requires a checked kProbe header, and a body of the length that it states.
absl::StatusOr<ProbeOpening> decode_probe(const Frame& header, std::span<const std::byte> body);

// "n0 -c0-> n1 -c1-> n2"
std::string describe_path(const CircuitSetup& setup);

// How a process chooses NCCL's algorithms; ranks with different marks must not communicate
// (nccl_adapter/algorithm/tuner_cabling.h). Zeros: it leaves them to NCCL.
struct TunerMark {
  std::uint8_t cabling = 0;
  std::uint16_t sizes = 0;  // a hash

  friend bool operator==(const TunerMark&, const TunerMark&) = default;
};

// The 128 bytes that a listen comm gives to NCCL and NCCL carries to the connecting rank.
struct ListenHandle {
  Cookie cookie{};
  std::uint16_t port = 0;          // TCP port of the listening process, on every cable port of its node
  std::string node;                // 1 to 63 bytes
  std::uint32_t path_wait_ms = 0;  // setting of the listening process; at most kMaxPathWaitMs
  TunerMark tuner{};               // of the listening process

  friend bool operator==(const ListenHandle&, const ListenHandle&) = default;
};

inline constexpr std::size_t kListenHandleBytes = 128;
// From this offset on the bytes are scratch space in which the connecting side keeps its state between calls. They
// are zero initially; decode_listen_handle() does not check them.
inline constexpr std::size_t kListenHandleScratch = 104;

std::array<std::byte, kListenHandleBytes> encode_listen_handle(const ListenHandle& handle);
absl::StatusOr<ListenHandle> decode_listen_handle(std::span<const std::byte, kListenHandleBytes> bytes);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_CIRCUIT_SETUP_H_
