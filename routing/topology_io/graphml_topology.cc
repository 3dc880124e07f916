#include "routing/topology_io/graphml_topology.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "routing/topology_io/graph_sketch.h"
#include "routing/topology_io/topology_file.h"

namespace cableway::routing {
namespace {

// Maps offsets to lines, incrementally: offsets are requested in document order.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  std::uint32_t line_at(std::ptrdiff_t offset) {
    const std::size_t wanted = std::min(text_.size(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
    if (wanted < offset_) {
      offset_ = 0;
      line_ = 1;
    }
    const std::string_view passed = text_.substr(offset_, wanted - offset_);
    line_ += static_cast<std::uint32_t>(std::count(passed.begin(), passed.end(), '\n'));
    offset_ = wanted;
    return line_;
  }

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  std::uint32_t line_ = 1;
};

// A <key>: the attribute that <data> elements set.
struct Key {
  std::string name;
  bool of_nodes;
  bool of_edges;
};

class GraphmlReader {
 public:
  GraphmlReader(std::string_view text, std::string_view file_name) : lines_(text), sketch_(file_name), text_(text) {}

  absl::StatusOr<Topology> read(Disconnected disconnected);

 private:
  std::uint32_t line_of(const pugi::xml_node& element) { return lines_.line_at(element.offset_debug()); }
  absl::Status fault(const pugi::xml_node& element, std::string_view message) {
    return sketch_.fault(line_of(element), message);
  }
  absl::Status read_keys(const pugi::xml_node& root);
  absl::Status read_key(const pugi::xml_node& element);
  absl::StatusOr<pugi::xml_node> find_graph(const pugi::xml_node& root);
  absl::Status read_nodes(const pugi::xml_node& graph);
  absl::Status read_edges(const pugi::xml_node& graph);
  absl::Status read_node(const pugi::xml_node& element);
  absl::Status read_edge(const pugi::xml_node& element);
  absl::StatusOr<std::size_t> end_of(const pugi::xml_node& edge, const char* attribute);
  absl::StatusOr<SketchAttributes> attributes_of(const pugi::xml_node& element, bool is_edge);

