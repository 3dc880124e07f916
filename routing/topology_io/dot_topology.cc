#include "routing/topology_io/dot_topology.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/text/absl_view.h"
#include "routing/text/node_name.h"
#include "routing/topology_io/dot_lexer.h"
#include "routing/topology_io/graph_sketch.h"
#include "routing/topology_io/topology_file.h"

namespace cableway::routing {
namespace {

using TokenKind = DotToken::Kind;

// Default attributes of nodes and edges that are created from here on.
struct Defaults {
  SketchAttributes node;
  SketchAttributes edge;
};

// A node at the end of an edge, and the line of the text that names it.
struct EdgeEnd {
  std::size_t node;
  std::uint32_t line;
};

class DotReader {
 public:
  DotReader(std::string_view text, std::string_view file_name) : lexer_(text), sketch_(file_name) {}

  absl::StatusOr<Topology> read(Disconnected disconnected);

 private:
  absl::Status fault(std::string_view message) const { return sketch_.fault(token_.line, message); }
  // "found X; expected Y"
  absl::Status unexpected(std::string_view expected) const;
  absl::Status advance();
  absl::Status take_sign(char sign, std::string_view expected);
  absl::Status read_header();
  absl::Status read_statements();
  absl::Status read_statement();
  absl::Status open_subgraph();
  absl::Status close_subgraph();
  absl::Status read_attributes(SketchAttributes& attributes);
  absl::Status read_attribute(SketchAttributes& attributes);
  absl::Status read_id_statement();
  absl::StatusOr<DotToken> take_name(std::string_view expected);
  absl::Status skip_port();
  absl::StatusOr<std::size_t> node_of(const DotToken& id);
  absl::Status read_edges(EdgeEnd first);
  absl::Status add_cable(const EdgeEnd& from, const EdgeEnd& to, const SketchAttributes& given);
  bool begins_subgraph() const { return token_.is_sign('{') || token_.is_keyword("subgraph"); }

