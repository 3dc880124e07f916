#include "routing/topology_io/graph_sketch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "routing/shapes/port_plan.h"
#include "routing/text/absl_view.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_name.h"
#include "routing/topology/topology_check.h"

namespace cableway::routing {
namespace {

using Part = TopologyFault::Part;

constexpr std::array kKnown = {"draining",   "from_address", "from_interface", "from_plug", "from_root",
                               "label",      "latency_us",   "loss_percent",   "name",      "only_expected",
                               "plugs",      "rate_mbps",    "relay_port",     "roots",     "routed",
                               "to_address", "to_interface", "to_plug",        "to_root"};

// The attribute, or null if it is missing or empty.
const SketchText* find(const SketchAttributes& attributes, std::string_view key) {
  const auto it = attributes.find(key);
  return it == attributes.end() || it->second.text.empty() ? nullptr : &it->second;
}

std::string text_of(const SketchAttributes& attributes, std::string_view key) {
  const SketchText* const given = find(attributes, key);
  return given == nullptr ? "" : given->text;
}

// The line of the first of `keys` that is present; else `line`.
std::uint32_t line_of(const SketchAttributes& attributes, std::initializer_list<const char*> keys, std::uint32_t line) {
  for (const char* key : keys) {
    const auto it = attributes.find(key);
    if (it != attributes.end()) return it->second.line;
  }
  return line;
}

std::uint32_t line_of(const SketchNode& node, Part part) {
  switch (part) {
    case Part::kName:
      return line_of(node.attributes, {"name"}, node.line);
    case Part::kRelayPort:
      return line_of(node.attributes, {"relay_port"}, node.line);
    case Part::kPlugs:
      return line_of(node.attributes, {"plugs"}, node.line);
    case Part::kRoots:
      return line_of(node.attributes, {"roots"}, node.line);
    default:
      return node.line;
  }
}

std::uint32_t line_of(const SketchCable& cable, Part part) {
  switch (part) {
    case Part::kName:
      return line_of(cable.attributes, {"name"}, cable.line);
    case Part::kEndA:
      return line_of(cable.attributes, {"from_address", "from_interface", "from_plug", "from_root"}, cable.line);
    case Part::kEndB:
      return line_of(cable.attributes, {"to_address", "to_interface", "to_plug", "to_root"}, cable.line);
    case Part::kRate:
      return line_of(cable.attributes, {"rate_mbps"}, cable.line);
    case Part::kLatency:
      return line_of(cable.attributes, {"latency_us"}, cable.line);
    default:
      return cable.line;
  }
}

// A decimal number; infinities and hexadecimal numbers are rejected.
std::optional<double> number_of(const std::string& text) {
  double number = 0;
  if (!absl::ascii_isdigit(static_cast<unsigned char>(text[0])) || !absl::SimpleAtod(text, &number)) {
    return std::nullopt;
  }
  return number;
}

// How many elements use each name, label and id.
template <typename Element>
std::map<std::string_view, std::size_t> uses_of_names(const std::vector<Element>& elements) {
  std::map<std::string_view, std::size_t> uses;
  for (const Element& element : elements) {
    for (const char* key : {"name", "label"}) {
      if (const SketchText* given = find(element.attributes, key)) ++uses[given->text];
    }
    if constexpr (std::is_same_v<Element, SketchNode>) ++uses[element.id];
  }
  return uses;
}

bool is_valid_node_name(std::string_view name) {
  return is_valid_name(name, kMaxNodeNameBytes);
}

std::string name_of(const SketchAttributes& attributes, bool (*is_valid)(std::string_view),
                    const std::map<std::string_view, std::size_t>& uses, const std::string& otherwise) {
  if (const SketchText* name = find(attributes, "name")) return name->text;
  const SketchText* const label = find(attributes, "label");
  if (label == nullptr || !is_valid(label->text) || uses.at(label->text) > 1) return otherwise;
  return label->text;
}

// Converts the typed attributes of one node or edge; remembers the first one that is invalid.
class Values {
 public:
  Values(const GraphSketch& sketch, const SketchAttributes& attributes) : sketch_(sketch), attributes_(attributes) {}

