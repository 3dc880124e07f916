#include "tools/cableway/picture/marked_topology.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/text/node_name.h"
#include "tools/cableway/expectation/difference_view.h"

namespace cableway::cli {
namespace {

using routing::Topology;

// What is written beside a found cable.
const char* label_of_found(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kCablesSwapped:
      return "swapped";
    case DifferenceKind::kCableElsewhere:
      return "wrong plug";
    case DifferenceKind::kFunctionsDiffer:
      return "other functions";
    case DifferenceKind::kNodeNamed:
      return "";  // the node is marked
    case DifferenceKind::kNodeMissing:
    case DifferenceKind::kNodeExtra:
    case DifferenceKind::kCableMissing:
    case DifferenceKind::kCableExtra:
      break;
  }
  return "not expected";
}

// Pictures are narrow: the end of the file's name without its folder.
std::string short_name(const std::string& file) {
  constexpr std::size_t kMost = 40;
  const std::size_t slash = file.rfind('/');
  const std::string name = routing::escaped(slash == std::string::npos ? file : file.substr(slash + 1));
  return name.size() <= kMost ? name : absl::StrCat("..", name.substr(name.size() - kMost));
}

class MarkedDrawing {
 public:
  MarkedDrawing(const Topology& found, std::optional<routing::NodeIndex> self, const ExpectedTopology& expected,
                const Comparison& comparison)
      : found_(found), expected_(expected.topology), comparison_(comparison) {
    marks_.remark = absl::StrCat(difference_count(comparison), " from ", short_name(expected.file));
    marks_.looks = looks_by_name(found, self);
    nodes_.assign(found.nodes().begin(), found.nodes().end());
    cables_.assign(found.plugged_cables().begin(), found.plugged_cables().end());
  }

  MarkedTopology mark() && {
    for (const Difference& difference : comparison_.differences) {
      mark_nodes(difference);
      mark_found(difference);
      for (const std::string& name : difference.expected_cables) add_missing(difference, *expected_.find_plugged(name));
    }
    const bool fits = nodes_.size() <= routing::kMaxNodes && cables_.size() <= routing::kMaxCables;
    absl::StatusOr<Topology> drawn =
        fits ? Topology::create(found_.cluster(), std::move(nodes_), std::move(cables_)) : found_;
    return {drawn.ok() ? *std::move(drawn) : found_, std::move(marks_)};
  }

 private:
  void mark_nodes(const Difference& difference) {
    for (const std::string& name : difference.nodes) {
      const bool is_found = found_.find_node(name).has_value();
      if (difference.kind == DifferenceKind::kNodeMissing && !is_found) place_of(name);
      const bool is_extra =
          difference.kind == DifferenceKind::kNodeExtra || difference.kind == DifferenceKind::kNodeNamed;
      if (is_extra && is_found) marks_.looks[name].extra = true;
    }
  }

  void mark_found(const Difference& difference) {
    const std::string label = label_of_found(difference.kind);
    for (const std::string& name : difference.found_cables) {
      if (!label.empty()) marks_.cables[name] = {CableMark::Kind::kWrong, label};
    }
  }

  bool is_joined_by_found(const Difference& difference, const std::string& a, const std::string& b) const {
    return std::any_of(difference.found_cables.begin(), difference.found_cables.end(), [&](const std::string& name) {
      const routing::Cable& cable = *found_.find_plugged(name);
      const std::string& one = found_.node(cable.a.node).name;
      const std::string& other = found_.node(cable.b.node).name;
      return (one == a && other == b) || (one == b && other == a);
    });
  }

  void add_missing(const Difference& difference, const routing::Cable& cable) {
    const std::string& a = expected_.node(cable.a.node).name;
    const std::string& b = expected_.node(cable.b.node).name;
    if (is_joined_by_found(difference, a, b) || !drawn_.insert(cable.name).second) return;
    routing::Cable missing{
        .name = unused_name(), .a = missing_end(a, 1), .b = missing_end(b, 2), .rate_mbps = cable.rate_mbps};
    marks_.cables[missing.name] = {CableMark::Kind::kMissing, "missing"};
    cables_.push_back(std::move(missing));
  }

  // Found cables may have the address that is expected here, so these get others, which no host has.
  routing::Port missing_end(const std::string& node, int end) {
    return {.node = place_of(node),
            .interface = {},
            .address = absl::StrFormat("100::%x:%x:%d", drawn_.size() >> 16, drawn_.size() & 0xffff, end)};
  }

  std::string unused_name() {
    std::string name;
    do {
      name = absl::StrCat("missing-", ++number_);
    } while (found_.find_plugged(name) != nullptr);
    return name;
  }

  // The node's index in nodes_; one that is missing is added.
  routing::NodeIndex place_of(const std::string& name) {
    if (const auto found = found_.find_node(name)) return *found;
    const auto [it, is_new] = places_.try_emplace(name, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) {
      marks_.looks[name].missing = true;
      nodes_.push_back({.name = name});
    }
    return {it->second};
  }

  const Topology& found_;
  const Topology& expected_;
  const Comparison& comparison_;
  PictureMarks marks_;
  std::vector<routing::Node> nodes_;
  std::vector<routing::Cable> cables_;
  std::map<std::string, std::uint32_t> places_;  // of missing nodes
  std::set<std::string> drawn_;                  // names of expected cables
  std::size_t number_ = 0;
};

}  // namespace

MarkedTopology mark_topology(const Topology& found, std::optional<routing::NodeIndex> self,
                             const ExpectedTopology& expected, const Comparison& comparison) {
  return MarkedDrawing(found, self, expected, comparison).mark();
}

}  // namespace cableway::cli
