#include "core/linux/node/pulse_service.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/topology/cable_name.h"

namespace cableway::host {
namespace {

EventFields pulse_fields(const PulsedCable& cable, const std::string& reason) {
  return {{"cable", cable.name}, {"port", cable.interface}, {"neighbour", cable.neighbour}, {"reason", reason}};
}

std::string cable_text(const PulsedCable& cable) {
  return absl::StrCat("cable ", cable.interface, " to node ", cable.neighbour);
}

EventCode code_of(CableTrust trust) {
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

absl::StatusOr<std::unique_ptr<PulseService>> PulseService::start(boost::asio::io_context& io, const Settings& settings,
                                                                  const DatagramSeal& seal, Node& node,
                                                                  Listener listener) {
  std::unique_ptr<PulseService> service;
  if (settings.pulse.count() == 0) return service;
  service.reset(new PulseService(node, std::move(listener)));
  const auto on_own_thread = [&io, raw = service.get()](auto act) {
    return [&io, raw, act, life = std::weak_ptr<char>(raw->lifetime_)](const PulsedCable& cable, const auto& about) {
      boost::asio::post(io, [raw, act, life, cable, about] {
        if (!life.expired()) (raw->*act)(cable, about);
      });
    };
  };
  auto thread = PulseThread::start({settings.pulse, settings.pulse_port}, seal,
                                   {on_own_thread(&PulseService::on_verdict), on_own_thread(&PulseService::on_loss),
                                    on_own_thread(&PulseService::on_failed)});
  if (!thread.ok()) return thread.status();
  service->thread_ = *std::move(thread);
  service->update();
  return service;
}

void PulseService::update() {
  std::vector<PulsedCable> now = cables();
  if (now == pulsed_) return;
  pulsed_ = now;
  thread_->set_cables(std::move(now));
}

std::vector<HostProblem> PulseService::problems() const {
  const routing::Topology& topology = node_.paths().topology();
  std::vector<HostProblem> problems;
  for (const auto& [cable, doubted] : doubted_) {
    if (topology.find_plugged(cable) == nullptr) continue;
    problems.push_back({doubted.only_relayed ? EventCode::kRelaySilent : EventCode::kCableSilent,
                        absl::StrCat("cable ", cable, ": ", doubted.reason)});
  }
  for (const auto& [cable, text] : lossy_) {
    if (topology.find_plugged(cable) != nullptr) problems.push_back({EventCode::kCableLossy, text});
  }
  return problems;
}

std::vector<PulsedCable> PulseService::cables() const {
  const Neighbours& neighbours = node_.neighbours();
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
    cable.name = routing::discovered_cable_name(own.name, neighbour.our_interface, neighbour.name, neighbour.interface);
    cable.interface = port->interface;
    cable.only_neighbour = neighbours_at(key.port) == 1;
    cable.neighbour = neighbour.name;
    cable.own = {own.id(), key.port};
    cable.other = {key.node, key.neighbour_port};
    cable.own_boot_nonce = own.boot_nonce;
    cable.other_boot_nonce = neighbour.boot_nonce;
    cable.own_address = neighbour.addresses.ours;
    cable.other_address = neighbour.addresses.theirs;
    cables.push_back(std::move(cable));
  }
  return cables;
}

void PulseService::on_verdict(const PulsedCable& cable, const CableVerdict& verdict) {
  const bool only_relayed = verdict.trust == CableTrust::kDirect;
  if (verdict.trust == CableTrust::kAll) {
    doubted_.erase(cable.name);
  } else {
    doubted_[cable.name] = {cable.neighbour, verdict.reason, only_relayed, verdict.proving};
  }
  node_.set_doubted(doubted_);
  if (verdict.proving) return listener_.usable();
  node_.event_sink().raise(code_of(verdict.trust), absl::StrCat(cable_text(cable), ": ", verdict.reason),
                           pulse_fields(cable, verdict.reason));
  if (verdict.trust == CableTrust::kAll) return listener_.usable();
  listener_.lost({cable.interface, verdict.reason, false, cable.name, only_relayed});
}

void PulseService::on_loss(const PulsedCable& cable, unsigned percent) {
  const EventFields fields{{"cable", cable.name},
                           {"port", cable.interface},
                           {"neighbour", cable.neighbour},
                           {"percent", absl::StrCat(percent)}};
  if (percent == 0) {
    lossy_.erase(cable.name);
    node_.event_sink().raise(EventCode::kCableLossless,
                             absl::StrCat(cable_text(cable), " loses hardly any packets now"), fields);
  } else {
    std::string text = absl::StrCat("cable ", cable.name, " loses ", percent, " % of what node ", cable.neighbour,
                                    " sends over it: no path leads there while there is another one");
    node_.event_sink().raise(EventCode::kCableLossy, text, fields);
    lossy_[cable.name] = std::move(text);
  }
  node_.set_loss(cable.name, percent);
}

void PulseService::on_failed(const PulsedCable& cable, const std::string& reason) {
  node_.event_sink().raise(EventCode::kPulsesFailed, absl::StrCat(cable_text(cable), " has no pulses: ", reason),
                           pulse_fields(cable, reason));
}

}  // namespace cableway::host
