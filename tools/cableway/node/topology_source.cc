#include "tools/cableway/node/topology_source.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/files/topology_reader.h"
#include "routing/shapes/topology_generator.h"
#include "routing/topology_io/json_topology.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/node/node_query.h"

namespace cableway::cli {

absl::StatusOr<routing::Topology> read_or_generate_topology(const std::string& file) {
  return routing::is_topology_spec(file) ? routing::generate_topology(file) : host::read_topology(file);
}

Argument topology_option(std::string& file, std::string names) {
  return text_option(
             std::move(names), "TOPOLOGY", file,
             absl::StrCat("use this topology instead of the one of the node that runs here: a file (.toml, .json),\n"
                          "or a shape with optional values for its cables, as in "
                          "torus:4x4@100Gbit/s,2us:\n",
                          routing::topology_spec_forms()))
      .that_names(Argument::Names::kFiles);
}

absl::StatusOr<KnownTopology> find_topology(const Settings& settings, const std::string& file,
                                            std::chrono::milliseconds deadline) {
  if (!file.empty()) {
    absl::StatusOr<routing::Topology> topology = read_or_generate_topology(file);
    if (!topology.ok()) return topology.status();
    return KnownTopology{*std::move(topology), settings.node};
  }
  absl::StatusOr<NodeView> view = ask_node(settings, "topology", deadline);
  if (!view.ok()) return view.status();
  const std::string& node = view->node.node;
  absl::StatusOr<routing::Topology> topology =
      routing::parse_json_topology(view->text, "the view", routing::Disconnected::kAccepted);
  if (!topology.ok()) return not_understood("topology", std::string(topology.status().message()));
  return KnownTopology{*std::move(topology), node};
}

}  // namespace cableway::cli
