// Drawings of topologies: node placement, Graphviz text, and SVG pictures that are valid XML without overlaps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routing/layout/text_width.h"
#include "routing/layout/topology_layout.h"
#include "routing/shapes/topology_generator.h"
#include "tests/routing/sample_topologies.h"
#include "tools/cableway/picture/topology_dot.h"
#include "tools/cableway/picture/topology_svg.h"

namespace cableway::cli {
namespace {

using routing::Cable;
using routing::Node;
using routing::NodeIndex;
using routing::Topology;
using ::testing::HasSubstr;

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // directly in it

  double number(const std::string& attribute) const { return std::strtod(attributes.at(attribute).c_str(), nullptr); }
};

// The elements of an XML text in their order; records a failure if it is not well-formed. Supports elements, attributes
// in double quotes, text and the five entities.
class TinyXml {
 public:
  explicit TinyXml(std::string text) : text_(std::move(text)) {
    skip_space();
    read_element();
    skip_space();
    expect(at_ == text_.size(), "text after the root element");
  }

  const std::vector<Element>& elements() const { return elements_; }
  std::vector<Element> named(const std::string& name) const {
    std::vector<Element> found;
    for (const Element& each : elements_) {
      if (each.name == name) found.push_back(each);
    }
    return found;
  }

 private:
  void expect(bool holds, const char* what) {
    if (!holds && !failed_) ADD_FAILURE() << what << " at " << at_ << ": " << text_.substr(at_, 60);
    failed_ = failed_ || !holds;
  }
  bool sees(const std::string& token) const { return text_.compare(at_, token.size(), token) == 0; }
  void take(const std::string& token) {
    expect(sees(token), token.c_str());
    at_ += token.size();
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \n", at_), text_.size()); }

  std::string read_name() {
    const std::size_t end =
        text_.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789", at_);
    std::string name = text_.substr(at_, end - at_);
    at_ += name.size();
    expect(!name.empty(), "a name is missing");
    return name;
  }

  std::string read_text(char end) {
    const std::size_t stop = text_.find(end, at_);
    expect(stop != std::string::npos, "the text ends too early");
    if (failed_) return "";
    const std::string raw = text_.substr(at_, stop - at_);
    at_ = stop;
    expect(raw.find_first_of(end == '"' ? "<" : ">\"") == std::string::npos, "an unescaped character");
    for (std::size_t i = raw.find('&'); i != std::string::npos; i = raw.find('&', i + 1)) {
      const std::string entity = raw.substr(i, raw.find(';', i) + 1 - i);
      expect(std::set<std::string>{"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"}.contains(entity), "an unknown entity");
    }
    return raw;
  }

  void read_element() {
    if (failed_) return;
    take("<");
    const std::size_t place = elements_.size();
    const std::string name = read_name();
    elements_.push_back({name, {}, ""});
    for (skip_space(); !failed_ && !sees(">") && !sees("/>"); skip_space()) {
      const std::string attribute = read_name();
      take("=\"");
      expect(elements_[place].attributes.emplace(attribute, read_text('"')).second, "an attribute occurs twice");
      take("\"");
    }
    if (sees("/>")) return take("/>");
    take(">");
    while (!failed_ && !sees("</")) {
      if (sees("<")) {
        read_element();
      } else {
        elements_[place].text += read_text('<');
      }
    }
    take("</" + name + ">");
  }

  const std::string text_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::vector<Element> elements_;
};

struct Shape {
  const char* name;
  Topology topology;
};

std::vector<Shape> shapes() {
  return {{"single", routing::sample_topology(1, {})},
          {"pair with three cables", routing::sample_topology(2, {{0, 1}, {0, 1}, {0, 1}})},
          {"line", routing::sample_topology(5, routing::line_pairs(5))},
          {"long line", routing::sample_topology(20, routing::line_pairs(20))},
          {"triangle", routing::sample_topology(3, routing::ring_pairs(3))},
          {"ring", routing::sample_topology(8, routing::ring_pairs(8))},
          {"star", routing::sample_topology(6, routing::star_pairs(5))},
          {"tree", routing::sample_topology(8, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {1, 5}, {2, 6}, {2, 7}})},
          {"torus", routing::sample_topology(12, routing::torus_pairs(3, 4))},
          {"mesh", routing::sample_topology(5, routing::mesh_pairs(5))},
          {"two parts", routing::sample_topology(4, {{0, 1}, {2, 3}})}};
}

bool overlap(const Element& a, const Element& b) {
  return a.number("x") < b.number("x") + b.number("width") && b.number("x") < a.number("x") + a.number("width") &&
         a.number("y") < b.number("y") + b.number("height") && b.number("y") < a.number("y") + a.number("height");
}

std::vector<Element> boxes(const TinyXml& xml) {
  std::vector<Element> found;
  for (const Element& each : xml.named("rect")) {
    if (each.attributes.contains("class")) found.push_back(each);
  }
  return found;
}

// By which the drawing is moved.
routing::Place shift_of(const TinyXml& xml) {
  const std::string text = xml.named("g").front().attributes.at("transform");
  routing::Place shift;
  EXPECT_EQ(std::sscanf(text.c_str(), "translate(%lf %lf)", &shift.x, &shift.y), 2) << text;
  return shift;
}

TEST(TopologySvg, IsXmlWithEveryNodeAndCableAndNoNodeOverAnother) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const TinyXml xml(topology_svg(shape.topology, std::nullopt));
    ASSERT_FALSE(xml.elements().empty());
    EXPECT_EQ(xml.elements()[0].attributes.at("xmlns"), "http://www.w3.org/2000/svg");
    const std::vector<Element> nodes = boxes(xml);
    ASSERT_EQ(nodes.size(), shape.topology.node_count());
    EXPECT_EQ(xml.named("path").size(), shape.topology.cable_count());
    const double width = xml.elements()[0].number("width");
    const double height = xml.elements()[0].number("height");
    const routing::Place shift = shift_of(xml);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_GE(nodes[i].number("x") + shift.x, 0);
      EXPECT_GE(nodes[i].number("y") + shift.y, 0);
      EXPECT_LE(nodes[i].number("x") + nodes[i].number("width") + shift.x, width);
      EXPECT_LE(nodes[i].number("y") + nodes[i].number("height") + shift.y, height);
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(nodes[i], nodes[j])) << i << " " << j;
    }
    std::set<std::string> curves;
    for (const Element& path : xml.named("path")) curves.insert(path.attributes.at("d"));
    EXPECT_EQ(curves.size(), shape.topology.cable_count()) << "parallel cables are drawn apart";
  }
}

