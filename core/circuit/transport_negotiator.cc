#include "core/circuit/transport_negotiator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

constexpr char kOnOneNode[] = "both ends are on this node";
constexpr char kRouted[] = "IP routers are in between";

bool on_one_node(const CircuitSetup& setup) {
  return setup.this_hop().to_node == setup.this_hop_from();
}

bool stops_at_routers(const Transport& transport, const CircuitSetup& setup) {
  return setup.this_hop().routed && !transport.crosses_routers();
}

// Keeps the first reason: that of the best transport.
void keep_first(std::string& reason, std::string next) {
  if (reason.empty()) reason = std::move(next);
}

}  // namespace

absl::StatusOr<TransportNegotiator::Offered> TransportNegotiator::offer(CircuitSetup& setup) const {
  Offered offered;
  setup.offers.clear();
  if (on_one_node(setup)) {
    offered.why_none = kOnOneNode;
    return offered;
  }
  for (const std::unique_ptr<Transport>& transport : list_) {
    if (stops_at_routers(*transport, setup)) {
      keep_first(offered.why_none, kRouted);
      continue;
    }
    absl::StatusOr<TransportChoice> choice = transport->offer(setup);
    if (!choice.ok()) return choice.status();
    if (choice->end == nullptr) {
      keep_first(offered.why_none, std::move(choice->why));
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
  std::string why_none;
  for (const Offered::Each& each : offered.ends) {
    absl::StatusOr<std::string> why = each.transport->missing_there();
    if (!why.ok()) return why.status();
    keep_first(why_none, *std::move(why));
  }
  return over_connection(std::move(why_none));
}

absl::StatusOr<TransportNegotiator::Joined> TransportNegotiator::join(const CircuitSetup& setup,
                                                                      const SetupConnection& connection) const {
  if (on_one_node(setup)) return Joined{over_connection(kOnOneNode), {}};
  std::string why_none;
  for (const std::unique_ptr<Transport>& transport : list_) {
    if (stops_at_routers(*transport, setup)) {
      keep_first(why_none, kRouted);
      continue;
    }
    const auto offer = std::find_if(setup.offers.begin(), setup.offers.end(),
                                    [&](const TransportOffer& each) { return each.kind == transport->kind(); });
    if (offer == setup.offers.end()) {
      absl::StatusOr<std::string> why = transport->missing_there();
      if (!why.ok()) return why.status();
      keep_first(why_none, *std::move(why));
      continue;
    }
    absl::StatusOr<TransportChoice> choice = transport->join(setup, connection, offer->parameters);
    if (!choice.ok()) return choice.status();
    if (choice->end != nullptr) {
      const TransportOffer answer{transport->kind(), choice->end->parameters()};
      return Joined{*std::move(choice), answer};
    }
    keep_first(why_none, std::move(choice->why));
  }
  return Joined{over_connection(std::move(why_none)), {}};
}

}  // namespace cableway
