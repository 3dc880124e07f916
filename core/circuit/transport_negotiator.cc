#include "core/circuit/transport_negotiator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

// Why a hop can use only its connection, whatever devices its ends have; "" if it can use a transport.
std::string connection_only(const CircuitSetup& setup) {
  if (setup.this_hop().to_node == setup.this_hop_from()) return "both ends are on this node";
  // Routers may not carry RoCE.
  return setup.this_hop().routed ? "IP routers are in between" : "";
}

}  // namespace

absl::StatusOr<TransportNegotiator::Offered> TransportNegotiator::offer(CircuitSetup& setup) const {
  Offered offered;
  setup.offers.clear();
  offered.why_none = connection_only(setup);
  if (!offered.why_none.empty()) return offered;
  for (const std::unique_ptr<Transport>& transport : list_) {
    absl::StatusOr<TransportChoice> choice = transport->offer(setup);
    if (!choice.ok()) return choice.status();
    if (choice->end == nullptr) {
      if (offered.why_none.empty()) offered.why_none = std::move(choice->why);
      continue;
    }
    setup.offers.push_back({transport->kind(), choice->end->parameters()});
    offered.ends.push_back({transport.get(), std::move(choice->end)});
  }
  return offered;
}

absl::StatusOr<TransportChoice> TransportNegotiator::settle(const CircuitSetup& setup,
                                                            const SetupConnection& connection,
                                                            const SetupAnswer& answer, Offered offered) const {
  if (answer.taken) {
    for (Offered::Each& each : offered.ends) {
      if (each.transport->kind() != answer.taken->kind) continue;
      if (absl::Status status = each.transport->settle(setup, connection, *each.end, answer.taken->parameters);
          !status.ok()) {
        return status;
      }
      return TransportChoice{std::move(each.end), kAtBothEnds};
    }
    return absl::InvalidArgumentError(absl::StrCat("it answered with a transport of kind ",
                                                   static_cast<int>(answer.taken->kind), ", which was not offered"));
  }
  if (offered.ends.empty()) return over_connection(std::move(offered.why_none));
  absl::StatusOr<std::string> why = offered.ends.front().transport->missing_there();
  if (!why.ok()) return why.status();
  return over_connection(*std::move(why));
}

absl::StatusOr<TransportNegotiator::Joined> TransportNegotiator::join(const CircuitSetup& setup,
                                                                      const SetupConnection& connection) const {
  if (std::string only = connection_only(setup); !only.empty()) return Joined{over_connection(std::move(only)), {}};
  std::string why_none;
  for (const std::unique_ptr<Transport>& transport : list_) {
    const auto offer = std::find_if(setup.offers.begin(), setup.offers.end(),
                                    [&](const TransportOffer& each) { return each.kind == transport->kind(); });
    if (offer == setup.offers.end()) {
      absl::StatusOr<std::string> why = transport->missing_there();
      if (!why.ok()) return why.status();
      if (why_none.empty()) why_none = *std::move(why);
      continue;
    }
    absl::StatusOr<TransportChoice> choice = transport->join(setup, connection, offer->parameters);
    if (!choice.ok()) return choice.status();
    if (choice->end != nullptr) {
      const TransportOffer answer{transport->kind(), choice->end->parameters()};
      return Joined{*std::move(choice), answer};
    }
    if (why_none.empty()) why_none = std::move(choice->why);
  }
  return Joined{over_connection(std::move(why_none)), {}};
}

}  // namespace cableway