TEST(TopologySvg, CableTooltipsHaveAllProperties) {
  std::vector<Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2)};
  cables[0].a.interface = "e<&>1";
  cables[0].rate_mbps = 100'000;
  cables[0].latency_us = 1.5;
  cables[1].routed = true;
  const TinyXml xml(topology_svg(routing::make_topology(routing::sample_nodes(3), cables), std::nullopt));
  const std::vector<Element> titles = xml.named("title");
  ASSERT_EQ(titles.size(), 2U);
  EXPECT_EQ(titles[0].text, "c0: n0 e&lt;&amp;&gt;1 10.0.0.1 - n1 10.0.0.2, 100 Gbit/s, 1.5 us");
  EXPECT_EQ(titles[1].text, "c1: n1 10.0.1.1 - n2 10.0.1.2, 10 Gbit/s, latency -, routed") << "of unknown latency";
  const std::vector<Element> paths = xml.named("path");
  EXPECT_EQ(paths[0].attributes.at("class"), "cable");
  EXPECT_EQ(paths[1].attributes.at("class"), "cable slow routed");
  EXPECT_GT(paths[0].number("stroke-width"), paths[1].number("stroke-width"));
}

TEST(TopologySvg, ShowsTheQueriedDrainingAndUnreachedNodes) {
  std::vector<Node> nodes = routing::sample_nodes(4);
  nodes[1].draining = true;
  const Topology topology =
      routing::make_topology(nodes, {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2)});
  const std::vector<Element> looks = boxes(TinyXml(topology_svg(topology, NodeIndex{0})));
  EXPECT_EQ(looks[0].attributes.at("class"), "node self");
  EXPECT_EQ(looks[1].attributes.at("class"), "node draining");
  EXPECT_EQ(looks[2].attributes.at("class"), "node");
  EXPECT_EQ(looks[3].attributes.at("class"), "node unreached");
  // Without a queried node, the larger part counts as reached.
  EXPECT_EQ(boxes(TinyXml(topology_svg(topology, std::nullopt)))[3].attributes.at("class"), "node unreached");
  EXPECT_EQ(boxes(TinyXml(topology_svg(topology, NodeIndex{3})))[0].attributes.at("class"), "node unreached");
}

