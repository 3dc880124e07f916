#include "tools/cableway/answer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/files/key_reader.h"
#include "routing/placement/rank_placement.h"
#include "routing/text/node_name.h"
#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/doctor_speed.h"
#include "tools/cableway/doctor/doctor_view.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/node/node_query.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/picture/topology_dot.h"
#include "tools/cableway/picture/topology_svg.h"
#include "tools/cableway/sim_command.h"
#include "tools/cableway/views/events_view.h"
#include "tools/cableway/views/flows_view.h"
#include "tools/cableway/views/job_environment.h"
#include "tools/cableway/views/path_view.h"
#include "tools/cableway/views/ports_view.h"
#include "tools/cableway/views/rank_plan_view.h"
#include "tools/cableway/views/routes_view.h"
#include "tools/cableway/views/status_view.h"
#include "tools/cableway/views/topology_view.h"

namespace cableway::cli {
namespace {

using routing::NodeIndex;
using routing::Topology;
using View = Request::View;
using Format = Request::Format;

absl::StatusOr<NodeIndex> find_node(const Topology& topology, const std::string& name) {
  if (const std::optional<NodeIndex> node = topology.find_node(name)) return *node;
  constexpr std::size_t kNamesShown = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(topology.node_count(), kNamesShown); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", topology.nodes()[i].name);
  }
  if (topology.node_count() > kNamesShown) absl::StrAppend(&names, ", ..");
  return absl::InvalidArgumentError(
      absl::StrCat("the topology has no node ", routing::in_quotes(name), "; expected one of ", names));
}

absl::StatusOr<std::string> show_topology(const Request& request, const KnownTopology& known) {
  // A file is nobody's view.
  const std::optional<NodeIndex> self = request.file.empty() ? known.topology.find_node(known.node) : std::nullopt;
  switch (request.format) {
    case Format::kJson:
      return topology_json(known.topology);
    case Format::kDot:
      return topology_dot(known.topology, self);
    case Format::kSvg:
      return topology_svg(known.topology, self);
    case Format::kText:
    case Format::kDocker:
      break;
  }
  return topology_text(known.topology);
}

absl::StatusOr<std::string> show_routes(const Request& request, const KnownTopology& known) {
  const absl::StatusOr<NodeIndex> self = find_node(known.topology, request.node.empty() ? known.node : request.node);
  if (!self.ok()) return self.status();
  return request.json() ? routes_json(known.topology, *self) : routes_text(known.topology, *self);
}

absl::StatusOr<std::string> show_paths(const Request& request, const KnownTopology& known) {
  const absl::StatusOr<NodeIndex> from = find_node(known.topology, request.from);
  if (!from.ok()) return from.status();
  const absl::StatusOr<NodeIndex> to = find_node(known.topology, request.to);
  if (!to.ok()) return to.status();
  const PathQuery query{*from, *to, request.flow};
  return request.json() ? path_json(known.topology, query) : path_text(known.topology, query);
}

absl::StatusOr<std::string> show_rank_plan(const Request& request, const KnownTopology& known) {
  std::vector<NodeIndex> hosts;
  for (const std::string& name : request.hosts) {
    const absl::StatusOr<NodeIndex> host = find_node(known.topology, name);
    if (!host.ok()) return host.status();
    hosts.push_back(*host);
  }
  if (request.hosts.empty()) {
    for (std::uint32_t i = 0; i < known.topology.node_count(); ++i) hosts.push_back(NodeIndex{i});
  }
  return request.json() ? rank_plan_json(known.topology, hosts) : rank_plan_text(known.topology, hosts);
}

absl::StatusOr<std::string> show_about_topology(const Request& request, const Settings& settings,
                                                std::chrono::milliseconds deadline) {
  const absl::StatusOr<KnownTopology> known = find_topology(settings, request.file, deadline);
  if (!known.ok()) return known.status();
  switch (request.view) {
    case View::kRoutes:
      return show_routes(request, *known);
    case View::kPath:
      return show_paths(request, *known);
    case View::kPlanRanks:
      return show_rank_plan(request, *known);
    default:
      return show_topology(request, *known);
  }
}

absl::StatusOr<std::string> show_about_node(const Request& request, const Settings& settings,
                                            std::chrono::milliseconds deadline) {
  const auto ask = [&](const std::string& view, absl::StatusOr<std::string> (*as_text)(const std::string&),
                       absl::StatusOr<std::string> (*as_json)(const std::string&)) -> absl::StatusOr<std::string> {
    const absl::StatusOr<NodeView> answer = ask_node(settings, view, deadline);
    if (!answer.ok()) return answer.status();
    if (!request.json()) return as_text(answer->text);
    return as_json == nullptr ? answer_as_json(answer->text, view) : as_json(answer->text);
  };
  switch (request.view) {
    case View::kPorts:
      return ask("ports", ports_text, nullptr);
    case View::kFlows:
      return ask("status", flows_text, flows_json);
    case View::kEvents: {
      const absl::StatusOr<NodeView> answer = ask_node(settings, "events", deadline);
      if (!answer.ok()) return answer.status();
      return request.json() ? events_json(answer->text, request.events) : events_text(answer->text, request.events);
    }
    default:
      return ask("status", status_text, nullptr);
  }
}

// The nodes that this one reaches, in the order in which a job should number them; empty where that is not known.
std::vector<std::string> rank_order(const KnownTopology& known) {
  const std::optional<NodeIndex> self = known.topology.find_node(known.node);
  std::vector<std::string> names;
  for (const std::vector<NodeIndex>& part : known.topology.components()) {
    if (!self || !std::binary_search(part.begin(), part.end(), *self)) continue;
    const absl::StatusOr<routing::RankPlacement> placement = routing::place_ranks(known.topology, part);
    if (!placement.ok()) continue;
    for (const NodeIndex node : placement->order) names.push_back(known.topology.node(node).name);
  }
  return names;
}

absl::StatusOr<Answer> show_environment(const Request& request, const Settings& settings,
                                        const Surroundings& surroundings) {
  const HostFacts host = surroundings.look_at_host(settings.ports);
  std::vector<std::string> cable_interfaces;
  for (const PortFacts& port : host.ports) cable_interfaces.push_back(port.interface);
  const absl::StatusOr<NodeView> ports = ask_node(settings, "ports", surroundings.node_deadline);
  if (ports.ok()) {
    const absl::StatusOr<std::string> read = render_answer(ports->text, "ports", [&](const Json& view) {
      for (const Json& port : view.at("ports")) cable_interfaces.push_back(text(port, "interface"));
      return std::string();
    });
    if (!read.ok()) return read.status();
  }
  JobEnvironment environment = job_environment(settings, host, cable_interfaces);
  const absl::StatusOr<KnownTopology> known = find_topology(settings, "", surroundings.node_deadline);
  if (known.ok()) {
    environment.rank_order = rank_order(*known);
  } else {
    const std::string why(known.status().message());
    environment.remarks.push_back(absl::IsNotFound(known.status())
                                      ? "no rank order: no node runs here, the plugin will start one"
                                      : absl::StrCat("no rank order: ", why.substr(0, why.find('\n'))));
  }
  if (request.json()) return Answer{as_json(environment)};
  if (request.format == Format::kDocker) return Answer{as_docker(environment), kDone, environment.remarks};
  return Answer{as_shell(environment), kDone, environment.remarks};
}

absl::StatusOr<Json> ask_for_json(const Settings& settings, const std::string& view,
                                  std::chrono::milliseconds deadline) {
  const absl::StatusOr<NodeView> answer = ask_node(settings, view, deadline);
  if (!answer.ok()) return answer.status();
  return parse_answer(answer->text, view);
}

Examined look_at_everything(const Settings& settings, const Surroundings& surroundings) {
  Examined examined;
  examined.settings = settings;
  examined.host = surroundings.look_at_host(settings.ports);
  if (!settings.key_file.empty()) examined.key = host::read_key(settings.key_file).status();
  absl::StatusOr<Json> status = ask_for_json(settings, "status", surroundings.node_deadline);
  examined.node = status.status();
  if (!status.ok()) return examined;
  examined.status = *std::move(status);
  absl::StatusOr<Json> ports = ask_for_json(settings, "ports", surroundings.node_deadline);
  examined.node = ports.status();
  if (ports.ok()) examined.ports = *std::move(ports);
  absl::StatusOr<KnownTopology> known = find_topology(settings, "", surroundings.node_deadline);
  if (known.ok()) examined.topology = std::move(known->topology);
  return examined;
}

absl::StatusOr<Answer> show_findings(const Request& request, const Settings& settings,
                                     const Surroundings& surroundings) {
  const Examined examined = look_at_everything(settings, surroundings);
  std::vector<Finding> findings;
  try {
    findings = examine(examined);
    if (examined.ports && !request.no_speed) {
      const auto test = [&](const CableProbeRequest& cable) {
        return test_cable(settings, cable, surroundings.node_deadline);
      };
      for (Finding& finding : examine_speed(examined.ports->at("ports"), test)) findings.push_back(std::move(finding));
    }
  } catch (const Json::exception& error) {
    return not_understood("status", error.what());
  }
  Answer answer{request.json() ? doctor_json(findings) : doctor_text(findings)};
  const Severity worst = worst_of(findings);
  if (absl::IsNotFound(examined.node) || absl::IsDeadlineExceeded(examined.node)) {
    answer.exit_status = exit_status_of(examined.node);
  } else if (worst >= Severity::kWarning) {
    answer.exit_status = worst == Severity::kError ? kErrors : kWarnings;
  }
  return answer;
}

}  // namespace

absl::StatusOr<Answer> find_answer(const Request& request, const Settings& settings, const Surroundings& surroundings,
                                   std::ostream& err) {
  absl::StatusOr<std::string> text;
  switch (request.view) {
    case View::kEnv:
      return show_environment(request, settings, surroundings);
    case View::kDoctor:
      return show_findings(request, settings, surroundings);
    case View::kSim:
      return simulate(request, settings, surroundings, err);
    case View::kTopology:
    case View::kRoutes:
    case View::kPath:
    case View::kPlanRanks:
      text = show_about_topology(request, settings, surroundings.node_deadline);
      break;
    case View::kStatus:
    case View::kPorts:
    case View::kFlows:
    case View::kEvents:
      text = show_about_node(request, settings, surroundings.node_deadline);
      break;
  }
  if (!text.ok()) return text.status();
  return Answer{*std::move(text)};
}

}  // namespace cableway::cli
