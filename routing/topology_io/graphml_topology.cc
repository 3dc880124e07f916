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
  absl::Status check_nuls();
  absl::StatusOr<pugi::xml_node> find_root(const pugi::xml_document& document);
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

// The value of the digits that `text` begins with; more than any character's if it is too large.
std::uint32_t leading_number(std::string_view text, std::uint32_t base) {
  constexpr std::uint32_t kTooLarge = 0x110000;
  std::uint32_t value = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (!absl::ascii_isxdigit(byte) || (base == 10 && !absl::ascii_isdigit(byte))) break;
    const int digit = absl::ascii_isdigit(byte) ? c - '0' : absl::ascii_tolower(byte) - 'a' + 10;
    value = std::min(value * base + static_cast<std::uint32_t>(digit), kTooLarge);
  }
  return value;
}

// The offset of a NUL in `text`, as a byte or as a reference ("&#0;"), or of a reference beyond Unicode, which pugixml
// reduces modulo 2^32; npos: there is none. An empty reference ("&#;") is plain text.
std::size_t find_nul(std::string_view text) {
  for (std::size_t at = text.find_first_of(std::string_view("\0&", 2)); at != std::string_view::npos;
       at = text.find_first_of(std::string_view("\0&", 2), at + 1)) {
    if (text[at] == '\0') return at;
    const std::string_view reference = text.substr(at);
    const bool hexadecimal = reference.starts_with("&#x");
    const std::string_view digits = reference.substr(std::min<std::size_t>(reference.size(), hexadecimal ? 3 : 2));
    if (!reference.starts_with("&#") || digits.starts_with(';')) continue;
    const std::uint32_t character = leading_number(digits, hexadecimal ? 16 : 10);
    if (character == 0 || character > 0x10ffff) return at;
  }
  return std::string_view::npos;
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

// pugixml's texts end at a NUL, so that "n0&#0;x" would be "n0".
absl::Status GraphmlReader::check_nuls() {
  const std::size_t nul = find_nul(text_);
  if (nul == std::string_view::npos) return absl::OkStatus();
  return sketch_.fault(lines_.line_at(static_cast<std::ptrdiff_t>(nul)),
                       absl::StrCat(text_[nul] == '\0' ? "a NUL byte" : "a reference to no character",
                                    "; expected text without NUL, and characters of Unicode"));
}

// XML has one root; pugixml accepts several, and text beside them.
absl::StatusOr<pugi::xml_node> GraphmlReader::find_root(const pugi::xml_document& document) {
  constexpr char kExpected[] = "; expected one <graphml> .. </graphml>";
  const pugi::xml_node root = document.document_element();
  if (!root) {
    return sketch_.fault(1, "syntax error: there is no element; expected GraphML: <graphml> .. </graphml>");
  }
  if (!is(root, "graphml")) {
    return fault(
        root, absl::StrCat("the document is ", in_quotes(root.name()), "; expected GraphML: <graphml> .. </graphml>"));
  }
  for (const pugi::xml_node& each : document.children()) {
    if (each == root) continue;
    if (each.type() == pugi::node_element) {
      return fault(each, absl::StrCat("a second root element, ", in_quotes(each.name()), kExpected));
    }
    const bool is_text = each.type() == pugi::node_pcdata || each.type() == pugi::node_cdata;
    if (!is_text) continue;
    const std::string_view text = trimmed(each.value());
    return sketch_.fault(lines_.line_at(each.offset_debug() + (text.data() - each.value())),
                         absl::StrCat("text outside <graphml>: ", in_quotes(text), kExpected));
  }
  return root;
}

absl::StatusOr<Topology> GraphmlReader::read(Disconnected disconnected) {
  if (text_.size() > kMaxTopologyFileBytes) {
    return sketch_.fault(
        1, absl::StrCat("the file has ", text_.size(), " bytes; expected at most ", kMaxTopologyFileBytes));
  }
  if (absl::Status status = check_nuls(); !status.ok()) return status;
  pugi::xml_document document;
  // parse_fragment keeps text beside the root, which is otherwise dropped.
  const pugi::xml_parse_result parsed =
      document.load_buffer(text_.data(), text_.size(), pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (!parsed) {
    return sketch_.fault(lines_.line_at(parsed.offset), absl::StrCat("syntax error: ", parsed.description(),
                                                                     "; expected GraphML: <graphml> .. </graphml>"));
  }
  const absl::StatusOr<pugi::xml_node> found = find_root(document);
  if (!found.ok()) return found.status();
  const pugi::xml_node root = *found;
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