TEST(TopologySvg, ManyCablesHaveNoLabels) {
  const TinyXml few(topology_svg(routing::sample_topology(20, routing::mesh_pairs(20)), std::nullopt));
  const TinyXml many(topology_svg(routing::sample_topology(21, routing::mesh_pairs(21)), std::nullopt));
  const auto rates = [](const TinyXml& xml) {
    const std::vector<Element> texts = xml.named("text");
    return std::count_if(texts.begin(), texts.end(),
                         [](const Element& each) { return each.text.find("Gbit/s") != std::string::npos; });
  };
  EXPECT_EQ(rates(few), 190);
  EXPECT_EQ(rates(many), 0);
}

struct DrawnLabel {
  std::string text;
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  bool overlaps(const DrawnLabel& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

// The texts within the drawing, by the metrics of their font.
std::vector<DrawnLabel> drawn_labels(const TinyXml& xml) {
  std::vector<DrawnLabel> labels;
  for (const Element& each : xml.named("text")) {
    const auto found = each.attributes.find("class");
    const std::string look = found == each.attributes.end() ? "" : found->second;
    if (look == "title" || look == "legend") continue;
    const double size = look.empty() ? 13 : look == "note" ? 10 : 11;
    const double width = routing::text_width(each.text, size);
    const double x = each.number("x");
    const double y = each.number("y");
    labels.push_back({each.text, x - width / 2, x + width / 2, y - size * 0.8, y + size * 0.2});
  }
  return labels;
}

TEST(TopologySvg, NoLabelIsOverAnotherOrCutOff) {
  std::vector<Shape> all = shapes();
  for (const char* spec : {"ring:4", "twins:4", "sparks:4", "sparks:2", "torus:4x4", "switch:6", "mesh:8", "line:4"}) {
    all.push_back({spec, *routing::generate_topology(spec)});
  }
  std::vector<Node> nodes = routing::sample_nodes(4);
  for (Node& node : nodes) node.name = std::string(55, 'W') + node.name;
  std::vector<Cable> cables;
  for (const auto& [a, b] : routing::ring_pairs(4)) {
    cables.push_back(routing::sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
    cables.back().name = std::string(60, 'M') + cables.back().name;
  }
  nodes[1].draining = true;
  all.push_back({"long names", routing::make_topology(nodes, cables)});
  for (const Shape& shape : all) {
    SCOPED_TRACE(shape.name);
    const TinyXml xml(topology_svg(shape.topology, std::nullopt));
    const std::vector<DrawnLabel> labels = drawn_labels(xml);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_FALSE(labels[i].overlaps(labels[j])) << labels[i].text << " and " << labels[j].text;
      }
    }
    const auto [x, y] = shift_of(xml);
    for (const DrawnLabel& label : labels) {
      EXPECT_GE(label.left + x, 0) << label.text;
      EXPECT_LE(label.right + x, xml.elements()[0].number("width")) << label.text;
      EXPECT_GE(label.top + y, 40) << label.text;
      EXPECT_LE(label.bottom + y, xml.elements()[0].number("height")) << label.text;
    }
  }
}

TEST(TopologySvg, ASwitchIsANodeWithACableToEachPort) {
  const std::string svg = topology_svg(*routing::generate_topology("switch:5"), std::nullopt);
  const TinyXml xml(svg);
  EXPECT_EQ(boxes(xml).size(), 6U);
  EXPECT_EQ(xml.named("path").size(), 5U);
  EXPECT_THAT(svg, HasSubstr("5 nodes, 1 switch, 5 cables"));
  EXPECT_THAT(svg, HasSubstr("class=\"node switch\""));
  EXPECT_THAT(svg, HasSubstr("on a switch, 10 Gbit/s, joins 4 other ports</title>"));
}

TEST(TopologySvg, CablesOfOneWireAreOnOneBandWithOneLabel) {
  const std::string svg = topology_svg(*routing::generate_topology("sparks:3"), std::nullopt);
  const TinyXml xml(svg);
  std::size_t bands = 0;
  std::size_t cables = 0;
  for (const Element& path : xml.named("path")) (path.attributes.at("class") == "wire" ? bands : cables) += 1;
  EXPECT_EQ(bands, 3U);
  EXPECT_EQ(cables, 6U);
  EXPECT_THAT(svg, HasSubstr(">c0+c1 "));
  EXPECT_THAT(svg, HasSubstr("one wire: 2 cables, together "));
}

TEST(TopologySvg, CablesThatAreNotInUseAreGrey) {
  std::vector<Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2),
                               routing::sample_cable(2, 2, 0)};
  cables[2].draining = true;
  const std::string svg = topology_svg(routing::make_topology(routing::sample_nodes(3), cables), std::nullopt);
  EXPECT_THAT(svg, HasSubstr("cable unused"));
  EXPECT_THAT(svg, HasSubstr(">draining</text>"));
  EXPECT_THAT(svg, HasSubstr(" 3 nodes, 3 cables"));
}

