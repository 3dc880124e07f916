#include "routing/topology_io/json_topology.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/absl_view.h"
#include "routing/text/bounded_json.h"
#include "routing/text/json_schema.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_name.h"
#include "routing/topology/topology_check.h"
#include "routing/topology_io/topology_file.h"

namespace cableway::routing {
namespace {

using Json = nlohmann::json;
using Part = TopologyFault::Part;

// Reads the members of an object and remembers the first that is invalid.
class Members {
 public:
  Members(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  // Refuses objects without `required` or with a member that is neither `required` nor one of `others`.
  void expect(std::string_view required, std::initializer_list<const char*> others);

  std::string text(const char* name, std::string_view otherwise);
  std::uint64_t whole_number(const char* name, std::uint64_t highest, std::uint64_t otherwise);
  // nullopt if the member is missing or null.
  std::optional<double> number(const char* name);
  bool truth(const char* name);
  // Null if there is no such array.
  const Json* array(const char* name);

  // Records a fault at `name`, or of the whole object if `name` is empty.
  void refuse(std::string_view name, const std::string& message);

  const std::optional<std::string>& fault() const { return fault_; }

 private:
  // Null if it is missing or a fault is already recorded.
  const Json* find(std::string_view name) const;

  const Json& json_;
  const std::string place_;
  std::optional<std::string> fault_;  // "at PLACE: what is wrong; what was expected"
};

void Members::refuse(std::string_view name, const std::string& message) {
  if (fault_) return;
  const std::string place = name.empty() ? place_ : absl::StrCat(place_, "/", absl_view(name));
  fault_ = place.empty() ? message : absl::StrCat("at ", place, ": ", message);
}

const Json* Members::find(std::string_view name) const {
  if (fault_) return nullptr;
  const auto it = json_.find(name);
  return it == json_.end() ? nullptr : &*it;
}

void Members::expect(std::string_view required, std::initializer_list<const char*> others) {
  if (!json_.is_object())
    return refuse("", absl::StrCat("not an object; expected {\"", absl_view(required), "\": ..}"));
  for (const auto& [name, value] : json_.items()) {
    if (name == required || std::find(others.begin(), others.end(), name) != others.end()) continue;
    std::vector<std::string_view> known(others.begin(), others.end());
    known.insert(known.begin(), required);
    return refuse("", absl::StrCat("unknown member ", in_quotes(name), did_you_mean(name, known), "; expected one of ",
                                   absl_view(required), ", ", absl::StrJoin(others, ", ")));
  }
  if (!json_.contains(required)) {
    refuse("", absl::StrCat("there is no ", in_quotes(required), "; expected {\"", absl_view(required), "\": ..}"));
  }
}

std::string Members::text(const char* name, std::string_view otherwise) {
  const Json* const value = find(name);
  if (value == nullptr) return std::string(otherwise);
  if (const auto* text = value->get_ptr<const std::string*>()) return *text;
  refuse(name, "not text; expected text in quotes");
  return {};
}

std::uint64_t Members::whole_number(const char* name, std::uint64_t highest, std::uint64_t otherwise) {
  const Json* const value = find(name);
  if (value == nullptr) return otherwise;
  const auto* const number = value->get_ptr<const std::uint64_t*>();
  if (number != nullptr && *number >= 1 && *number <= highest) return *number;
  refuse(name, absl::StrCat(value->is_number() ? value->dump() : "not a number", "; expected a whole number, 1 to ",
                            highest));
  return otherwise;
}

std::optional<double> Members::number(const char* name) {
  const Json* const value = find(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  refuse(name, "not a number; expected microseconds, such as 1.5, or null");
  return std::nullopt;
}

bool Members::truth(const char* name) {
  const Json* const value = find(name);
  if (value == nullptr) return false;
  if (const auto* truth = value->get_ptr<const bool*>()) return *truth;
  refuse(name, "not a boolean; expected true or false");
  return false;
}

const Json* Members::array(const char* name) {
  const Json* const value = find(name);
  if (value == nullptr || value->is_array()) return value;
  refuse(name, "not an array; expected [..]");
  return nullptr;
}

class JsonReader {
 public:
  explicit JsonReader(std::string_view file_name) : file_name_(file_name) {}

  absl::StatusOr<Topology> read(std::string_view text, Disconnected disconnected);

 private:
  absl::Status fault(std::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(escaped(file_name_), ": ", absl_view(message)));
  }
  absl::Status read_root(const Json& root);
  absl::StatusOr<std::vector<SharedPart>> read_parts(Members& members, const char* name,
                                                     const std::string& place) const;
  absl::Status read_node(const Json& json);
  absl::Status read_cable(const Json& json);
  absl::StatusOr<Port> read_end(const Json& json, const std::string& place) const;
  absl::Status check_rules() const;
  absl::StatusOr<Topology> check_connected(Topology topology) const;

  const std::string file_name_;
  std::string cluster_;
  std::vector<Node> nodes_;
  std::map<std::string, NodeIndex> node_by_name_;
  std::vector<Cable> cables_;
};

// The plugs or roots, by `name`, of the node with these members, which is at `place`.
absl::StatusOr<std::vector<SharedPart>> JsonReader::read_parts(Members& members, const char* name,
                                                               const std::string& place) const {
  std::vector<SharedPart> parts;
  const Json* const list = members.array(name);
  if (list == nullptr) return parts;
  for (const Json& json : *list) {
    Members part(json, absl::StrCat(place, "/", name, "/", parts.size()));
    part.expect("name", {"rate_mbps"});
    if (!part.fault() && !json.contains("rate_mbps")) part.refuse("", "there is no \"rate_mbps\"; expected one");
    parts.push_back({part.text("name", ""), part.whole_number("rate_mbps", kMaxRateMbps, 0)});
    if (part.fault()) return fault(*part.fault());
  }
  return parts;
}

absl::Status JsonReader::read_node(const Json& json) {
  const std::string place = absl::StrCat("/nodes/", nodes_.size());
  Members members(json, place);
  members.expect("name", {"relay_port", "draining", "plugs", "roots"});
  Node node;
  node.name = members.text("name", "");
  node.relay_port = static_cast<std::uint16_t>(
      members.whole_number("relay_port", std::numeric_limits<std::uint16_t>::max(), kDefaultRelayPort));
  node.draining = members.truth("draining");
  for (const auto& [name, parts] : {std::pair("plugs", &node.plugs), std::pair("roots", &node.roots)}) {
    absl::StatusOr<std::vector<SharedPart>> read = read_parts(members, name, place);
    if (!read.ok()) return read.status();
    *parts = *std::move(read);
  }
  if (members.fault()) return fault(*members.fault());
  node_by_name_.emplace(node.name, NodeIndex{static_cast<std::uint32_t>(nodes_.size())});
  nodes_.push_back(std::move(node));
  return absl::OkStatus();
}

absl::StatusOr<Port> JsonReader::read_end(const Json& json, const std::string& place) const {
  Members members(json, place);
  members.expect("node", {"interface", "address", "plug", "root"});
  const std::string name = members.text("node", "");
  Port port{.node = {},
            .interface = members.text("interface", ""),
            .address = members.text("address", ""),
            .plug = members.text("plug", ""),
            .root = members.text("root", "")};
  const auto node = node_by_name_.find(name);
  if (node == node_by_name_.end()) {
    members.refuse("node", absl::StrCat("there is no node ", in_quotes(name), "; expected one of those in /nodes"));
  } else {
    port.node = node->second;
  }
  if (members.fault()) return fault(*members.fault());
  return port;
}

absl::Status JsonReader::read_cable(const Json& json) {
  const std::string place = absl::StrCat("/cables/", cables_.size());
  Members members(json, place);
  members.expect("ends", {"name", "rate_mbps", "latency_us", "routed", "draining", "loss_percent"});
  Cable cable;
  cable.name = members.text("name", "");
  cable.rate_mbps = members.whole_number("rate_mbps", kMaxRateMbps, kDefaultRateMbps);
  cable.latency_us = members.number("latency_us");
  cable.routed = members.truth("routed");
  cable.draining = members.truth("draining");
  cable.loss_percent = static_cast<std::uint8_t>(members.whole_number("loss_percent", kMaxLossPercent, 0));
  const Json* const ends = members.array("ends");
  if (ends != nullptr && ends->size() != 2) {
    members.refuse("ends", absl::StrCat("a cable with ", ends->size(),
                                        " ends; expected two of {\"node\": .., "
                                        "\"interface\": .., \"address\": .., \"plug\": .., \"root\": ..}"));
  }
  if (members.fault()) return fault(*members.fault());
  for (const std::size_t end : {0, 1}) {
    const absl::StatusOr<Port> port = read_end((*ends)[end], absl::StrCat(place, "/ends/", end));
    if (!port.ok()) return port.status();
    (end == 0 ? cable.a : cable.b) = *port;
  }
  cables_.push_back(std::move(cable));
  return absl::OkStatus();
}

absl::Status JsonReader::read_root(const Json& root) {
  if (root.is_object()) {
    if (const std::string wrong = schema_fault(root); !wrong.empty()) return fault(wrong);
  }
  Members members(root, "");
  // The command line adds its comparison with an expected topology, and cables that were there.
  members.expect("nodes", {"cluster", "cables", "expected", "gone", kSchemaMember});
  cluster_ = members.text("cluster", kDefaultCluster);
  const Json* const nodes = members.array("nodes");
  const Json* const cables = members.array("cables");
  if (!is_valid_name(cluster_, kMaxNodeNameBytes)) {
    members.refuse("cluster",
                   absl::StrCat("cluster name ", in_quotes(cluster_), " ", name_fault(cluster_, kMaxNodeNameBytes)));
  }
  if (members.fault()) return fault(*members.fault());
  for (const Json& node : *nodes) {
    if (absl::Status status = read_node(node); !status.ok()) return status;
  }
  if (cables == nullptr) return absl::OkStatus();
  for (const Json& cable : *cables) {
    if (absl::Status status = read_cable(cable); !status.ok()) return status;
  }
  return absl::OkStatus();
}

const char* name_of(Part part) {
  switch (part) {
    case Part::kWhole:
      break;
    case Part::kName:
      return "/name";
    case Part::kRelayPort:
      return "/relay_port";
    case Part::kPlugs:
      return "/plugs";
    case Part::kRoots:
      return "/roots";
    case Part::kEndA:
      return "/ends/0";
    case Part::kEndB:
      return "/ends/1";
    case Part::kRate:
      return "/rate_mbps";
    case Part::kLatency:
      return "/latency_us";
  }
  return "";
}

absl::Status JsonReader::check_rules() const {
  const std::optional<TopologyFault> found = find_topology_fault(nodes_, cables_);
  if (!found) return absl::OkStatus();
  const char* list = "";
  if (found->at == TopologyFault::At::kNode) list = "/nodes/";
  if (found->at == TopologyFault::At::kCable) list = "/cables/";
  if (found->at == TopologyFault::At::kTopology) return fault(found->message);
  return fault(absl::StrCat("at ", list, found->index, name_of(found->part), ": ", found->message));
}

absl::StatusOr<Topology> JsonReader::check_connected(Topology topology) const {
  const std::optional<DisconnectedNode> apart = find_disconnected(topology);
  if (!apart) return topology;
  const NodeIndex listed = node_by_name_.at(topology.node(apart->node).name);
  return fault(absl::StrCat("at /nodes/", listed.value, ": ", apart->message));
}

absl::StatusOr<Topology> JsonReader::read(std::string_view text, Disconnected disconnected) {
  constexpr JsonBounds kBounds = {.bytes = kMaxTopologyFileBytes, .depth = kMaxJsonDepth, .values = kMaxJsonValues};
  const absl::StatusOr<Json> root =
      parse_bounded_json(text, file_name_, kBounds, "JSON as `cableway topology --json` prints it");
  if (!root.ok()) return root.status();
  if (absl::Status status = read_root(*root); !status.ok()) return status;
  name_cables(nodes_, cables_);
  if (absl::Status status = check_rules(); !status.ok()) return status;
  absl::StatusOr<Topology> topology = Topology::create(cluster_, nodes_, std::move(cables_));
  if (!topology.ok() || disconnected == Disconnected::kAccepted) return topology;
  return check_connected(*std::move(topology));
}

using OrderedJson = nlohmann::ordered_json;

OrderedJson end_json(const Topology& topology, const Port& port) {
  return {{"node", topology.node(port.node).name},
          {"interface", port.interface},
          {"address", port.address},
          {"plug", port.plug},
          {"root", port.root}};
}

OrderedJson parts_json(const std::vector<SharedPart>& parts) {
  OrderedJson list = OrderedJson::array();
  for (const SharedPart& part : parts) list.push_back({{"name", part.name}, {"rate_mbps", part.rate_mbps}});
  return list;
}

OrderedJson cable_json(const Topology& topology, const Cable& cable) {
  OrderedJson json{{"name", cable.name},
                   {"ends", OrderedJson::array({end_json(topology, cable.a), end_json(topology, cable.b)})},
                   {"rate_mbps", cable.rate_mbps},
                   {"latency_us", cable.latency_us ? OrderedJson(*cable.latency_us) : OrderedJson(nullptr)},
                   {"routed", cable.routed},
                   {"draining", cable.draining}};
  if (cable.loss_percent > 0) json["loss_percent"] = cable.loss_percent;
  return json;
}

// Appends one element at a time, since a document of all would take many times the memory of its text.
template <typename Elements, typename AsJson>
void append_array(std::string& text, const Elements& elements, AsJson as_json) {
  text += '[';
  const char* separator = "\n";
  for (const auto& element : elements) {
    absl::StrAppend(&text, separator, "  ", as_json(element).dump());
    separator = ",\n";
  }
  text += ']';
}

}  // namespace

std::string to_json_topology(const Topology& topology) {
  std::string text = absl::StrCat("{\"", kSchemaMember, "\": ", kJsonSchema,
                                  ", \"cluster\": ", Json(topology.cluster()).dump(), ",\n \"nodes\": ");
  append_array(text, topology.nodes(), [](const Node& node) -> OrderedJson {
    return {{"name", node.name},
            {"relay_port", node.relay_port},
            {"draining", node.draining},
            {"plugs", parts_json(node.plugs)},
            {"roots", parts_json(node.roots)}};
  });
  text += ",\n \"cables\": ";
  append_array(text, topology.plugged_cables(), [&](const Cable& cable) { return cable_json(topology, cable); });
  return text + "}\n";
}

absl::StatusOr<Topology> parse_json_topology(std::string_view text, std::string_view file_name,
                                             Disconnected disconnected) {
  return JsonReader(file_name).read(text, disconnected);
}

}  // namespace cableway::routing
