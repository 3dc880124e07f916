#include "core/node/cable_verdicts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/discovery/full_size_hellos.h"
#include "core/node/neighbour_cable.h"

namespace cableway {
namespace {

EventCode event_of(CableTrust trust) {
  switch (trust) {
    case CableTrust::kAll:
      return EventCode::kCableHeardAgain;
    case CableTrust::kDirect:
      return EventCode::kRelaySilent;
    case CableTrust::kNone:
      return EventCode::kCableSilent;
  }
  return EventCode::kCableSilent;
}

}  // namespace

EventFields pulse_fields(const PulsedCable& cable, const std::string& reason) {
  return {{"cable", cable.name}, {"port", cable.interface}, {"neighbour", cable.neighbour}, {"reason", reason}};
}

std::string pulse_text(const PulsedCable& cable) {
  return absl::StrCat("cable ", cable.interface, " to node ", cable.neighbour);
}

std::vector<PulsedCable> pulsed_cables(const Node& node) {
  const Neighbours& neighbours = node.neighbours();
  const NodeIdentity& own = neighbours.identity();
  const auto neighbours_at = [&](PortId id) {
    return std::count_if(neighbours.all().begin(), neighbours.all().end(),
                         [&](const auto& each) { return each.first.port == id; });
  };
  std::vector<PulsedCable> cables;
  for (const auto& [key, neighbour] : neighbours.all()) {
    if (!neighbour.up) continue;
    const auto& ports = neighbours.ports();
    const auto port =
        std::find_if(ports.begin(), ports.end(), [id = key.port](const PortFacts& each) { return each.id == id; });
    if (port == ports.end()) continue;
    PulsedCable cable;
    cable.name = cable_name(own.name, neighbour);
    cable.interface = port->interface;
    cable.only_neighbour = neighbours_at(key.port) == 1;
    cable.neighbour = neighbour.name;
    cable.own = {own.id(), key.port};
    cable.other = {key.node, key.neighbour_port};
    cable.own_boot_nonce = own.boot_nonce;
    cable.other_boot_nonce = neighbour.boot_nonce;
    cable.large_bytes = full_size_bytes(port->mtu, neighbour.addresses.ours.is_ipv6);
    cable.own_address = neighbour.addresses.ours;
    cable.other_address = neighbour.addresses.theirs;
    cables.push_back(std::move(cable));
  }
  return cables;
}

void CableVerdicts::act(const PulsedCable& cable, const CableVerdict& verdict) {
  const bool only_relayed = verdict.trust == CableTrust::kDirect;
  if (verdict.trust == CableTrust::kAll) {
    doubted_.erase(cable.name);
  } else {
    doubted_[cable.name] = {cable.neighbour, verdict.reason, only_relayed, verdict.proving};
  }
  node_.set_doubted(doubted_);
  if (verdict.proving) return listener_.usable();
  node_.event_sink().raise(event_of(verdict.trust), absl::StrCat(pulse_text(cable), ": ", verdict.reason),
                           pulse_fields(cable, verdict.reason));
  if (verdict.trust == CableTrust::kAll) return listener_.usable();
  listener_.lost({cable.interface, verdict.reason, false, cable.name, only_relayed});
}

void CableVerdicts::lose(const PulsedCable& cable, unsigned percent) {
  const EventFields fields{{"cable", cable.name},
                           {"port", cable.interface},
                           {"neighbour", cable.neighbour},
                           {"percent", absl::StrCat(percent)}};
  if (percent == 0) {
    lossy_.erase(cable.name);
    node_.event_sink().raise(EventCode::kCableLossless, absl::StrCat(pulse_text(cable), " no longer counts as lossy"),
                             fields);
  } else {
    std::string text = absl::StrCat("cable ", cable.name, " loses ", percent, " % of what node ", cable.neighbour,
                                    " sends over it: paths use it only where there is no better way");
    node_.event_sink().raise(EventCode::kCableLossy, text, fields);
    lossy_[cable.name] = std::move(text);
  }
  node_.set_loss(cable.name, percent);
}

}  // namespace cableway