TEST(TopologyLayout, CablesOfOneWireAreCloserThanWires) {
  const Topology topology = *routing::generate_topology("sparks:2");
  const routing::TopologyLayout layout = lay_out(topology, routing::recognise_shape(topology), 100);
  ASSERT_EQ(layout.bends.size(), 4U);
  EXPECT_EQ(std::abs(layout.bends[0] - layout.bends[1]), routing::kTwinGap);
  EXPECT_GT(std::abs(layout.bends[1] - layout.bends[2]), routing::kTwinGap);
}

TEST(TopologyLayout, ATorusIsAGridAndItsClosingCablesBypassTheNodesBetween) {
  const Topology torus = routing::sample_topology(9, routing::torus_pairs(3, 3));
  const routing::TopologyLayout layout = lay_out(torus, routing::recognise_shape(torus), 100);
  std::set<double> columns;
  std::set<double> rows;
  for (const routing::Place& place : layout.places) {
    columns.insert(place.x);
    rows.insert(place.y);
  }
  EXPECT_EQ(columns.size(), 3U);
  EXPECT_EQ(rows.size(), 3U);
  int closing = 0;
  for (std::size_t i = 0; i < torus.cable_count(); ++i) {
    const routing::Place& a = layout.places[torus.cables()[i].a.node.value];
    const routing::Place& b = layout.places[torus.cables()[i].b.node.value];
    const bool is_long = std::hypot(a.x - b.x, a.y - b.y) > 150;
    EXPECT_EQ(std::abs(layout.bends[i]) > 20, is_long) << i;
    closing += is_long ? 1 : 0;
  }
  EXPECT_EQ(closing, 6);
}

TEST(TopologyLayout, AStarHasItsHubInTheMiddle) {
  const Topology star = routing::sample_topology(6, routing::star_pairs(5));
  const routing::TopologyLayout layout = lay_out(star, routing::recognise_shape(star), 100);
  for (std::size_t leaf = 2; leaf < 6; ++leaf) {
    EXPECT_NEAR(std::hypot(layout.places[leaf].x - layout.places[0].x, layout.places[leaf].y - layout.places[0].y),
                std::hypot(layout.places[1].x - layout.places[0].x, layout.places[1].y - layout.places[0].y), 1e-9);
  }
}

