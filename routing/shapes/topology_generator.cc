#include "routing/shapes/topology_generator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "routing/shapes/port_plan.h"
#include "routing/shapes/shapes.h"
#include "routing/text/absl_view.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_name.h"
#include "routing/topology/cable_quantity.h"
#include "routing/topology/pcie_rate.h"

namespace cableway::routing {
namespace {

constexpr std::uint64_t kMaxMeshNodes = 362;
static_assert(kMaxMeshNodes * (kMaxMeshNodes - 1) / 2 <= kMaxCables);
static_assert((kMaxMeshNodes + 1) * kMaxMeshNodes / 2 > kMaxCables);
constexpr std::uint64_t kMaxDimensions = 12;
static_assert((std::size_t{1} << kMaxDimensions) == kMaxNodes);

enum class Wiring {
  kSingle,  // every pair is a cable with its own ports
  kTwin,    // every pair is a wire between the plugs p0 of one and p1 of the other, each of two ports
  kSpark,   // likewise, and every node has two roots, each with one port of either plug
  kSwitch,  // every node has one port
};

// The nodes and pairs of a parsed shape.
struct Layout {
  std::uint32_t nodes;
  NodePairs pairs;
  Wiring wiring = Wiring::kSingle;
};

using Numbers = std::span<const std::uint64_t>;
using MaybeLayout = absl::StatusOr<Layout>;

absl::Status check_range(std::uint64_t number, const char* what, std::uint64_t least, std::uint64_t most) {
  if (number >= least && number <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(number, " ", what, "; expected ", least, " to ", most));
}

// A shape whose only parameter is the number of nodes.
template <NodePairs (*kShape)(std::uint32_t), std::uint64_t kMin, std::uint64_t kMax, Wiring kWiring>
MaybeLayout of_nodes(Numbers numbers) {
  if (absl::Status status = check_range(numbers[0], "nodes", kMin, kMax); !status.ok()) return status;
  const auto nodes = static_cast<std::uint32_t>(numbers[0]);
  return Layout{nodes, kShape(nodes), kWiring};
}

MaybeLayout two_rings(Numbers numbers) {
  if (absl::Status status = check_range(numbers[0], "nodes per ring", 3, kMaxNodes / 2); !status.ok()) return status;
  const auto nodes = static_cast<std::uint32_t>(numbers[0]);
  return Layout{2 * nodes, two_rings_shape(nodes)};
}

MaybeLayout torus(Numbers numbers) {
  std::vector<std::uint32_t> sizes;
  std::uint64_t nodes = 1;
  for (const std::uint64_t size : numbers) {
    if (absl::Status status = check_range(size, "nodes in a dimension", 2, kMaxNodes); !status.ok()) return status;
    sizes.push_back(static_cast<std::uint32_t>(size));
    nodes *= size;
  }
  if (absl::Status status = check_range(nodes, "nodes", 4, kMaxNodes); !status.ok()) return status;
  return Layout{static_cast<std::uint32_t>(nodes), torus_shape(sizes)};
}

MaybeLayout hypercube(Numbers numbers) {
  if (absl::Status status = check_range(numbers[0], "dimensions", 1, kMaxDimensions); !status.ok()) return status;
  const auto dimensions = static_cast<std::uint32_t>(numbers[0]);
  return Layout{1U << dimensions, hypercube_shape(dimensions)};
}

MaybeLayout random_regular(Numbers numbers) {
  const std::uint64_t nodes = numbers[0];
  const std::uint64_t degree = numbers[1];
  const std::uint64_t seed = numbers.size() > 2 ? numbers[2] : 0;
  if (absl::Status status = check_range(nodes, "nodes", 3, kMaxNodes); !status.ok()) return status;
  if (absl::Status status = check_range(degree, "cables per node", 2, nodes - 1); !status.ok()) return status;
  if (nodes * degree % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(nodes, " nodes with ", degree, " cables each have ", nodes * degree,
                                                   " cable ends; expected an even number"));
  }
  if (absl::Status status = check_range(nodes * degree / 2, "cables", 3, kMaxCables); !status.ok()) return status;
  const auto count = static_cast<std::uint32_t>(nodes);
  return Layout{count, random_regular_shape(count, static_cast<std::uint32_t>(degree), seed)};
}

MaybeLayout dragonfly(Numbers numbers) {
  const std::uint64_t groups = numbers[0];
  const std::uint64_t routers = numbers[1];
  if (absl::Status status = check_range(groups, "groups", 2, kMaxNodes / 2); !status.ok()) return status;
  if (absl::Status status = check_range(routers, "nodes per group", 2, kMaxNodes / 2); !status.ok()) return status;
  if (absl::Status status = check_range(groups * routers, "nodes", 4, kMaxNodes); !status.ok()) return status;
  const std::uint64_t cables = groups * (routers * (routers - 1) / 2) + groups * (groups - 1) / 2;
  if (absl::Status status = check_range(cables, "cables", 3, kMaxCables); !status.ok()) return status;
  return Layout{static_cast<std::uint32_t>(groups * routers),
                dragonfly_shape(static_cast<std::uint32_t>(groups), static_cast<std::uint32_t>(routers))};
}

// Two nodes are joined by one wire.
NodePairs twin_shape(std::uint32_t nodes) {
  return nodes == 2 ? line_shape(nodes) : ring_shape(nodes);
}

// Two hosts are joined by two cables, both plugs of each; more are in a ring.
NodePairs spark_shape(std::uint32_t nodes) {
  return nodes == 2 ? NodePairs{{0, 1}, {1, 0}} : ring_shape(nodes);
}

struct Kind {
  const char* name;
  const char* form;
  const char* example;
  char separator;  // of its numbers
  std::size_t fewest;
  std::size_t most;
  MaybeLayout (*lay_out)(Numbers);
};

constexpr Kind kKinds[] = {
    {"line", "line:N", "line:4", ',', 1, 1, of_nodes<line_shape, 2, kMaxNodes, Wiring::kSingle>},
    {"ring", "ring:N", "ring:4", ',', 1, 1, of_nodes<ring_shape, 3, kMaxNodes, Wiring::kSingle>},
    {"mesh", "mesh:N", "mesh:4", ',', 1, 1, of_nodes<mesh_shape, 2, kMaxMeshNodes, Wiring::kSingle>},
    {"star", "star:N", "star:4", ',', 1, 1, of_nodes<star_shape, 3, kMaxNodes, Wiring::kSingle>},
    {"switch", "switch:N", "switch:4", ',', 1, 1, of_nodes<mesh_shape, 2, kMaxMeshNodes, Wiring::kSwitch>},
    {"torus", "torus:AxB[xC]", "torus:4x4", 'x', 2, 3, torus},
    {"hypercube", "hypercube:D", "hypercube:3", ',', 1, 1, hypercube},
    {"random", "random:N,K[,SEED]", "random:8,3", ',', 2, 3, random_regular},
    {"dragonfly", "dragonfly:GxN", "dragonfly:4x3", 'x', 2, 2, dragonfly},
    {"rings", "rings:N", "rings:4", ',', 1, 1, two_rings},
    {"twins", "twins:N", "twins:4", ',', 1, 1, of_nodes<twin_shape, 2, kMaxNodes, Wiring::kTwin>},
    {"sparks", "sparks:N", "sparks:4", ',', 1, 1, of_nodes<spark_shape, 2, kMaxNodes, Wiring::kSpark>},
};

// nullopt if `text` has the wrong number of numbers.
std::optional<std::vector<std::uint64_t>> numbers_of(const Kind& kind, std::string_view text) {
  std::vector<std::uint64_t> numbers;
  for (const absl::string_view part : absl::StrSplit(absl_view(text), kind.separator)) {
    const bool digits = std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    std::uint64_t number = 0;
    if (!digits || numbers.size() == kind.most || !absl::SimpleAtoi(part, &number)) return std::nullopt;
    numbers.push_back(number);
  }
  if (numbers.size() < kind.fewest) return std::nullopt;
  return numbers;
}

MaybeLayout lay_out(std::string_view shape) {
  const std::size_t colon = std::min(shape.find(':'), shape.size());
  const std::string_view name = shape.substr(0, colon);
  const std::string_view size = shape.substr(std::min(colon + 1, shape.size()));
  const Kind* const kind =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& known) { return known.name == name; });
  if (kind == std::end(kKinds)) {
    std::vector<std::string_view> names;
    for (const Kind& known : kKinds) names.emplace_back(known.name);
    return absl::InvalidArgumentError(absl::StrCat("unknown shape ", in_quotes(name), did_you_mean(name, names),
                                                   "; expected ", topology_spec_forms()));
  }
  const std::optional<std::vector<std::uint64_t>> numbers = numbers_of(*kind, size);
  if (!numbers) {
    return absl::InvalidArgumentError(absl::StrCat("invalid parameters ", in_quotes(size), " of ", kind->name,
                                                   "; expected ", kind->form, ", such as ", kind->example));
  }
  return kind->lay_out(*numbers);
}