  std::uint64_t whole_number(const char* key, std::uint64_t highest, std::uint64_t otherwise) {
    const SketchText* const given = find(attributes_, key);
    if (given == nullptr) return otherwise;
    const std::optional<double> number = number_of(given->text);
    if (number && *number >= 1 && *number <= static_cast<double>(highest) && std::floor(*number) == *number) {
      return static_cast<std::uint64_t>(*number);
    }
    refuse(key, *given, absl::StrCat("a whole number, 1 to ", highest));
    return otherwise;
  }

  std::optional<double> microseconds(const char* key) {
    const SketchText* const given = find(attributes_, key);
    if (given == nullptr) return std::nullopt;
    if (const std::optional<double> number = number_of(given->text)) return *number;
    refuse(key, *given, "microseconds, such as 1.5");
    return std::nullopt;
  }

  std::vector<SharedPart> parts(const char* key) {
    std::vector<SharedPart> parts;
    const SketchText* const given = find(attributes_, key);
    if (given == nullptr) return parts;
    for (const absl::string_view each : absl::StrSplit(given->text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
      const std::pair<std::string, std::string> part = absl::StrSplit(each, absl::MaxSplits('=', 1));
      SharedPart& added = parts.emplace_back(SharedPart{part.first, 0});
      if (parts.size() <= kMaxSharedParts && absl::SimpleAtoi(part.second, &added.rate_mbps)) continue;
      refuse(key, *given, absl::StrCat("at most ", kMaxSharedParts, " of NAME=RATE_MBPS, such as \"p0=200000\""));
      break;
    }
    return parts;
  }

  bool truth(const char* key) {
    const SketchText* const given = find(attributes_, key);
    if (given == nullptr || absl::EqualsIgnoreCase(given->text, "false")) return false;
    if (!absl::EqualsIgnoreCase(given->text, "true")) refuse(key, *given, "true or false");
    return true;
  }

  const absl::Status& status() const { return status_; }

 private:
  void refuse(const char* key, const SketchText& given, std::string_view expected) {
    if (!status_.ok()) return;
    status_ =
        sketch_.fault(given.line, absl::StrCat(key, " is ", in_quotes(given.text), "; expected ", absl_view(expected)));
  }

  const GraphSketch& sketch_;
  const SketchAttributes& attributes_;
  absl::Status status_;
};

Port port_of(std::size_t node, const SketchAttributes& attributes, const std::string& end) {
  return {.node = NodeIndex{static_cast<std::uint32_t>(node)},
          .interface = text_of(attributes, end + "_interface"),
          .address = text_of(attributes, end + "_address"),
          .plug = text_of(attributes, end + "_plug"),
          .root = text_of(attributes, end + "_root")};
}

}  // namespace

absl::Status GraphSketch::fault(std::uint32_t line, std::string_view message) const {
  return absl::InvalidArgumentError(
      absl::StrCat(escaped(file_name_), ":", std::max(line, 1U), ": ", absl_view(message)));
}

absl::Status GraphSketch::set(SketchAttributes& attributes, std::string_view key, std::string_view text,
                              std::uint32_t line) const {
  if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end()) return absl::OkStatus();
  const bool is_label = key == "label";
  if (text.size() > kMaxSketchTextBytes && !is_label) {
    return fault(line,
                 absl::StrCat(absl_view(key), " has ", text.size(), " bytes; expected at most ", kMaxSketchTextBytes));
  }
  attributes.insert_or_assign(std::string(key), SketchText{std::string(text.substr(0, kMaxSketchTextBytes)), line});
  return absl::OkStatus();
}

std::optional<std::size_t> GraphSketch::find_node(std::string_view id) const {
  const auto it = node_by_id_.find(id);
  if (it == node_by_id_.end()) return std::nullopt;
  return it->second;
}

absl::StatusOr<std::size_t> GraphSketch::add_node(std::string_view id, std::uint32_t line,
                                                  SketchAttributes attributes) {
  if (id.size() > kMaxSketchTextBytes) {
    return fault(line,
                 absl::StrCat("the id of a node has ", id.size(), " bytes; expected at most ", kMaxSketchTextBytes));
  }
  if (nodes_.size() == kMaxNodes) return fault(line, absl::StrCat("too many nodes; expected at most ", kMaxNodes));
  node_by_id_.emplace(id, nodes_.size());
  nodes_.push_back({std::string(id), line, std::move(attributes)});
  return nodes_.size() - 1;
}

absl::StatusOr<std::size_t> GraphSketch::add_cable(std::size_t from, std::size_t to, std::uint32_t line,
                                                   SketchAttributes attributes) {
  if (cables_.size() == kMaxCables) return fault(line, absl::StrCat("too many cables; expected at most ", kMaxCables));
  cables_.push_back({from, to, line, std::move(attributes)});
  return cables_.size() - 1;
}

absl::StatusOr<std::vector<Node>> GraphSketch::read_nodes() const {
  const std::map<std::string_view, std::size_t> uses = uses_of_names(nodes_);
  std::vector<Node> nodes;
  nodes.reserve(nodes_.size());
  for (const SketchNode& sketched : nodes_) {
    Values values(*this, sketched.attributes);
    Node node;
    node.name = name_of(sketched.attributes, is_valid_node_name, uses, sketched.id);
    node.relay_port = static_cast<std::uint16_t>(
        values.whole_number("relay_port", std::numeric_limits<std::uint16_t>::max(), kDefaultRelayPort));
    node.draining = values.truth("draining");
    node.plugs = values.parts("plugs");
    node.roots = values.parts("roots");
    if (!values.status().ok()) return values.status();
    nodes.push_back(std::move(node));
  }
  return nodes;
}

absl::StatusOr<std::vector<Cable>> GraphSketch::read_cables() const {
  const std::map<std::string_view, std::size_t> uses = uses_of_names(cables_);
  std::vector<Cable> cables;
  cables.reserve(cables_.size());
  for (const SketchCable& sketched : cables_) {
    Values values(*this, sketched.attributes);
    Cable cable;
    cable.name = name_of(sketched.attributes, is_valid_cable_name, uses, "");
    cable.a = port_of(sketched.from, sketched.attributes, "from");
    cable.b = port_of(sketched.to, sketched.attributes, "to");
    cable.rate_mbps = values.whole_number("rate_mbps", kMaxRateMbps, kDefaultRateMbps);
    cable.latency_us = values.microseconds("latency_us");
    cable.routed = values.truth("routed");
    cable.draining = values.truth("draining");
    cable.loss_percent = static_cast<std::uint8_t>(values.whole_number("loss_percent", kMaxLossPercent, 0));
    if (!values.status().ok()) return values.status();
    cables.push_back(std::move(cable));
  }
  return cables;
}

absl::Status GraphSketch::check_addresses(const std::vector<Node>& nodes, const std::vector<Cable>& cables) const {
  const auto lacking = [](const Cable& cable) { return cable.a.address.empty() ? &cable.a : &cable.b; };
  const auto complete = [](const Cable& cable) { return !cable.a.address.empty() && !cable.b.address.empty(); };
  const auto found = std::find_if_not(cables.begin(), cables.end(), complete);
  if (found == cables.end()) return absl::OkStatus();
  return fault(cables_[static_cast<std::size_t>(found - cables.begin())].line,
               absl::StrCat("cable ", in_quotes(found->name), " has no address at node ",
                            in_quotes(nodes[lacking(*found)->node.value].name),
                            ", yet the graph gives addresses; expected them at both ends of every cable, or nowhere"));
}

absl::Status GraphSketch::check_rules(const std::vector<Node>& nodes, const std::vector<Cable>& cables) const {
  const std::optional<TopologyFault> found = find_topology_fault(nodes, cables);
  if (!found) return absl::OkStatus();
  switch (found->at) {
    case TopologyFault::At::kNode:
      return fault(line_of(nodes_[found->index], found->part), found->message);
    case TopologyFault::At::kCable:
      return fault(line_of(cables_[found->index], found->part), found->message);
    case TopologyFault::At::kTopology:
      break;
  }
  return fault(1, found->message);
}

absl::Status GraphSketch::check_connected(const Topology& topology, const std::vector<Node>& nodes) const {
  const std::optional<DisconnectedNode> apart = find_disconnected(topology);
  if (!apart) return absl::OkStatus();
  const std::string& name = topology.node(apart->node).name;
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  return fault(nodes_[static_cast<std::size_t>(found - nodes.begin())].line, apart->message);
}

absl::StatusOr<GraphSketch> GraphSketch::without_expected() const {
  GraphSketch present(file_name_);
  std::vector<std::optional<std::size_t>> places;
  for (const SketchNode& node : nodes_) {
    Values values(*this, node.attributes);
    const bool is_present = !values.truth("only_expected");
    if (!values.status().ok()) return values.status();
    places.push_back(is_present ? std::optional(present.nodes_.size()) : std::nullopt);
    if (is_present) present.nodes_.push_back(node);
  }
  for (const SketchCable& cable : cables_) {
    Values values(*this, cable.attributes);
    const bool is_present = !values.truth("only_expected");
    if (!values.status().ok()) return values.status();
    const std::optional<std::size_t> from = places[cable.from];
    const std::optional<std::size_t> to = places[cable.to];
    if (is_present && from && to) present.cables_.push_back({*from, *to, cable.line, cable.attributes});
  }
  return present;
}

absl::StatusOr<Topology> GraphSketch::finish(std::string_view graph_name, Disconnected disconnected) const {
  const auto says_expected = [](const auto& element) { return element.attributes.contains("only_expected"); };
  const bool is_plain = std::none_of(nodes_.begin(), nodes_.end(), says_expected) &&
                        std::none_of(cables_.begin(), cables_.end(), says_expected);
  if (is_plain) return finish_present(graph_name, disconnected);
  const absl::StatusOr<GraphSketch> present = without_expected();
  if (!present.ok()) return present.status();
  return present->finish_present(graph_name, disconnected);
}

absl::StatusOr<Topology> GraphSketch::finish_present(std::string_view graph_name, Disconnected disconnected) const {
  const absl::StatusOr<std::vector<Node>> nodes = read_nodes();
  if (!nodes.ok()) return nodes.status();
  absl::StatusOr<std::vector<Cable>> cables = read_cables();
  if (!cables.ok()) return cables.status();
  name_cables(*nodes, *cables);
  const bool gives_addresses = std::any_of(cables->begin(), cables->end(), [](const Cable& cable) {
    return !cable.a.address.empty() || !cable.b.address.empty();
  });
  if (!gives_addresses) {
    plan_ports(*nodes, *cables);
  } else if (absl::Status status = check_addresses(*nodes, *cables); !status.ok()) {
    return status;
  }
  if (absl::Status status = check_rules(*nodes, *cables); !status.ok()) return status;
  const bool can_be_cluster = is_valid_name(graph_name, kMaxNodeNameBytes);
  absl::StatusOr<Topology> topology =
      Topology::create(can_be_cluster ? std::string(graph_name) : kDefaultCluster, *nodes, *std::move(cables));
  if (!topology.ok() || disconnected == Disconnected::kAccepted) return topology;
  if (absl::Status status = check_connected(*topology, *nodes); !status.ok()) return status;
  return topology;
}

}  // namespace cableway::routing