  DotLexer lexer_;
  GraphSketch sketch_;
  DotToken token_;  // the next token
  bool directed_ = false;
  bool strict_ = false;
  std::string graph_name_;
  std::vector<Defaults> scopes_;  // of the graph and of the subgraphs that are open
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> strict_cables_;
};

std::string described(const DotToken& token) {
  switch (token.kind) {
    case TokenKind::kFileEnds:
      return "found the end of the file";
    case TokenKind::kHtml:
      return "found an HTML string";
    default:
      return absl::StrCat("found ", in_quotes(token.text));
  }
}

absl::Status DotReader::unexpected(std::string_view expected) const {
  return fault(absl::StrCat("syntax error: ", described(token_), "; expected ", absl_view(expected)));
}

absl::Status DotReader::advance() {
  absl::StatusOr<DotToken> token = lexer_.next();
  if (!token.ok()) {
    return sketch_.fault(lexer_.line(), absl::StrCat("syntax error: ", token.status().message()));
  }
  token_ = *std::move(token);
  return absl::OkStatus();
}

absl::Status DotReader::take_sign(char sign, std::string_view expected) {
  if (!token_.is_sign(sign)) return unexpected(expected);
  return advance();
}

absl::Status DotReader::read_header() {
  if (absl::Status status = advance(); !status.ok()) return status;
  if (token_.is_keyword("strict")) {
    strict_ = true;
    if (absl::Status status = advance(); !status.ok()) return status;
  }
  directed_ = token_.is_keyword("digraph");
  if (!directed_ && !token_.is_keyword("graph")) return unexpected("a Graphviz graph: graph NAME { .. }");
  if (absl::Status status = advance(); !status.ok()) return status;
  if (token_.is_id()) {
    graph_name_ = token_.text;
    if (absl::Status status = advance(); !status.ok()) return status;
  }
  return take_sign('{', "{ after the graph's name");
}

absl::Status DotReader::read_statements() {
  scopes_.emplace_back();
  while (!scopes_.empty()) {
    if (absl::Status status = read_statement(); !status.ok()) return status;
  }
  if (token_.kind != TokenKind::kFileEnds) return unexpected("one graph, and nothing after it");
  return absl::OkStatus();
}

absl::Status DotReader::read_statement() {
  if (token_.is_sign(';')) return advance();
  if (token_.is_sign('}')) return close_subgraph();
  if (begins_subgraph()) return open_subgraph();
  SketchAttributes ignored;
  SketchAttributes* defaults = nullptr;
  if (token_.is_keyword("graph")) defaults = &ignored;
  if (token_.is_keyword("node")) defaults = &scopes_.back().node;
  if (token_.is_keyword("edge")) defaults = &scopes_.back().edge;
  if (defaults == nullptr) return read_id_statement();
  if (absl::Status status = advance(); !status.ok()) return status;
  if (!token_.is_sign('[')) return unexpected("[ and attributes after graph, node or edge");
  return read_attributes(*defaults);
}

absl::Status DotReader::open_subgraph() {
  if (scopes_.size() > kMaxDotNesting) {
    return fault(absl::StrCat("subgraphs are nested too deeply; expected at most ", kMaxDotNesting, " levels"));
  }
  if (token_.is_keyword("subgraph")) {
    if (absl::Status status = advance(); !status.ok()) return status;
    if (token_.is_id()) {
      if (absl::Status status = advance(); !status.ok()) return status;
    }
  }
  if (absl::Status status = take_sign('{', "{ after subgraph"); !status.ok()) return status;
  scopes_.push_back(Defaults(scopes_.back()));
  return absl::OkStatus();
}

absl::Status DotReader::close_subgraph() {
  scopes_.pop_back();
  if (absl::Status status = advance(); !status.ok()) return status;
  if (token_.kind == TokenKind::kEdge && !scopes_.empty()) {
    return fault("an edge begins at a subgraph; expected a node at both ends of an edge");
  }
  return absl::OkStatus();
}

// Any number of [..] lists.
absl::Status DotReader::read_attributes(SketchAttributes& attributes) {
  while (token_.is_sign('[')) {
    if (absl::Status status = advance(); !status.ok()) return status;
    while (!token_.is_sign(']')) {
      if (absl::Status status = read_attribute(attributes); !status.ok()) return status;
    }
    if (absl::Status status = advance(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status DotReader::read_attribute(SketchAttributes& attributes) {
  if (!token_.is_id()) return unexpected("NAME=VALUE, or ] after the attributes");
  const std::string key = token_.text;
  if (absl::Status status = advance(); !status.ok()) return status;
  if (absl::Status status = take_sign('=', "= after an attribute's name"); !status.ok()) return status;
  if (token_.is_id()) {
    if (absl::Status status = sketch_.set(attributes, key, token_.text, token_.line); !status.ok()) return status;
  } else if (token_.kind != TokenKind::kHtml) {
    return unexpected("an attribute's value");
  }
  if (absl::Status status = advance(); !status.ok()) return status;
  return token_.is_sign(',') || token_.is_sign(';') ? advance() : absl::OkStatus();
}

// NAME = VALUE; NODE [..]; or NODE -- NODE -- .. [..]
absl::Status DotReader::read_id_statement() {
  const absl::StatusOr<DotToken> id = take_name("a node, an edge or }");
  if (!id.ok()) return id.status();
  if (token_.is_sign('=')) {
    if (absl::Status status = advance(); !status.ok()) return status;
    if (!token_.is_id() && token_.kind != TokenKind::kHtml) return unexpected("an attribute's value");
    return advance();
  }
  if (absl::Status status = skip_port(); !status.ok()) return status;
  const absl::StatusOr<std::size_t> node = node_of(*id);
  if (!node.ok()) return node.status();
  if (token_.kind == TokenKind::kEdge) return read_edges({*node, id->line});
  return read_attributes(sketch_.node(*node).attributes);
}

// An ID that may name a node.
absl::StatusOr<DotToken> DotReader::take_name(std::string_view expected) {
  for (const char* keyword : {"strict", "graph", "digraph", "subgraph", "node", "edge"}) {
    if (token_.is_keyword(keyword)) return unexpected(absl::StrCat(absl_view(expected), " (a keyword only in quotes)"));
  }
  if (!token_.is_id()) return unexpected(expected);
  DotToken name = token_;
  if (absl::Status status = advance(); !status.ok()) return status;
  return name;
}

// ":port", ":port:compass point"
absl::Status DotReader::skip_port() {
  while (token_.is_sign(':')) {
    if (absl::Status status = advance(); !status.ok()) return status;
    if (!token_.is_id()) return unexpected("a port after :");
    if (absl::Status status = advance(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> DotReader::node_of(const DotToken& id) {
  if (const std::optional<std::size_t> place = sketch_.find_node(id.text)) return *place;
  return sketch_.add_node(id.text, id.line, scopes_.back().node);
}

absl::Status DotReader::read_edges(EdgeEnd first) {
  std::vector<EdgeEnd> ends = {first};
  while (token_.kind == TokenKind::kEdge) {
    if ((token_.text == "->") != directed_) return unexpected(directed_ ? "-> in a digraph" : "-- in a graph");
    if (absl::Status status = advance(); !status.ok()) return status;
    if (begins_subgraph()) return fault("an edge ends at a subgraph; expected a node at both ends of an edge");
    const absl::StatusOr<DotToken> id = take_name("a node at the end of the edge");
    if (!id.ok()) return id.status();
    if (absl::Status status = skip_port(); !status.ok()) return status;
    const absl::StatusOr<std::size_t> node = node_of(*id);
    if (!node.ok()) return node.status();
    if (ends.size() > kMaxCables) return fault(absl::StrCat("too many cables; expected at most ", kMaxCables));
    ends.push_back({*node, id->line});
  }
  SketchAttributes attributes;
  if (absl::Status status = read_attributes(attributes); !status.ok()) return status;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (absl::Status status = add_cable(ends[i - 1], ends[i], attributes); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// "to_address" for "from_address" and vice versa, for an edge in the opposite direction.
std::string turned(const std::string& key) {
  if (key.starts_with("from_")) return absl::StrCat("to_", key.substr(5));
  if (key.starts_with("to_")) return absl::StrCat("from_", key.substr(3));
  return key;
}

absl::Status DotReader::add_cable(const EdgeEnd& from, const EdgeEnd& to, const SketchAttributes& given) {
  const std::pair<std::size_t, std::size_t> pair = std::minmax(from.node, to.node);
  if (const auto known = strict_cables_.find(pair); strict_ && known != strict_cables_.end()) {
    SketchCable& cable = sketch_.cable(known->second);
    for (const auto& [key, text] : given) {
      cable.attributes.insert_or_assign(cable.from == from.node ? key : turned(key), text);
    }
    return absl::OkStatus();
  }
  SketchAttributes attributes = given;
  SketchAttributes defaults = scopes_.back().edge;
  attributes.merge(defaults);
  const absl::StatusOr<std::size_t> cable = sketch_.add_cable(from.node, to.node, to.line, std::move(attributes));
  if (!cable.ok()) return cable.status();
  if (strict_) strict_cables_.emplace(pair, *cable);
  return absl::OkStatus();
}

absl::StatusOr<Topology> DotReader::read(Disconnected disconnected) {
  if (absl::Status status = read_header(); !status.ok()) return status;
  if (absl::Status status = read_statements(); !status.ok()) return status;
  return sketch_.finish(graph_name_, disconnected);
}

}  // namespace

absl::StatusOr<Topology> parse_dot_topology(std::string_view text, std::string_view file_name,
                                            Disconnected disconnected) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.size() > kMaxTopologyFileBytes) {
    return GraphSketch(file_name).fault(
        1, absl::StrCat("the file has ", text.size(), " bytes; expected at most ", kMaxTopologyFileBytes));
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return DotReader(text, file_name).read(disconnected);
}

}  // namespace cableway::routing
