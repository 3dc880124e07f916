#include "tools/cableway/expectation/comparison.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/node_name.h"
#include "tools/cableway/expectation/shared_jacks.h"
#include "tools/cableway/expectation/wire_matching.h"
#include "tools/cableway/expectation/wiring.h"

namespace cableway::cli {
namespace {

using Kind = DifferenceKind;
using routing::Topology;
using NodePair = std::pair<std::string, std::string>;

bool names_all_interfaces(const Topology& topology) {
  const auto cables = topology.plugged_cables();
  return std::none_of(cables.begin(), cables.end(), [](const routing::Cable& cable) {
    return cable.a.interface.empty() || cable.b.interface.empty();
  });
}

std::vector<std::string> cable_names(const Wire& wire) {
  std::vector<std::string> names;
  for (const WireLink& link : wire.links) names.push_back(link.cable->name);
  return names;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::string count_text(std::size_t count, const char* what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

class Comparer {
 public:
  Comparer(const Topology& expected, const Topology& found)
      : expected_(expected), found_(found), keys_(expected, found) {
    const bool is_told = names_all_interfaces(expected) && names_all_interfaces(found);
    result_.by_interface = is_told && keys_.tell_ports();
    const JackKey key = result_.by_interface ? JackKey(keys_) : JackKey(own_jack_key);
    expected_wires_ = wires_of(expected, key, jacks_);
    found_wires_ = wires_of(found, key, jacks_);
    expected_at_ = by_node(expected_wires_);
    found_at_ = by_node(found_wires_);
  }

  Comparison run() && {
    find_missing_nodes();
    find_extra_nodes();
    if (result_.by_interface) {
      compare_wires();
    } else {
      compare_counts();
    }
    report_nodes();
    std::stable_sort(result_.differences.begin(), result_.differences.end(),
                     [](const Difference& left, const Difference& right) { return left.kind < right.kind; });
    return std::move(result_);
  }

 private:
  NodePair nodes_of(const Wire& wire) const { return {jacks_[wire.a].node, jacks_[wire.b].node}; }

  static std::string about_cable(const NodePair& nodes) {
    return absl::StrCat("cable ", nodes.first, " - ", nodes.second);
  }

  void add(Kind kind, std::string about, std::string what, std::string advice, Difference rest = {}) {
    rest.kind = kind;
    rest.about = std::move(about);
    rest.what = std::move(what);
    rest.advice = std::move(advice);
    result_.differences.push_back(std::move(rest));
  }

  // Nodes

  static std::vector<std::string> names_without(const Topology& of, const Topology& without) {
    std::vector<std::string> names;
    for (const routing::Node& node : of.nodes()) {
      if (!without.find_node(node.name)) names.push_back(node.name);
    }
    return names;
  }

  using WiresAt = std::map<std::string, std::vector<const Wire*>>;  // by node

  WiresAt by_node(const std::vector<Wire>& wires) const {
    WiresAt at;
    for (const Wire& wire : wires) {
      at[jacks_[wire.a].node].push_back(&wire);
      at[jacks_[wire.b].node].push_back(&wire);
    }
    return at;
  }

  static std::vector<const Wire*> wires_at(const WiresAt& wires, const std::string& node) {
    const auto at = wires.find(node);
    return at == wires.end() ? std::vector<const Wire*>{} : at->second;
  }

  bool is_missing(const NodePair& nodes) const {
    return missing_nodes_.contains(nodes.first) || missing_nodes_.contains(nodes.second);
  }

  // Not there, or there without a cable although its neighbours are and should have several cables to it.
  void find_missing_nodes() {
    for (std::string& name : names_without(expected_, found_)) missing_nodes_.insert(std::move(name));
    std::map<std::string, std::size_t> expected_cables;
    for (const Wire& wire : expected_wires_) {
      const NodePair nodes = nodes_of(wire);
      if (is_missing(nodes)) continue;
      ++expected_cables[nodes.first];
      ++expected_cables[nodes.second];
    }
    for (const Wire& wire : found_wires_) {
      expected_cables.erase(jacks_[wire.a].node);
      expected_cables.erase(jacks_[wire.b].node);
    }
    for (const auto& [name, count] : expected_cables) {
      if (count > 1) silent_nodes_.insert(name);
    }
    missing_nodes_.insert(silent_nodes_.begin(), silent_nodes_.end());
  }

  // The missing node whose place the node has taken: the other ends of its cables all lead there; empty: none.
  std::string place_of(const std::string& extra) const {
    const std::vector<const Wire*> wires = wires_at(found_at_, extra);
    std::set<std::string> places;
    for (const Wire* wire : wires) {
      const std::size_t far = jacks_[wire->a].node == extra ? wire->b : wire->a;
      const std::vector<const Wire*> wanted = wires_at(expected_at_, jacks_[far].node);
      const auto expected = std::find_if(wanted.begin(), wanted.end(),
                                         [&](const Wire* each) { return each->a == far || each->b == far; });
      if (expected == wanted.end()) return "";
      places.insert(jacks_[(*expected)->a == far ? (*expected)->b : (*expected)->a].node);
    }
    if (places.size() != 1 || !missing_nodes_.contains(*places.begin())) return "";
    const bool has_all = wires_at(expected_at_, *places.begin()).size() == wires.size();
    return has_all && !silent_nodes_.contains(*places.begin()) ? *places.begin() : "";
  }

  void find_extra_nodes() {
    for (const std::string& name : names_without(found_, expected_)) {
      extra_nodes_.insert(name);
      const std::string place = result_.by_interface ? place_of(name) : "";
      if (!place.empty()) named_[name] = place;
    }
  }

  void report_nodes() {
    std::set<std::string> named;
    for (const auto& [name, place] : named_) {
      named.insert(place);
      Difference rest{.nodes = {name, place}};
      for (const Wire* wire : wires_at(found_at_, name)) append(rest.found_cables, cable_names(*wire));
      add(Kind::kNodeNamed, absl::StrCat("node ", name),
          absl::StrCat("node ", name, " has the cables of node ", place, ", which is missing"),
          absl::StrCat("set CABLEWAY_NODE=", place, " there, or change the name in the expected topology"),
          std::move(rest));
    }
    for (const std::string& name : missing_nodes_) {
      if (!named.contains(name)) report_missing(name);
    }
    for (const std::string& name : extra_nodes_) {
      if (!named_.contains(name)) report_extra(name);
    }
  }

  void report_missing(const std::string& name) {
    const std::vector<const Wire*> wires = wires_at(expected_at_, name);
    Difference rest{.nodes = {name}};
    for (const Wire* wire : wires) append(rest.expected_cables, cable_names(*wire));
    const bool is_known = silent_nodes_.contains(name);
    add(Kind::kNodeMissing, absl::StrCat("node ", name),
        is_known ? absl::StrCat("none of the ", wires.size(), " cables of node ", name, " is up")
                 : absl::StrCat("node ", name, ", with ", count_text(wires.size(), "cable"), ", is not there"),
        is_known ? "check that the host is on and cablewayd runs there; then its cables"
                 : "start cablewayd there, or check its name, its cluster and its cables",
        std::move(rest));
  }

  void report_extra(const std::string& name) {
    Difference rest{.nodes = {name}};
    std::set<std::string> neighbours;
    for (const Wire* wire : wires_at(found_at_, name)) {
      append(rest.found_cables, cable_names(*wire));
      const NodePair nodes = nodes_of(*wire);
      neighbours.insert(nodes.first == name ? nodes.second : nodes.first);
    }
    add(Kind::kNodeExtra, absl::StrCat("node ", name),
        absl::StrCat("node ", name, " is not expected",
                     neighbours.empty() ? "" : absl::StrCat("; it is joined to ", absl::StrJoin(neighbours, ", "))),
        "add it to the expected topology, or disconnect it", std::move(rest));
  }

  bool is_of_extra_node(const NodePair& nodes) const {
    return extra_nodes_.contains(nodes.first) || extra_nodes_.contains(nodes.second);
  }

  bool is_of_named_node(const NodePair& nodes) const {
    return named_.contains(nodes.first) || named_.contains(nodes.second);
  }

  // Cables

  void compare_wires() {
    std::map<JackPair, const Wire*> left;  // found, by jacks
    for (const Wire& wire : found_wires_) left[jacks_in_order(wire)] = &wire;
    for (const Wire& wire : expected_wires_) {
      const auto found = left.find(jacks_in_order(wire));
      if (found != left.end()) {
        compare_functions(wire, *found->second);
        left.erase(found);
      } else if (!is_missing(nodes_of(wire))) {
        missing_.push_back(&wire);
      }
    }
    for (const Wire& wire : found_wires_) {
      if (left.contains(jacks_in_order(wire)) && !is_of_named_node(nodes_of(wire))) extra_.push_back(&wire);
    }
    explain_wires();
  }

  static JackPair jacks_in_order(const Wire& wire) { return {std::min(wire.a, wire.b), std::max(wire.a, wire.b)}; }

  void compare_functions(const Wire& expected, const Wire& found) {
    const auto pairs_of = [&](const Wire& wire) {
      std::set<std::pair<std::string, std::string>> pairs;
      for (const WireLink& link : wire.links) pairs.emplace(link.a, link.b);
      return pairs;
    };
    const auto wanted = pairs_of(expected);
    const auto joined = pairs_of(found);
    if (wanted == joined) return;
    const auto text_of = [](const auto& pairs) {
      return absl::StrJoin(pairs, ", ", [](std::string* out, const auto& pair) {
        absl::StrAppend(out, pair.first, " - ", pair.second);
      });
    };
    const NodePair nodes = nodes_of(expected);
    Difference rest{.nodes = {nodes.first, nodes.second}};
    for (const WireLink& link : expected.links) {
      if (!joined.contains({link.a, link.b})) rest.expected_cables.push_back(link.cable->name);
    }
    for (const WireLink& link : found.links) {
      if (!wanted.contains({link.a, link.b})) rest.found_cables.push_back(link.cable->name);
    }
    add(Kind::kFunctionsDiffer, about_cable(nodes),
        absl::StrCat("the cable is in the right plugs, but joins the interfaces ", text_of(joined), " instead of ",
                     text_of(wanted)),
        absl::StrCat("check that these interfaces of ", nodes.first, " and ", nodes.second,
                     " are up and have the planned addresses"),
        std::move(rest));
  }

  void explain_wires() {
    const auto pairs_of = [](const std::vector<const Wire*>& wires) {
      std::vector<JackPair> pairs;
      pairs.reserve(wires.size());
      for (const Wire* wire : wires) pairs.emplace_back(wire->a, wire->b);
      return pairs;
    };
    WireMatching matching = match_wires(jacks_.size(), pairs_of(missing_), pairs_of(extra_));
    for (const WireExchange& exchange : matching.exchanges) report_exchange(exchange);
    for (const WireMove& move : matching.moves) report_move(move);
    pair_by_nodes(matching);
    for (const std::size_t i : matching.missing) report_missing_wire(*missing_[i]);
    for (const std::size_t i : matching.extra) report_extra_wire(*extra_[i]);
  }

  // A swap at one host is easier than one at two.
  std::string swap_text(const WireExchange& exchange) const {
    for (const auto& [one, other] : exchange.swaps) {
      if (jacks_[one].node != jacks_[other].node) continue;
      std::string texts[] = {jack_text_at_node(jacks_[one]), jack_text_at_node(jacks_[other])};
      std::sort(std::begin(texts), std::end(texts), routing::natural_less);
      return absl::StrCat("swap these two at ", jacks_[one].node, ": ", texts[0], " and ", texts[1]);
    }
    const auto& [one, other] = exchange.swaps[0];
    return absl::StrCat("swap these two: the cable in ", jack_text(jacks_[one]), " and the one in ",
                        jack_text(jacks_[other]));
  }

  void report_exchange(const WireExchange& exchange) {
    Difference rest;
    std::set<std::string> nodes;
    std::vector<std::string> wanted;
    std::vector<std::string> found;
    for (const std::size_t i : exchange.missing) {
      append(rest.expected_cables, cable_names(*missing_[i]));
      wanted.push_back(short_wire_text(*missing_[i]));
    }
    for (const std::size_t i : exchange.extra) {
      append(rest.found_cables, cable_names(*extra_[i]));
      found.push_back(short_wire_text(*extra_[i]));
      for (const std::string& node : {jacks_[extra_[i]->a].node, jacks_[extra_[i]->b].node}) nodes.insert(node);
    }
    rest.nodes.assign(nodes.begin(), nodes.end());
    std::sort(rest.nodes.begin(), rest.nodes.end(), routing::natural_less);
    std::string about = absl::StrCat("cables of ", absl::StrJoin(rest.nodes, ", "));
    add(Kind::kCablesSwapped, std::move(about),
        absl::StrCat("two cables are exchanged: found ", absl::StrJoin(found, " and "), "; expected ",
                     absl::StrJoin(wanted, " and ")),
        swap_text(exchange), std::move(rest));
  }

  std::string wire_text(const Wire& wire) const {
    return absl::StrCat(jack_text(jacks_[wire.a]), " to ", jack_text(jacks_[wire.b]));
  }

  std::string short_wire_text(const Wire& wire) const {
    return absl::StrCat(short_jack_text(jacks_[wire.a]), " to ", short_jack_text(jacks_[wire.b]));
  }

  void report_move(const WireMove& move) {
    const Wire& missing = *missing_[move.missing];
    const Wire& extra = *extra_[move.extra];
    const NodePair nodes = nodes_of(missing);
    add(Kind::kCableElsewhere, about_cable(nodes),
        absl::StrCat("the cable in ", short_jack_text(jacks_[move.stays]), " goes to ",
                     short_jack_text(jacks_[move.goes_to]), ", but is in ", short_jack_text(jacks_[move.is_in])),
        absl::StrCat("move its end from ", jack_text(jacks_[move.is_in]), " to ", jack_text(jacks_[move.goes_to])),
        of_both(missing, extra));
  }

  Difference of_both(const Wire& missing, const Wire& extra) const {
    std::set<std::string> nodes;
    for (const std::size_t jack : {missing.a, missing.b, extra.a, extra.b}) nodes.insert(jacks_[jack].node);
    Difference rest{.nodes = {nodes.begin(), nodes.end()},
                    .found_cables = cable_names(extra),
                    .expected_cables = cable_names(missing)};
    std::sort(rest.nodes.begin(), rest.nodes.end(), routing::natural_less);
    return rest;
  }

  // Cables between the right hosts with both ends in wrong plugs.
  void pair_by_nodes(WireMatching& matching) {
    std::map<NodePair, std::vector<std::size_t>> extra;
    for (const std::size_t i : matching.extra) extra[nodes_of(*extra_[i])].push_back(i);
    std::set<std::size_t> explained;
    const auto take = [&](std::size_t i) {
      std::vector<std::size_t>& between = extra[nodes_of(*missing_[i])];
      if (between.empty()) return false;
      const Wire& found = *extra_[between.front()];
      explained.insert(between.front());
      between.erase(between.begin());
      const NodePair nodes = nodes_of(found);
      add(Kind::kCableElsewhere, about_cable(nodes),
          absl::StrCat("the cable from ", wire_text(*missing_[i]), " is in other plugs: ", wire_text(found)),
          "move both of its ends", of_both(*missing_[i], found));
      return true;
    };
    std::erase_if(matching.missing, take);
    std::erase_if(matching.extra, [&](std::size_t i) { return explained.contains(i); });
  }

  void report_missing_wire(const Wire& wire) {
    const NodePair nodes = nodes_of(wire);
    add(Kind::kCableMissing, about_cable(nodes), absl::StrCat("there is no cable from ", wire_text(wire)),
        "plug it in at both ends; cableway doctor on both hosts says what is wrong with the ports",
        {.nodes = {nodes.first, nodes.second}, .expected_cables = cable_names(wire)});
  }

  void report_extra_wire(const Wire& wire) {
    const NodePair nodes = nodes_of(wire);
    if (is_of_extra_node(nodes)) return;  // the node's own difference
    add(Kind::kCableExtra, about_cable(nodes), absl::StrCat("the cable from ", wire_text(wire), " is not expected"),
        "unplug it, or add it to the expected topology",
        {.nodes = {nodes.first, nodes.second}, .found_cables = cable_names(wire)});
  }

  // Numbers of cables

  void compare_counts() {
    struct Between {
      std::vector<const Wire*> expected;
      std::vector<const Wire*> found;
    };
    std::map<NodePair, Between> pairs;
    const auto in_order = [](NodePair nodes) {
      if (routing::natural_less(nodes.second, nodes.first)) std::swap(nodes.first, nodes.second);
      return nodes;
    };
    for (const Wire& wire : expected_wires_) pairs[in_order(nodes_of(wire))].expected.push_back(&wire);
    for (const Wire& wire : found_wires_) pairs[in_order(nodes_of(wire))].found.push_back(&wire);
    for (const auto& [nodes, between] : pairs) {
      if (is_missing(nodes) || is_of_extra_node(nodes)) continue;
      report_counts(nodes, between.expected, between.found);
    }
  }

  void report_counts(const NodePair& nodes, std::span<const Wire* const> expected, std::span<const Wire* const> found) {
    if (expected.size() == found.size()) return;
    const bool misses = expected.size() > found.size();
    Difference rest{.nodes = {nodes.first, nodes.second}};
    for (std::size_t i = found.size(); i < expected.size(); ++i)
      append(rest.expected_cables, cable_names(*expected[i]));
    for (std::size_t i = expected.size(); i < found.size(); ++i) append(rest.found_cables, cable_names(*found[i]));
    add(misses ? Kind::kCableMissing : Kind::kCableExtra, about_cable(nodes),
        absl::StrCat("there ", found.size() == 1 ? "is " : "are ", count_text(found.size(), "cable"), " between ",
                     nodes.first, " and ", nodes.second, "; expected ", expected.size()),
        misses ? "plug it in at both ends; cableway doctor on both hosts says what is wrong with the ports"
               : "unplug it, or add it to the expected topology",
        std::move(rest));
  }

  const Topology& expected_;
  const Topology& found_;
  const SharedJacks keys_;
  JackTable jacks_;
  std::vector<Wire> expected_wires_;
  std::vector<Wire> found_wires_;
  WiresAt expected_at_;
  WiresAt found_at_;
  std::set<std::string> missing_nodes_;  // the silent ones included
  std::set<std::string> silent_nodes_;   // are known, but have no cable
  std::set<std::string> extra_nodes_;
  std::map<std::string, std::string> named_;  // extra nodes, and whose place they have
  std::vector<const Wire*> missing_;
  std::vector<const Wire*> extra_;
  Comparison result_;
};

}  // namespace

Comparison compare_topologies(const Topology& expected, const Topology& found) {
  return Comparer(expected, found).run();
}

}  // namespace cableway::cli
