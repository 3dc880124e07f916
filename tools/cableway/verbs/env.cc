#include "tools/cableway/verbs/env.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/linux/rdma/rdma_ports.h"
#include "core/settings/settings_table.h"
#include "nccl_adapter/preset/bootstrap_interface.h"
#include "nccl_adapter/preset/least_channels.h"
#include "routing/placement/rank_placement.h"
#include "routing/text/json_schema.h"
#include "routing/text/shell_text.h"
#include "tools/cableway/doctor/doctor_nccl.h"
#include "tools/cableway/doctor/doctor_ports.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/node/node_query.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {
namespace {

constexpr char kNoNetwork[] =
    "NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME are not set: this host has no default route, or only over its cables. A "
    "job's processes find each other over ordinary IP before they use the cables, so all nodes need a common IP "
    "network. Connect them with any switch or Wi-Fi, however slow, and set both variables to its interface; or give "
    "every node an address on a dummy interface, with routes over the cables to all the others and "
    "net.ipv4.ip_forward=1, and set both to that interface";

// Adds the settings that a process here would not derive by itself. A node name that equals the host's name is omitted.
void add_settings(const Settings& settings, JobEnvironment& environment) {
  const Settings defaults;
  for (const Setting& setting : all_settings()) {
    const std::string value = setting.show(settings);
    const bool is_given = settings.origins.contains(std::string(setting.key));
    // Only the command line reads the expected topology.
    if (setting.key == "config" || setting.key == "expect" || !is_given || value == setting.show(defaults)) continue;
    environment.variables.emplace_back(variable_of(setting), value);
  }
}

// Ranks must agree on these, so what the user has set is kept. A container does not have it by itself.
void add_minimum(const HostFacts& host, const char* name, int least, JobEnvironment& environment) {
  const NcclSetting* const set = host.nccl.find(name);
  environment.variables.emplace_back(name, set == nullptr ? absl::StrCat(least) : set->value);
}

// By the rule of NCCL's preset, which a job of several hosts may have on some of them.
void add_least_channels(const HostFacts& host, JobEnvironment& environment) {
  const char* const name = nccl::kLeastChannelsVariable;
  const char* const limit =
      nccl::find_channels_of_the_user([&](const char* each) { return host.nccl.find(each) != nullptr; });
  if (limit == nullptr || host.nccl.find(name) != nullptr) {
    return add_minimum(host, name, nccl::kLeastChannels, environment);
  }
  const NcclSetting& set = *host.nccl.find(limit);
  environment.remarks.push_back(absl::StrCat(name, " is not set beside ", set.name, "=", shortened(set.value), " (",
                                             set.source, "): set that on all hosts of a job, or on none"));
}

void add_flows_of_split_plugs(const HostFacts& host, JobEnvironment& environment) {
  for (const FlowLimit& limit : kFlowLimits) {
    const bool is_added = std::string_view(limit.name) == nccl::kLeastChannelsVariable;
    if (limit.is_minimum && !is_added) add_minimum(host, limit.name, limit.least, environment);
    const NcclSetting* const low = find_too_low(host.nccl, limit);
    if (low == nullptr) continue;
    environment.remarks.push_back(absl::StrCat(limit.name, "=", shortened(low->value), " (", low->source,
                                               "): too few flows to fill both functions of a plug; set ", limit.least,
                                               " or more, or unset it"));
  }
}

void add_network(const HostFacts& host, const std::vector<std::string>& cable_interfaces, JobEnvironment& environment) {
  const std::optional<std::string> interface = nccl::bootstrap_interface(host.default_interfaces, cable_interfaces);
  if (!interface) {
    environment.remarks.emplace_back(kNoNetwork);
    return;
  }
  environment.variables.emplace_back(nccl::kBootstrapVariable, nccl::exactly(*interface));
  environment.variables.emplace_back("GLOO_SOCKET_IFNAME", *interface);
}

void add_docker(const Settings& settings, const HostFacts& host, JobEnvironment& environment) {
  environment.docker_options = {"--network", "host", "--ulimit", "memlock=-1"};
  // Root in a container needs no mount, since the host's node listens at root's abstract name, too.
  if (host.sessions.has_socket) {
    environment.docker_options.insert(environment.docker_options.end(),
                                      {"-v", absl::StrCat(settings.session_dir, ":", settings.session_dir)});
  }
  if (host.has_verbs_files) {
    const std::string folder = host::kRdmaDeviceFolder;
    environment.docker_options.insert(environment.docker_options.end(), {"-v", absl::StrCat(folder, ":", folder)});
    for (const std::string& rule : host.rdma_device_rules) {
      environment.docker_options.insert(environment.docker_options.end(), {"--device-cgroup-rule", rule});
    }
  }
  if (host.installation.empty()) return;
  environment.docker_options.insert(environment.docker_options.end(),
                                    {"-v", absl::StrCat(host.installation, ":", host.installation, ":ro")});
}

std::vector<std::string> docker_words(const JobEnvironment& environment) {
  std::vector<std::string> words = environment.docker_options;
  for (const auto& [name, value] : environment.variables) {
    words.insert(words.end(), {"-e", absl::StrCat(name, "=", value)});
  }
  return words;
}

CablePorts cable_ports(const Json& ports) {
  CablePorts found{{}, has_split_plug(ports)};
  for (const Json& port : ports) found.interfaces.push_back(text(port, "interface"));
  return found;
}

// The node's ports, and those that a node would have here; only the latter if no node answers.
absl::StatusOr<CablePorts> find_cable_ports(const Invocation& invocation, const HostFacts& host) {
  CablePorts found = cable_ports(ports_of_host(host.ports, invocation.settings.transport));
  const absl::StatusOr<NodeView> view = ask_node(invocation.settings, "ports", invocation.surroundings.node_deadline);
  if (!view.ok()) return found;
  const absl::StatusOr<std::string> read = render_answer(view->text, "ports", [&](const Json& answer) {
    CablePorts of_node = cable_ports(answer.at("ports"));
    found.has_split_plug = of_node.has_split_plug;
    std::move(of_node.interfaces.begin(), of_node.interfaces.end(), std::back_inserter(found.interfaces));
    return std::string();
  });
  if (!read.ok()) return read.status();
  return found;
}

// The nodes that this one reaches, in the recommended rank order; empty if unknown.
std::vector<std::string> rank_order(const KnownTopology& known) {
  const std::optional<routing::NodeIndex> self = known.topology.find_node(known.node);
  std::vector<std::string> names;
  for (const std::vector<routing::NodeIndex>& part : known.topology.components()) {
    if (!self || !std::binary_search(part.begin(), part.end(), *self)) continue;
    const absl::StatusOr<routing::RankPlacement> placement = routing::place_ranks(known.topology, part);
    if (!placement.ok()) continue;
    for (const routing::NodeIndex node : placement->order) names.push_back(known.topology.node(node).name);
  }
  return names;
}

class EnvVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "env",
        .summary = "the environment variables of a job here, as shell commands; remarks and rank order as comments",
        .notes = "It works without a node, too; then there is no rank order.",
        .examples = {"eval \"$(cableway env)\"", "eval \"docker run $(cableway env --docker) IMAGE python train.py\"",
                     "cableway env --json | jq -r .rank_order[]"},
        .arguments = {
            json_flag(json_),
            flag("--docker", docker_, "print options for docker run, quoted for a shell").excluding({"--json"})}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<JobEnvironment> environment = find(invocation);
    if (!environment.ok()) return environment.status();
    if (json_) return Answer{as_json(*environment)};
    return Answer{docker_ ? as_docker(*environment) : as_shell(*environment), kDone, environment->remarks};
  }

 private:
  static absl::StatusOr<JobEnvironment> find(const Invocation& invocation) {
    HostFacts host = invocation.surroundings.read_host_facts(invocation.settings.ports);
    host.sessions = read_session_facts(invocation.settings);
    const absl::StatusOr<CablePorts> ports = find_cable_ports(invocation, host);
    if (!ports.ok()) return ports.status();
    JobEnvironment environment = job_environment(invocation.settings, host, *ports);
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, "", invocation.surroundings.node_deadline);
    if (known.ok()) {
      environment.rank_order = rank_order(*known);
      return environment;
    }
    environment.remarks.push_back(absl::StrCat("no rank order: ", why_no_order(known.status(), host)));
    return environment;
  }

  static std::string why_no_order(const absl::Status& unknown, const HostFacts& host) {
    if (!absl::IsNotFound(unknown)) return std::string(unknown.message().substr(0, unknown.message().find('\n')));
    if (!host.no_cables.empty())
      return absl::StrCat("no node runs here, and ", host.no_cables, ": no job will, either");
    return "no node runs here yet, the plugin will start one";
  }

  bool json_ = false;
  bool docker_ = false;
};

}  // namespace