TEST(TopologyDot, IsAGraph) {
  std::vector<Node> nodes = routing::sample_nodes(4);
  nodes[1].draining = true;
  std::vector<Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2)};
  nodes[0].plugs = {{"p0", 200'000}};
  nodes[2].roots = {{"r0", 98'300}, {"r1", 49'100}};
  cables[0].rate_mbps = 2500;
  cables[0].latency_us = 1.5;
  cables[0].a.plug = "p0";
  cables[1].b.root = "r1";
  cables[1].name = "n1-n2";
  cables[1].routed = true;
  EXPECT_EQ(topology_dot(routing::make_topology(nodes, cables), NodeIndex{0}),
            R"(graph "test" {
  layout=neato;
  overlap=false;
  splines=true;
  node [shape=box, style=rounded];
  "n0" [penwidth=3, plugs="p0=200000"];
  "n1" [label="n1\ndraining", fillcolor=lightgrey, style="rounded,filled", draining=true];
  "n2" [roots="r0=98300 r1=49100"];
  "n3" [label="n3\nunreached", color=red, fontcolor=red, style="rounded,dashed"];
  "n0" -- "n1" [label="c0\n2.5 Gbit/s", tooltip="c0: n0 10.0.0.1 - n1 10.0.0.2, 2.5 Gbit/s, 1.5 us", name="c0", rate_mbps=2500, latency_us="1.5", from_address="10.0.0.1", from_plug="p0", to_address="10.0.0.2"];
  "n1" -- "n2" [label="10 Gbit/s", tooltip="n1-n2: n1 10.0.1.1 - n2 10.0.1.2, 10 Gbit/s, latency -, routed", style=dashed, name="n1-n2", rate_mbps=10000, routed=true, from_address="10.0.1.1", to_address="10.0.1.2", to_root="r1"];
}
)");
}

TEST(TopologyDot, ASwitchIsABoxWithACableToEachPort) {
  std::vector<Node> nodes = routing::sample_nodes(4);
  std::vector<Cable> cables;
  for (const auto& [a, b] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
    Cable& cable = cables.emplace_back(routing::sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
    cable.a.plug = cable.b.plug = "p0";
  }
  cables.push_back(routing::sample_cable(3, 2, 3));
  cables.back().draining = true;
  const std::string dot = topology_dot(routing::make_topology(nodes, cables), NodeIndex{0});
  EXPECT_THAT(dot, HasSubstr("  \"switch\" [style=filled, fillcolor=gainsboro, switch=true];\n"));
  for (const char* const node : {"n0", "n1", "n2"}) {
    EXPECT_THAT(dot, HasSubstr(std::string("  \"") + node + "\" -- \"switch\" [label=\"10 Gbit/s\", tooltip=\""));
    EXPECT_THAT(dot, HasSubstr(", rate_mbps=10000, switch_port=true];\n"));
  }
  EXPECT_THAT(dot, HasSubstr("\"n2\" -- \"n3\" [label=\"c3\\n10 Gbit/s\""));
  EXPECT_THAT(dot, HasSubstr("draining=true")) << "its facts are those of the cable";
  for (const char* const between : {"\"n0\" -- \"n1\"", "\"n0\" -- \"n2\"", "\"n1\" -- \"n2\"", "\"n3\" -- \"sw"}) {
    EXPECT_EQ(dot.find(between), std::string::npos) << dot;
  }
}

TEST(TopologyDot, SelectsTheGraphvizLayoutByShape) {
  EXPECT_THAT(topology_dot(routing::sample_topology(5, routing::ring_pairs(5)), std::nullopt),
              HasSubstr("layout=circo"));
  EXPECT_THAT(topology_dot(routing::sample_topology(5, routing::line_pairs(5)), std::nullopt), HasSubstr("layout=dot"));
}

}  // namespace
}  // namespace cableway::cli
