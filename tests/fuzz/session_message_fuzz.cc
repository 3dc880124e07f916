// Feeds bytes to the decoder of session messages, which other processes of this host send.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "core/printable.h"
#include "core/session/session_message.h"
#include "core/wire.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const absl::StatusOr<SessionMessage> message =
      decode_session_message(std::span(reinterpret_cast<const std::byte*>(data), size));
  if (!message.ok()) {
    require(!message.status().message().empty(), "an error without a reason");
    return 0;
  }
  const std::vector<std::byte> framed = encode_session_message(*message);
  WireReader reader(framed);
  require(reader.get<std::uint32_t>() == framed.size() - sizeof(std::uint32_t), "a length that is not the message's");
  const absl::StatusOr<SessionMessage> again = decode_session_message(std::span(framed).subspan(sizeof(std::uint32_t)));
  require(again.ok() && *again == *message, "a message does not survive a round trip");
  if (const auto* welcome = std::get_if<Welcome>(&*message)) {
    require(welcome->setup_keys.accepted().size() <= SetupKeys::kMost, "keys without a bound");
  }
  if (const auto* reply = std::get_if<PathReply>(&*message)) {
    require(reply->paths.size() <= kMaxPaths, "paths without a bound");
    require(reply->paths.empty() != reply->error.empty(), "neither paths nor an error, or both");
    for (std::size_t i = 0; i < reply->paths.size(); ++i) {
      const PathOffer& offer = reply->paths[i];
      require(!offer.hops.empty() && offer.hops.size() <= kMaxHops, "a path without a bound");
      require((offer.kind == PathKind::kFirst) == (i == 0), "another path is the first one");
      require(offer.kind <= PathKind::kAlternate, "a path of no kind");
      require(i == 0 || reply->paths[i - 1].kind <= offer.kind, "paths that are not in order");
    }
  }
  if (const auto* request = std::get_if<PathRequest>(&*message)) {
    require(request->most >= 1 && request->most <= kMaxPaths, "a request for paths without a bound");
  }
  if (const auto* request = std::get_if<CableProbeRequest>(&*message)) {
    require(request->cables.size() <= kMaxProbedCables, "a test without a bound");
  }
  if (const auto* reply = std::get_if<CableProbeReply>(&*message)) {
    require(reply->cables.size() <= kMaxProbedCables, "rates without a bound");
  }
  if (const auto* flow = std::get_if<FlowOpened>(&*message)) {
    const std::string shown = flow->node + flow->path + flow->port + flow->transport.over + flow->transport.reason;
    require(shown.size() < 1024, "a flow without a bound");
    require(printable(shown) == shown, "a flow that a terminal may not show");
  }
  if (const auto* counts = std::get_if<FlowCounts>(&*message)) {
    require(counts->circuits.size() <= kMaxFlowCircuits, "circuits without a bound");
    for (const CircuitCounts& circuit : counts->circuits) {
      const std::string shown = circuit.path + circuit.port + circuit.transport.over + circuit.transport.reason;
      require(shown.size() < 1024, "a circuit without a bound");
      require(circuit.share <= CircuitShare::kAlternate, "a share that there is not");
      require(printable(shown) == shown, "a circuit that a terminal may not show");
    }
  }
  if (const auto* rerouted = std::get_if<FlowRerouted>(&*message)) {
    require(rerouted->path.size() + rerouted->cause.size() < 2048, "a reroute without a bound");
    require(printable(rerouted->path + rerouted->cause) == rerouted->path + rerouted->cause,
            "a reroute that a terminal may not show");
  }
  if (const auto* retired = std::get_if<CircuitRetired>(&*message)) {
    require(retired->path.size() + retired->reason.size() < 2048, "a circuit's end without a bound");
    require(static_cast<std::size_t>(retired->kind) < kCircuitEndKinds, "an end of an unknown kind");
    require(printable(retired->path + retired->reason) == retired->path + retired->reason,
            "a circuit's end that a terminal may not show");
  }
  if (const auto* waits = std::get_if<FlowWaits>(&*message)) {
    require(waits->cause.size() <= kMaxFlowFailure, "a cause without a bound");
    require(printable(waits->cause) == waits->cause, "a cause that a terminal may not show");
  }
  if (const auto* lost = std::get_if<PortLost>(&*message)) {
    require(lost->interface.size() + lost->reason.size() + lost->cable.size() < 512, "a lost port without a bound");
    require(printable(lost->reason) == lost->reason, "a reason that a terminal may not show");
  }
  return 0;
}