struct CableValues {
  std::optional<std::uint64_t> rate_mbps;
  std::optional<double> latency_us;
};

absl::Status read_value(std::string_view text, CableValues& values) {
  if (has_unit_of_time(text) ? values.latency_us.has_value() : values.rate_mbps.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(in_quotes(text), " is an extra value; expected at most one rate and one latency"));
  }
  if (has_unit_of_time(text)) {
    const absl::StatusOr<double> latency = parse_latency_us(text);
    if (!latency.ok()) return latency.status();
    values.latency_us = *latency;
    return absl::OkStatus();
  }
  const absl::StatusOr<std::uint64_t> rate = parse_rate_mbps(text);
  if (!rate.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(rate.status().message(), ", or a latency such as 2us"));
  }
  values.rate_mbps = *rate;
  return absl::OkStatus();
}

absl::StatusOr<CableValues> read_values(std::string_view text) {
  CableValues values;
  for (const absl::string_view value : absl::StrSplit(absl_view(text), ',')) {
    if (absl::Status status = read_value({value.data(), value.size()}, values); !status.ok()) return status;
  }
  return values;
}

// A DGX Spark: two plugs of 200 Gbit/s, and two PCIe links, each of four lanes of 32 GT/s.
constexpr std::uint64_t kSparkPlugMbps = 200'000;
constexpr std::uint64_t kSparkRootMbps = pcie_rate_mbps(32, 4);

