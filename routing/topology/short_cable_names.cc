#include "routing/topology/short_cable_names.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/absl_view.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_name.h"

namespace cableway::routing {
namespace {

constexpr char kBetweenNodes = '-';
constexpr char kBeforeNumber = '#';  // no name of a node or a cable has one

Cable const* only(const std::vector<const Cable*>& cables) {
  return cables.size() == 1 ? cables.front() : nullptr;
}

// "n0-n1#2" as its pair and its number, from 1; 0 without a number.
struct Numbered {
  std::string_view pair;
  std::size_t number = 0;
};

std::optional<Numbered> without_number(std::string_view name) {
  const std::size_t at = name.find(kBeforeNumber);
  if (at == std::string_view::npos) return Numbered{name};
  Numbered numbered{name.substr(0, at)};
  const bool is_number = absl::SimpleAtoi(absl_view(name.substr(at + 1)), &numbered.number);
  return is_number && numbered.number > 0 ? std::optional(numbered) : std::nullopt;
}

// How often `pair` can be read as the names of two of the nodes.
std::size_t readings(const Topology& topology, std::string_view pair) {
  std::size_t count = 0;
  for (std::size_t at = pair.find(kBetweenNodes); at != std::string_view::npos; at = pair.find(kBetweenNodes, at + 1)) {
    if (topology.find_node(pair.substr(0, at)) && topology.find_node(pair.substr(at + 1))) ++count;
  }
  return count;
}

}  // namespace

ShortCableNames::ShortCableNames(const Topology& topology) : topology_(topology) {
  for (const Cable& cable : topology.plugged_cables()) {
    pairs_[std::minmax(cable.a.node, cable.b.node)].push_back(&cable);
  }
  for (auto& [pair, cables] : pairs_) {
    std::sort(cables.begin(), cables.end(),
              [](const Cable* left, const Cable* right) { return natural_less(left->name, right->name); });
  }
  for (const Cable& cable : topology.plugged_cables()) short_.emplace(cable.name, short_name(cable));
}

std::string ShortCableNames::short_name(const Cable& cable) const {
  const std::string& a = topology_.node(cable.a.node).name;
  const std::string& b = topology_.node(cable.b.node).name;
  if (cable.name != discovered_cable_name(a, cable.a.interface, b, cable.b.interface)) return cable.name;
  std::string pair = pair_name(a, b);
  const bool is_taken = topology_.find_plugged(pair) != nullptr || topology_.find_node(pair).has_value();
  if (is_taken || readings(topology_, pair) != 1) return cable.name;
  const std::vector<const Cable*>& cables = pairs_.at(std::minmax(cable.a.node, cable.b.node));
  if (cables.size() == 1) return pair;
  const auto place = std::find(cables.begin(), cables.end(), &cable) - cables.begin();
  return absl::StrCat(pair, std::string(1, kBeforeNumber), place + 1);
}

const std::string& ShortCableNames::of_name(const std::string& full) const {
  const auto found = short_.find(full);
  return found == short_.end() ? full : found->second;
}

std::string ShortCableNames::in_text(std::string_view text) const {
  constexpr std::string_view kBetweenWords = " \n\"(),;>";
  constexpr std::string_view kAroundNames = "-:.";  // "-n0.eth1-n1.eth0->" of a path; the end of a sentence
  std::string shown;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(kBetweenWords));
    const std::size_t begin = std::min(word.find_first_not_of(kAroundNames), word.size());
    const std::string_view name = word.substr(begin, word.find_last_not_of(kAroundNames) + 1 - begin);
    shown.append(word.substr(0, begin)).append(of_name(std::string(name))).append(word.substr(begin + name.size()));
    text.remove_prefix(word.size());
    const std::size_t next = std::min(text.find_first_not_of(kBetweenWords), text.size());
    shown.append(text.substr(0, next));
    text.remove_prefix(next);
  }
  return shown;
}

std::string ShortCableNames::with_full(const Cable& cable) const {
  const std::string& name = of(cable);
  return name == cable.name ? name : absl::StrCat(name, " (", cable.name, ")");
}

const std::vector<const Cable*>* ShortCableNames::between(std::string_view a, std::string_view b) const {
  const std::optional<NodeIndex> one = topology_.find_node(a);
  const std::optional<NodeIndex> other = topology_.find_node(b);
  if (!one || !other) return nullptr;
  const auto found = pairs_.find(std::minmax(*one, *other));
  return found == pairs_.end() ? nullptr : &found->second;
}

std::vector<const Cable*> ShortCableNames::candidates(std::string_view name) const {
  std::vector<const Cable*> found;
  const std::optional<Numbered> numbered = without_number(name);
  if (!numbered) return found;
  const std::string_view pair = numbered->pair;
  for (std::size_t at = pair.find(kBetweenNodes); at != std::string_view::npos; at = pair.find(kBetweenNodes, at + 1)) {
    const std::vector<const Cable*>* const cables = between(pair.substr(0, at), pair.substr(at + 1));
    if (cables == nullptr) continue;
    if (numbered->number == 0) {
      found.insert(found.end(), cables->begin(), cables->end());
    } else if (cables->size() > 1 && numbered->number <= cables->size()) {
      found.push_back((*cables)[numbered->number - 1]);
    }
  }
  return found;
}

absl::StatusOr<const Cable*> ShortCableNames::find(std::string_view name) const {
  if (const Cable* const cable = topology_.find_plugged(name); cable != nullptr) return cable;
  const std::vector<const Cable*> found = candidates(name);
  if (const Cable* const cable = only(found); cable != nullptr) return cable;
  if (found.empty()) return absl::NotFoundError(absl::StrCat("no cable is called ", in_quotes(name)));
  const std::string names = absl::StrJoin(
      found, ", ", [&](std::string* text, const Cable* cable) { absl::StrAppend(text, with_full(*cable)); });
  return absl::InvalidArgumentError(
      absl::StrCat(in_quotes(name), " names ", found.size(), " cables: name one of ", names));
}

}  // namespace cableway::routing