std::unique_ptr<Verb> env_verb() {
  return std::make_unique<EnvVerb>();
}

JobEnvironment job_environment(const Settings& settings, const HostFacts& host, const CablePorts& ports) {
  JobEnvironment environment;
  if (host.plugin.empty()) {
    environment.remarks.push_back(absl::StrCat("NCCL_NET_PLUGIN is not set: no plugin found at ", host.plugin_sought,
                                               ". Set it to the absolute path of libnccl-net-cableway.so"));
  } else {
    environment.variables.emplace_back("NCCL_NET_PLUGIN", host.plugin);
  }
  environment.variables.emplace_back("NCCL_NET", "cableway");
  environment.variables.emplace_back("NCCL_NET_PLUGIN_REF_COUNT", "1");
  add_least_channels(host, environment);
  if (ports.has_split_plug) add_flows_of_split_plugs(host, environment);
  add_network(host, ports.interfaces, environment);
  add_settings(settings, environment);
  add_docker(settings, host, environment);
  return environment;
}

std::string as_shell(const JobEnvironment& environment) {
  std::string text;
  for (const auto& [name, value] : environment.variables) {
    absl::StrAppend(&text, "export ", name, "=", routing::shell_quoted(value), "\n");
  }
  if (!environment.rank_order.empty()) {
    absl::StrAppend(
        &text, "# nodes by rank, so that neighbours share cables: ", absl::StrJoin(environment.rank_order, ","), "\n");
  }
  for (const std::string& remark : environment.remarks) absl::StrAppend(&text, "# ", remark, "\n");
  return text;
}

std::string as_docker(const JobEnvironment& environment) {
  const std::string words = absl::StrJoin(
      docker_words(environment), " ",
      [](std::string* out, const std::string& word) { absl::StrAppend(out, routing::shell_quoted(word)); });
  return absl::StrCat(words, "\n");
}

std::string as_json(const JobEnvironment& environment) {
  Json variables = Json::object();
  for (const auto& [name, value] : environment.variables) variables[name] = value;
  const Json view = {{routing::kSchemaMember, routing::kJsonSchema},
                     {"variables", variables},
                     {"docker", docker_words(environment)},
                     {"rank_order", environment.rank_order.empty() ? Json(nullptr) : Json(environment.rank_order)},
                     {"remarks", environment.remarks}};
  // A path may hold any byte.
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cableway::cli
