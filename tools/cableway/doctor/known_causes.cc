#include "tools/cableway/doctor/known_causes.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace cableway::cli {
namespace {

bool is_one_of(const std::string& code, std::initializer_list<EventCode> codes) {
  return std::any_of(codes.begin(), codes.end(), [&](EventCode each) { return code == name_of(each); });
}

// Whether `text` has `name` as a whole: n1 is not in "n10".
bool names(absl::string_view text, absl::string_view name) {
  const auto continues = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  for (std::size_t at = text.find(name); at != absl::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !continues(text[at - 1])) && (end == text.size() || !continues(text[end]))) return true;
  }
  return false;
}

}  // namespace

KnownCauses::KnownCauses(const Json& problems) {
  for (const Json& problem : problems) {
    causes_.push_back({text(problem, "code"), problem.value("interface", ""), text(problem, "text")});
  }
}

// A neighbour that has left is not lost.
void KnownCauses::add_losses(const Json& events) {
  for (const Json& event : events) {
    const std::string code = text(event, "code");
    if (!is_one_of(code, {EventCode::kCableLost, EventCode::kCableUp, EventCode::kNeighbourLeft})) continue;
    const Json& fields = event.at("fields");
    const std::string port = fields.value("port", "");
    if (code == name_of(EventCode::kCableLost)) {
      lost_[port] = {fields.value("neighbour", ""), fields.value("neighbour_port", "")};
    } else {
      lost_.erase(port);
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
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) {
    return each.interface == interface &&
           is_one_of(each.code, {EventCode::kVersionDiffers, EventCode::kClusterDiffers, EventCode::kKeyDiffers,
                                 EventCode::kNameTaken, EventCode::kCableToSelf, EventCode::kControlSocketFailed});
  });
}

bool KnownCauses::explain_neighbour(const std::string& interface, const std::string& node) const {
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) {
    return each.interface == interface && names(each.text, node) &&
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

// Both of two nodes with one name defend it.
bool KnownCauses::follows(const std::string& code) const {
  return code == name_of(EventCode::kNameDefended) && has(EventCode::kNameTaken);
}

bool KnownCauses::has_problem(EventCode code, const std::string& part) const {
  return std::any_of(causes_.begin(), causes_.end(),
                     [&](const Cause& each) { return each.code == name_of(code) && names(each.text, part); });
}

bool KnownCauses::has(EventCode code) const {
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& each) { return each.code == name_of(code); });
}

}  // namespace cableway::cli
