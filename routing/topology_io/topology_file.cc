#include "routing/topology_io/topology_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/text/absl_view.h"
#include "routing/text/hardened_toml.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_name.h"
#include "routing/topology/cable_quantity.h"
#include "routing/topology/topology_check.h"

namespace cableway::routing {
namespace {

using Part = TopologyFault::Part;
using cableway::routing::line_of;
using PartLines = std::array<std::uint32_t, kTopologyParts>;

std::uint32_t& line_of(PartLines& lines, Part part) {
  return lines[static_cast<std::size_t>(part)];
}

class TopologyReader {
 public:
  TopologyReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  absl::StatusOr<Topology> read(Disconnected disconnected);

 private:
  absl::Status fault(std::uint32_t line, std::string_view message) const;
  absl::Status check_keys(const toml::table& table, std::string_view what,
                          const std::vector<std::string_view>& known) const;
  absl::StatusOr<std::vector<const toml::table*>> tables(const toml::table& root, std::string_view key) const;

  // The value of `key`, with its line stored in `line`; nullopt, and `line` unchanged, if it is absent.
  absl::StatusOr<std::optional<std::string>> text_value(const toml::table& table, std::string_view key,
                                                        std::uint32_t& line) const;
  absl::StatusOr<std::optional<std::int64_t>> integer_value(const toml::table& table, std::string_view key,
                                                            std::int64_t highest, std::uint32_t& line) const;

  // False if it is absent.
  absl::StatusOr<bool> truth_value(const toml::table& table, std::string_view key) const;

  // The plugs or roots of a node: `key` is "plugs" or "roots".
  absl::StatusOr<std::vector<SharedPart>> parts_value(const toml::table& table, std::string_view key,
                                                      std::uint32_t& line) const;

  absl::Status read_node(const toml::table& table);
  absl::Status read_cable(const toml::table& table);
  absl::Status read_ends(const toml::table& table, Cable& cable, PartLines& lines) const;
  absl::Status read_end(const toml::table& table, Port& port) const;
  absl::Status read_cable_values(const toml::table& table, Cable& cable, PartLines& lines) const;
  absl::StatusOr<NodeIndex> find_node(const std::string& name, std::uint32_t line) const;
  absl::Status check_rules() const;
  absl::Status check_connected(const Topology& topology) const;

  const std::string_view text_;
  const std::string file_name_;
  std::vector<Node> nodes_;
  std::vector<PartLines> node_lines_;
  std::map<std::string, NodeIndex> node_by_name_;
  std::vector<Cable> cables_;
  std::vector<PartLines> cable_lines_;
};

absl::Status TopologyReader::fault(std::uint32_t line, std::string_view message) const {
  return toml_fault(file_name_, line, message);
}

absl::Status TopologyReader::check_keys(const toml::table& table, std::string_view what,
                                        const std::vector<std::string_view>& known) const {
  return check_toml_keys(table, file_name_, what, known);
}

absl::StatusOr<std::vector<const toml::table*>> TopologyReader::tables(const toml::table& root,
                                                                       std::string_view key) const {
  std::vector<const toml::table*> found;
  const toml::node* node = root.get(key);
  if (node == nullptr) return found;
  const std::string header = absl::StrCat("[[", std::string(key), "]]");
  if (!node->is_array()) {
    return fault(line_of(*node), absl::StrCat(in_quotes(key), " is not a list of tables; expected ", header));
  }
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_table()) {
      return fault(line_of(element),
                   absl::StrCat(in_quotes(key), " has an element that is not a table; expected ", header));
    }
    found.push_back(element.as_table());
  }
  return found;
}

absl::StatusOr<std::optional<std::string>> TopologyReader::text_value(const toml::table& table, std::string_view key,
                                                                      std::uint32_t& line) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return std::optional<std::string>();
  line = line_of(*node);
  if (!node->is_string()) {
    return fault(line, absl::StrCat(std::string(key), " is not text; expected text in quotes"));
  }
  return std::optional<std::string>(node->as_string()->get());
}

