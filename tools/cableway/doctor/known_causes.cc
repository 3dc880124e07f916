#include "tools/cableway/doctor/known_causes.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace cableway::cli {
namespace {

bool is_one_of(const std::string& code, std::initializer_list<EventCode> codes) {
  return std::any_of(codes.begin(), codes.end(), [&](EventCode each) { return code == name_of(each); });
}

// The port uses nothing of what arrives.
bool silences(const std::string& code) {
  return is_one_of(code, {EventCode::kVersionDiffers, EventCode::kClusterDiffers, EventCode::kKeyDiffers,
                          EventCode::kNameTaken, EventCode::kCableToSelf, EventCode::kControlSocketFailed});
}

}  // namespace

KnownCauses::KnownCauses(const Json& problems, std::string node) : node_(std::move(node)) {
  for (const Json& problem : problems) {
    causes_.push_back({text(problem, "code"), text_or_none(problem, "interface"), text_or_none(problem, "neighbour"),
                       text_or_none(problem, "cable")});
  }
}

void KnownCauses::add_losses(const Json& events) {
  for (const Json& event : events) {
    const std::string code = text(event, "code");
    if (!is_one_of(code, {EventCode::kCableLost, EventCode::kCableUp, EventCode::kNeighbourLeft})) continue;
    const Json& fields = event.at("fields");
    const std::string port = fields.value("port", "");
    if (code == name_of(EventCode::kCableUp)) {
      lost_.erase(port);
    } else {
      lost_[port] = {.node = fields.value("neighbour", ""),
                     .interface = fields.value("neighbour_port", ""),
                     .has_left = code == name_of(EventCode::kNeighbourLeft)};
    }
  }
}

void KnownCauses::add_reached(const std::string& node) {
  for (auto& [port, neighbour] : lost_) neighbour.lives = neighbour.lives || neighbour.node == node;
}

const KnownCauses::LostNeighbour* KnownCauses::lost_neighbour(const std::string& interface) const {
  const auto found = lost_.find(interface);
  return found == lost_.end() ? nullptr : &found->second;
}

bool KnownCauses::explain_silence(const std::string& interface) const {
  return std::any_of(causes_.begin(), causes_.end(),
                     [&](const Cause& each) { return each.interface == interface && silences(each.code); });
}

bool KnownCauses::explain_no_answer(const std::string& interface, const std::string& node, bool is_heard) const {
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) {
    if (each.interface != interface) return false;
    // Where it names no node, several are ignored.
    const bool ignores_some = each.code == name_of(EventCode::kSegmentCrowded) && each.neighbour.empty();
    if (!ignores_some && !silences(each.code)) return false;
    if (!each.neighbour.empty()) return each.neighbour == node;
    return !is_heard || each.code == name_of(EventCode::kControlSocketFailed);
  });
}

bool KnownCauses::explain_neighbour(const std::string& interface, const std::string& node) const {
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) {
    return each.interface == interface && each.neighbour == node &&
           is_one_of(each.code, {EventCode::kNameTaken, EventCode::kCableRefused, EventCode::kLargePacketsLost,
                                 EventCode::kSegmentCrowded});
  });
}

bool KnownCauses::explain_unsent(const std::string& interface) const {
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) {
    return each.interface == interface && is_one_of(each.code, {EventCode::kCableRefused});
  });
}

bool KnownCauses::hears_namesakes(const std::string& interface) const {
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) {
    return each.code == name_of(EventCode::kNameTaken) && (each.interface.empty() || each.interface == interface);
  });
}

bool KnownCauses::has_namesake(const std::string& node) const {
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) {
    return each.code == name_of(EventCode::kNameTaken) && each.neighbour == node;
  });
}

bool KnownCauses::is_namesake() const {
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) {
    return each.code == name_of(EventCode::kNameTaken) && (each.neighbour.empty() || each.neighbour == node_);
  });
}

// Both of two nodes with one name defend it.
bool KnownCauses::follows(const std::string& code) const {
  return code == name_of(EventCode::kNameDefended) && has(EventCode::kNameTaken);
}

bool KnownCauses::has_of_cable(EventCode code, const std::string& cable) const {
  return std::any_of(causes_.begin(), causes_.end(),
                     [&](const Cause& each) { return each.code == name_of(code) && each.cable == cable; });
}

bool KnownCauses::has(EventCode code) const {
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) { return each.code == name_of(code); });
}

}  // namespace cableway::cli