  LineCounter lines_;
  GraphSketch sketch_;
  std::string_view text_;
  std::map<std::string, Key, std::less<>> keys_;  // by id
  SketchAttributes node_defaults_;
  SketchAttributes edge_defaults_;
};

std::string_view trimmed(const char* text) {
  const absl::string_view bare = absl::StripAsciiWhitespace(text);
  return {bare.data(), bare.size()};
}

bool is(const pugi::xml_node& element, std::string_view name) {
  return element.name() == name;
}

absl::Status GraphmlReader::read_key(const pugi::xml_node& element) {
  const std::string id = element.attribute("id").value();
  const std::string_view of = element.attribute("for").as_string("all");
  if (id.empty()) return fault(element, "a <key> has no id; expected id=\"..\"");
  Key key{element.attribute("attr.name").value(), of == "all" || of == "node", of == "all" || of == "edge"};
  if (keys_.contains(id)) {
    return fault(element,
                 absl::StrCat("key ", in_quotes(id), " is defined twice; expected every key to have its own id"));
  }
  if (const pugi::xml_node given = element.child("default")) {
    const std::string_view text = trimmed(given.child_value());
    const std::uint32_t line = line_of(given);
    if (key.of_nodes) {
      if (absl::Status status = sketch_.set(node_defaults_, key.name, text, line); !status.ok()) return status;
    }
    if (key.of_edges) {
      if (absl::Status status = sketch_.set(edge_defaults_, key.name, text, line); !status.ok()) return status;
    }
  }
  keys_.emplace(id, std::move(key));
  return absl::OkStatus();
}

absl::Status GraphmlReader::read_keys(const pugi::xml_node& root) {
  for (const pugi::xml_node& element : root.children("key")) {
    if (absl::Status status = read_key(element); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<pugi::xml_node> GraphmlReader::find_graph(const pugi::xml_node& root) {
  const pugi::xml_node graph = root.child("graph");
  if (!graph) return fault(root, "there is no <graph>; expected one");
  if (const pugi::xml_node second = graph.next_sibling("graph")) {
    return fault(second, "a second <graph>; expected one");
  }
  return graph;
}

// The defaults, overridden by the element's <data>.
absl::StatusOr<SketchAttributes> GraphmlReader::attributes_of(const pugi::xml_node& element, bool is_edge) {
  SketchAttributes attributes = is_edge ? edge_defaults_ : node_defaults_;
  for (const pugi::xml_node& data : element.children("data")) {
    const std::string_view id = data.attribute("key").value();
    const auto key = keys_.find(id);
    if (key == keys_.end()) {
      return fault(data, absl::StrCat("<data> has the key ", in_quotes(id), "; expected the id of a <key>"));
    }
    if (!(is_edge ? key->second.of_edges : key->second.of_nodes)) continue;
    const std::uint32_t line = line_of(data);
    if (absl::Status status = sketch_.set(attributes, key->second.name, trimmed(data.child_value()), line);
        !status.ok()) {
      return status;
    }
  }
  return attributes;
}

absl::Status GraphmlReader::read_node(const pugi::xml_node& element) {
  const std::uint32_t line = line_of(element);
  const std::string_view id = element.attribute("id").value();
  if (id.empty()) return fault(element, "a <node> has no id; expected id=\"..\"");
  if (sketch_.find_node(id)) {
    return fault(element,
                 absl::StrCat("node ", in_quotes(id), " is defined twice; expected every node to have its own id"));
  }
  if (element.child("graph")) {
    return fault(element,
                 absl::StrCat("node ", in_quotes(id), " holds a graph; expected nodes and edges in one graph"));
  }
  absl::StatusOr<SketchAttributes> attributes = attributes_of(element, /*is_edge=*/false);
  if (!attributes.ok()) return attributes.status();
  return sketch_.add_node(id, line, *std::move(attributes)).status();
}

absl::StatusOr<std::size_t> GraphmlReader::end_of(const pugi::xml_node& edge, const char* attribute) {
  const std::string_view id = edge.attribute(attribute).value();
  if (id.empty()) return fault(edge, absl::StrCat("an <edge> has no ", attribute, "; expected the id of a <node>"));
  if (const std::optional<std::size_t> node = sketch_.find_node(id)) return *node;
  return fault(edge, absl::StrCat("an <edge> has the ", attribute, " ", in_quotes(id),
                                  ", which is not a node; expected the id of a <node>"));
}

absl::Status GraphmlReader::read_edge(const pugi::xml_node& element) {
  const std::uint32_t line = line_of(element);
  const absl::StatusOr<std::size_t> from = end_of(element, "source");
  if (!from.ok()) return from.status();
  const absl::StatusOr<std::size_t> to = end_of(element, "target");
  if (!to.ok()) return to.status();
  absl::StatusOr<SketchAttributes> attributes = attributes_of(element, /*is_edge=*/true);
  if (!attributes.ok()) return attributes.status();
  return sketch_.add_cable(*from, *to, line, *std::move(attributes)).status();
}

absl::Status GraphmlReader::read_nodes(const pugi::xml_node& graph) {
  for (const pugi::xml_node& element : graph.children()) {
    if (is(element, "hyperedge")) return fault(element, "a <hyperedge>; expected every <edge> to have two ends");
    if (!is(element, "node")) continue;
    if (absl::Status status = read_node(element); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Runs after all nodes are read, since edges may precede nodes.
absl::Status GraphmlReader::read_edges(const pugi::xml_node& graph) {
  for (const pugi::xml_node& element : graph.children("edge")) {
    if (absl::Status status = read_edge(element); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<Topology> GraphmlReader::read(Disconnected disconnected) {
  if (text_.size() > kMaxTopologyFileBytes) {
    return sketch_.fault(
        1, absl::StrCat("the file has ", text_.size(), " bytes; expected at most ", kMaxTopologyFileBytes));
  }
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    return sketch_.fault(lines_.line_at(parsed.offset), absl::StrCat("syntax error: ", parsed.description(),
                                                                     "; expected GraphML: <graphml> .. </graphml>"));
  }
  const pugi::xml_node root = document.document_element();
  if (!is(root, "graphml")) {
    return fault(
        root, absl::StrCat("the document is ", in_quotes(root.name()), "; expected GraphML: <graphml> .. </graphml>"));
  }
  if (absl::Status status = read_keys(root); !status.ok()) return status;
  const absl::StatusOr<pugi::xml_node> graph = find_graph(root);
  if (!graph.ok()) return graph.status();
  if (absl::Status status = read_nodes(*graph); !status.ok()) return status;
  if (absl::Status status = read_edges(*graph); !status.ok()) return status;
  return sketch_.finish(graph->attribute("id").value(), disconnected);
}

}  // namespace

absl::StatusOr<Topology> parse_graphml_topology(std::string_view text, std::string_view file_name,
                                                Disconnected disconnected) {
  return GraphmlReader(text, file_name).read(disconnected);
}

}  // namespace cableway::routing