std::uint64_t plug_rate(const Layout& layout, const CableValues& values) {
  return values.rate_mbps.value_or(layout.wiring == Wiring::kSpark ? kSparkPlugMbps : kDefaultRateMbps);
}

std::vector<Cable> cables_of(const Layout& layout, const CableValues& values) {
  const bool spark = layout.wiring == Wiring::kSpark;
  const bool twin = layout.wiring == Wiring::kTwin || spark;
  const std::size_t cables_a_pair = twin ? 2 : 1;
  const std::uint64_t rate = plug_rate(layout, values);
  const auto port = [&](std::uint32_t node, const char* plug, std::size_t function) {
    return Port{.node = NodeIndex{node},
                .interface = {},
                .address = {},
                .plug = twin ? plug : "",
                .root = spark ? absl::StrCat("r", function) : ""};
  };
  std::vector<Cable> cables;
  cables.reserve(layout.pairs.size() * cables_a_pair);
  for (const auto& [a, b] : layout.pairs) {
    for (std::size_t i = 0; i < cables_a_pair; ++i) {
      cables.push_back({.name = absl::StrCat("c", cables.size()),
                        .a = port(a, "p0", i),
                        .b = port(b, "p1", i),
                        .rate_mbps = spark ? std::min(rate, kSparkRootMbps) : rate,
                        .latency_us = values.latency_us});
    }
  }
  return cables;
}

Topology build(const Layout& layout, const CableValues& values) {
  std::vector<Node> nodes(layout.nodes);
  for (std::uint32_t i = 0; i < layout.nodes; ++i) nodes[i].name = absl::StrCat("n", i);
  if (layout.wiring == Wiring::kSpark) {
    const std::uint64_t rate = plug_rate(layout, values);
    for (Node& node : nodes) {
      node.plugs = {{"p0", rate}, {"p1", rate}};
      node.roots = {{"r0", kSparkRootMbps}, {"r1", kSparkRootMbps}};
    }
  }
  std::vector<Cable> cables = cables_of(layout, values);
  if (layout.wiring == Wiring::kSwitch) {
    for (Cable& cable : cables) {
      cable.name = default_cable_name(nodes[cable.a.node.value].name, nodes[cable.b.node.value].name);
      cable.a = switch_port(cable.a.node.value);
      cable.b = switch_port(cable.b.node.value);
    }
  } else {
    plan_ports(nodes, cables);
  }
  return *Topology::create(kDefaultCluster, std::move(nodes), std::move(cables));  // valid by construction
}

absl::Status fault(std::string_view spec, const absl::Status& reason) {
  return absl::InvalidArgumentError(absl::StrCat("spec ", in_quotes(spec), ": ", reason.message()));
}

}  // namespace

bool is_topology_spec(std::string_view text) {
  const std::size_t letters = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  return letters != std::string_view::npos && letters > 0 && text[letters] == ':';
}

absl::StatusOr<Topology> generate_topology(std::string_view spec) {
  const std::size_t at = spec.find('@');
  CableValues values;
  if (at != std::string_view::npos) {
    const absl::StatusOr<CableValues> read = read_values(spec.substr(at + 1));
    if (!read.ok()) return fault(spec, read.status());
    values = *read;
  }
  const MaybeLayout layout = lay_out(spec.substr(0, at));
  if (!layout.ok()) return fault(spec, layout.status());
  return build(*layout, values);
}

std::string topology_spec_forms() {
  std::string forms;
  for (const Kind& kind : kKinds) absl::StrAppend(&forms, forms.empty() ? "" : ", ", kind.form);
  return forms;
}

}  // namespace cableway::routing