absl::StatusOr<std::optional<std::int64_t>> TopologyReader::integer_value(const toml::table& table,
                                                                          std::string_view key, std::int64_t highest,
                                                                          std::uint32_t& line) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return std::optional<std::int64_t>();
  line = line_of(*node);
  const std::string expected = absl::StrCat("; expected a whole number, 1 to ", highest);
  if (!node->is_integer()) return fault(line, absl::StrCat(std::string(key), " is not a whole number", expected));
  const std::int64_t value = node->as_integer()->get();
  if (value < 1 || value > highest) return fault(line, absl::StrCat(std::string(key), " is ", value, expected));
  return std::optional<std::int64_t>(value);
}

absl::StatusOr<bool> TopologyReader::truth_value(const toml::table& table, std::string_view key) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return false;
  if (!node->is_boolean()) {
    return fault(line_of(*node), absl::StrCat(std::string(key), " is not a boolean; expected true or false"));
  }
  return node->as_boolean()->get();
}

absl::StatusOr<std::vector<SharedPart>> TopologyReader::parts_value(const toml::table& table, std::string_view key,
                                                                    std::uint32_t& line) const {
  std::vector<SharedPart> parts;
  const toml::node* node = table.get(key);
  if (node == nullptr) return parts;
  line = line_of(*node);
  const std::string expected = absl::StrCat("; expected ", absl_view(key), " = [{name = \"..\", rate_mbps = ..}, ..]");
  if (!node->is_array()) return fault(line, absl::StrCat(absl_view(key), " is not a list", expected));
  for (const toml::node& element : *node->as_array()) {
    std::uint32_t at = line_of(element);
    if (!element.is_table()) {
      return fault(at, absl::StrCat(absl_view(key), " has an element that is not a table", expected));
    }
    const toml::table& part = *element.as_table();
    if (absl::Status status = check_keys(part, absl::StrCat("an element of ", absl_view(key)), {"name", "rate_mbps"});
        !status.ok()) {
      return status;
    }
    const auto name = text_value(part, "name", at);
    if (!name.ok()) return name.status();
    const auto rate = integer_value(part, "rate_mbps", kMaxRateMbps, at);
    if (!rate.ok()) return rate.status();
    if (!name->has_value() || !rate->has_value()) {
      return fault(at, absl::StrCat("an element of ", absl_view(key), " has no ",
                                    name->has_value() ? "rate_mbps" : "name", expected));
    }
    parts.push_back({**name, static_cast<std::uint64_t>(**rate)});
  }
  return parts;
}

absl::Status TopologyReader::read_node(const toml::table& table) {
  if (absl::Status status = check_keys(table, "[[node]]", {"name", "relay_port", "draining", "plugs", "roots"});
      !status.ok()) {
    return status;
  }
  PartLines lines;
  lines.fill(line_of(table));

  const auto name = text_value(table, "name", line_of(lines, Part::kName));
  if (!name.ok()) return name.status();
  if (!name->has_value()) return fault(line_of(table), "a node has no name; expected name = \"..\"");

  const auto relay_port =
      integer_value(table, "relay_port", std::numeric_limits<std::uint16_t>::max(), line_of(lines, Part::kRelayPort));
  if (!relay_port.ok()) return relay_port.status();

  const auto draining = truth_value(table, "draining");
  if (!draining.ok()) return draining.status();

  absl::StatusOr<std::vector<SharedPart>> plugs = parts_value(table, "plugs", line_of(lines, Part::kPlugs));
  if (!plugs.ok()) return plugs.status();
  absl::StatusOr<std::vector<SharedPart>> roots = parts_value(table, "roots", line_of(lines, Part::kRoots));
  if (!roots.ok()) return roots.status();

  node_by_name_.emplace(**name, NodeIndex{static_cast<std::uint32_t>(nodes_.size())});
  nodes_.push_back({**name, static_cast<std::uint16_t>(relay_port->value_or(kDefaultRelayPort)), *draining,
                    *std::move(plugs), *std::move(roots)});
  node_lines_.push_back(lines);
  return absl::OkStatus();
}

absl::StatusOr<NodeIndex> TopologyReader::find_node(const std::string& name, std::uint32_t line) const {
  if (const auto it = node_by_name_.find(name); it != node_by_name_.end()) return it->second;
  constexpr std::size_t kShown = 8;
  std::string known;
  for (std::size_t i = 0; i < std::min(kShown, nodes_.size()); ++i) {
    absl::StrAppend(&known, i == 0 ? "" : ", ", in_quotes(nodes_[i].name));
  }
  if (nodes_.size() > kShown) absl::StrAppend(&known, " and ", nodes_.size() - kShown, " more");
  return fault(line, absl::StrCat("a cable ends at node ", in_quotes(name), ", which is not in the file; expected ",
                                  known.empty() ? "a [[node]] of that name" : absl::StrCat("one of ", known)));
}

absl::Status TopologyReader::read_end(const toml::table& table, Port& port) const {
  constexpr char kExpected[] = "; expected {node = \"..\", address = \"..\"}; interface, plug and root are optional";
  if (absl::Status status = check_keys(table, "an end of a cable", {"node", "interface", "address", "plug", "root"});
      !status.ok()) {
    return status;
  }
  std::uint32_t line = line_of(table);
  const auto node = text_value(table, "node", line);
  if (!node.ok()) return node.status();
  if (!node->has_value()) return fault(line, absl::StrCat("an end of a cable has no node", kExpected));
  const absl::StatusOr<NodeIndex> index = find_node(**node, line);
  if (!index.ok()) return index.status();

  const auto address = text_value(table, "address", line);
  if (!address.ok()) return address.status();
  if (!address->has_value()) return fault(line, absl::StrCat("an end of a cable has no address", kExpected));

  const auto interface = text_value(table, "interface", line);
  if (!interface.ok()) return interface.status();
  if (*interface == "") return fault(line, "interface is empty; expected a name, or to leave interface out");

  const auto plug = text_value(table, "plug", line);
  if (!plug.ok()) return plug.status();
  if (*plug == "") return fault(line, "plug is empty; expected a name, or to leave plug out");

  const auto root = text_value(table, "root", line);
  if (!root.ok()) return root.status();
  if (*root == "") return fault(line, "root is empty; expected a name, or to leave root out");

  port = {.node = *index,
          .interface = interface->value_or(""),
          .address = **address,
          .plug = plug->value_or(""),
          .root = root->value_or("")};
  return absl::OkStatus();
}

absl::Status TopologyReader::read_ends(const toml::table& table, Cable& cable, PartLines& lines) const {
  constexpr char kExpected[] =
      "; expected ends = [{node = \"..\", address = \"..\"}, {node = \"..\", address = \"..\"}]";
  const toml::node* ends = table.get("ends");
  if (ends == nullptr) return fault(line_of(table), absl::StrCat("a cable has no ends", kExpected));
  if (!ends->is_array()) return fault(line_of(*ends), absl::StrCat("ends is not a list", kExpected));
  const toml::array& list = *ends->as_array();
  if (list.size() != 2) {
    return fault(line_of(*ends),
                 absl::StrCat("a cable has ", list.size(), list.size() == 1 ? " end" : " ends", kExpected));
  }
  for (const Part part : {Part::kEndA, Part::kEndB}) {
    const toml::node& end = list[part == Part::kEndA ? 0 : 1];
    line_of(lines, part) = line_of(end);
    if (!end.is_table()) return fault(line_of(end), absl::StrCat("an end of a cable is not a table", kExpected));
    Port& port = part == Part::kEndA ? cable.a : cable.b;
    if (absl::Status status = read_end(*end.as_table(), port); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status TopologyReader::read_cable_values(const toml::table& table, Cable& cable, PartLines& lines) const {
  const auto rate = integer_value(table, "rate_mbps", kMaxRateMbps, line_of(lines, Part::kRate));
  if (!rate.ok()) return rate.status();
  cable.rate_mbps = static_cast<std::uint64_t>(rate->value_or(kDefaultRateMbps));

  if (const toml::node* latency = table.get("latency_us")) {
    line_of(lines, Part::kLatency) = line_of(*latency);
    const std::optional<double> value = latency->is_number() ? latency->value<double>() : std::nullopt;
    if (!value) return fault(line_of(*latency), "latency_us is not a number; expected microseconds, such as 1.5");
    cable.latency_us = *value;
  }
  const auto routed = truth_value(table, "routed");
  if (!routed.ok()) return routed.status();
  cable.routed = *routed;
  const auto draining = truth_value(table, "draining");
  if (!draining.ok()) return draining.status();
  cable.draining = *draining;
  std::uint32_t line = 0;  // its value is checked here already
  const auto loss = integer_value(table, "loss_percent", kMaxLossPercent, line);
  if (!loss.ok()) return loss.status();
  cable.loss_percent = static_cast<std::uint8_t>(loss->value_or(0));
  return absl::OkStatus();
}

absl::Status TopologyReader::read_cable(const toml::table& table) {
  absl::Status keys =
      check_keys(table, "[[cable]]", {"name", "ends", "rate_mbps", "latency_us", "routed", "draining", "loss_percent"});
  if (!keys.ok()) return keys;
  Cable cable;
  PartLines lines;
  lines.fill(line_of(table));
  const auto name = text_value(table, "name", line_of(lines, Part::kName));
  if (!name.ok()) return name.status();
  if (*name == "") return fault(line_of(lines, Part::kName), "name is empty; expected a name, or to leave name out");
  cable.name = name->value_or("");
  if (absl::Status status = read_ends(table, cable, lines); !status.ok()) return status;
  if (absl::Status status = read_cable_values(table, cable, lines); !status.ok()) return status;
  cables_.push_back(std::move(cable));
  cable_lines_.push_back(lines);
  return absl::OkStatus();
}

absl::Status TopologyReader::check_rules() const {
  const std::optional<TopologyFault> found = find_topology_fault(nodes_, cables_);
  if (!found) return absl::OkStatus();
  const auto part = static_cast<std::size_t>(found->part);
  switch (found->at) {
    case TopologyFault::At::kNode:
      return fault(node_lines_[found->index][part], found->message);
    case TopologyFault::At::kCable:
      return fault(cable_lines_[found->index][part], found->message);
    case TopologyFault::At::kTopology:
      break;
  }
  return fault(1, found->message);
}

absl::Status TopologyReader::check_connected(const Topology& topology) const {
  const std::optional<DisconnectedNode> apart = find_disconnected(topology);
  if (!apart) return absl::OkStatus();
  const auto unreached = node_by_name_.find(topology.node(apart->node).name);
  return fault(node_lines_[unreached->second.value][static_cast<std::size_t>(Part::kWhole)], apart->message);
}

absl::StatusOr<Topology> TopologyReader::read(Disconnected disconnected) {
  constexpr TomlBounds kBounds = {.file_bytes = kMaxTopologyFileBytes, .line_bytes = kMaxTopologyFileLineBytes};
  const absl::StatusOr<toml::table> parsed =
      parse_hardened(text_, file_name_, kBounds, "TOML with [[node]] and [[cable]] tables");
  if (!parsed.ok()) return parsed.status();
  const toml::table& root = *parsed;
  if (absl::Status status = check_keys(root, "the topology file", {"cluster", "node", "cable"}); !status.ok()) {
    return status;
  }
  std::uint32_t cluster_line = 1;
  const auto cluster = text_value(root, "cluster", cluster_line);
  if (!cluster.ok()) return cluster.status();

  const auto node_tables = tables(root, "node");
  if (!node_tables.ok()) return node_tables.status();
  for (const toml::table* table : *node_tables) {
    if (absl::Status status = read_node(*table); !status.ok()) return status;
  }
  const auto cable_tables = tables(root, "cable");
  if (!cable_tables.ok()) return cable_tables.status();
  for (const toml::table* table : *cable_tables) {
    if (absl::Status status = read_cable(*table); !status.ok()) return status;
  }
  name_cables(nodes_, cables_);
  if (absl::Status status = check_rules(); !status.ok()) return status;

  absl::StatusOr<Topology> topology =
      Topology::create(cluster->value_or(kDefaultCluster), std::move(nodes_), std::move(cables_));
  // The cluster's name is the only one of create()'s rules that is still unchecked.
  if (!topology.ok()) return fault(cluster_line, std::string(topology.status().message()));
  if (disconnected == Disconnected::kAccepted) return topology;
  if (absl::Status status = check_connected(*topology); !status.ok()) return status;
  return topology;
}

void append_end(std::string& text, const Topology& topology, const Port& port) {
  absl::StrAppend(&text, "{node = \"", topology.node(port.node).name, "\", ");
  if (!port.interface.empty()) absl::StrAppend(&text, "interface = \"", port.interface, "\", ");
  absl::StrAppend(&text, "address = \"", port.address, "\"");
  if (!port.plug.empty()) absl::StrAppend(&text, ", plug = \"", port.plug, "\"");
  if (!port.root.empty()) absl::StrAppend(&text, ", root = \"", port.root, "\"");
  text += "}";
}

void append_parts(std::string& text, const char* key, const std::vector<SharedPart>& parts) {
  if (parts.empty()) return;
  const char* separator = "";
  absl::StrAppend(&text, key, " = [");
  for (const SharedPart& part : parts) {
    absl::StrAppend(&text, std::exchange(separator, ",\n         "), "{name = \"", part.name,
                    "\", rate_mbps = ", part.rate_mbps, "}");
  }
  text += "]\n";
}

void append_cable(std::string& text, const Topology& topology, const Cable& cable) {
  absl::StrAppend(&text, "\n[[cable]]\nname = \"", cable.name, "\"\nends = [");
  append_end(text, topology, cable.a);
  text += ", ";
  append_end(text, topology, cable.b);
  absl::StrAppend(&text, "]\nrate_mbps = ", cable.rate_mbps, "\n");
  if (cable.latency_us) absl::StrAppend(&text, "latency_us = ", number_text(*cable.latency_us), "\n");
  if (cable.routed) text += "routed = true\n";
  if (cable.draining) text += "draining = true\n";
  if (cable.loss_percent > 0) absl::StrAppend(&text, "loss_percent = ", cable.loss_percent, "\n");
}

}  // namespace

absl::StatusOr<Topology> parse_topology(std::string_view text, std::string_view file_name, Disconnected disconnected) {
  return TopologyReader(text, file_name).read(disconnected);
}

// Names, interfaces, addresses, plugs and roots of a valid topology contain no character that needs escaping in TOML.
std::string to_topology_file(const Topology& topology) {
  std::string text = absl::StrCat("cluster = \"", topology.cluster(), "\"\n");
  for (const Node& node : topology.nodes()) {
    absl::StrAppend(&text, "\n[[node]]\nname = \"", node.name, "\"\n");
    if (node.relay_port != kDefaultRelayPort) absl::StrAppend(&text, "relay_port = ", node.relay_port, "\n");
    if (node.draining) text += "draining = true\n";
    append_parts(text, "plugs", node.plugs);
    append_parts(text, "roots", node.roots);
  }
  for (const Cable& cable : topology.plugged_cables()) append_cable(text, topology, cable);
  return text;
}

}  // namespace cableway::routing
