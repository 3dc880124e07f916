#include "tools/cableway/views/job_environment.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/settings/settings_table.h"
#include "routing/text/json_schema.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/shell_text.h"

namespace cableway::cli {
namespace {

constexpr char kNoNetwork[] =
    "NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME are not set: this host has no default route, or only over its cables. "
    "A job's processes find each other over ordinary IP before they use the cables, so all nodes need one network on "
    "which each reaches each. Join them by any switch or Wi-Fi, however slow, and set both variables to its interface; "
    "or give every node an address of its own on a dummy interface, with routes over the cables to all the others and "
    "net.ipv4.ip_forward=1, and set both to that interface";

// What a process here would not find by itself. A name that is only the host's is left out: it is found again.
void add_settings(const Settings& settings, JobEnvironment& environment) {
  const Settings defaults;
  for (const Setting& setting : all_settings()) {
    const std::string value = setting.show(settings);
    const bool is_given = settings.origins.contains(std::string(setting.key));
    if (setting.key == "config" || !is_given || value == setting.show(defaults)) continue;
    environment.variables.emplace_back(variable_of(setting), value);
  }
}

void add_network(const HostFacts& host, const std::vector<std::string>& cable_interfaces, JobEnvironment& environment) {
  for (const std::string& interface : host.default_interfaces) {
    if (std::find(cable_interfaces.begin(), cable_interfaces.end(), interface) != cable_interfaces.end()) continue;
    // NCCL takes a name as the beginning of names, unless it is told that it is all of one.
    environment.variables.emplace_back("NCCL_SOCKET_IFNAME", absl::StrCat("=", interface));
    environment.variables.emplace_back("GLOO_SOCKET_IFNAME", interface);
    return;
  }
  environment.remarks.emplace_back(kNoNetwork);
}

void add_docker(const HostFacts& host, JobEnvironment& environment) {
  environment.docker_options = {"--network", "host", "--ulimit", "memlock=-1"};
  if (host.has_verbs_files) {
    environment.docker_options.insert(environment.docker_options.end(), {"--device", "/dev/infiniband"});
  }
  if (host.plugin.empty()) return;
  const std::string installation = std::filesystem::path(host.plugin).parent_path().parent_path();
  const bool hides_the_images_own = installation == "/usr/local" || installation == "/usr" || installation == "/";
  if (hides_the_images_own) {
    environment.remarks.push_back(absl::StrCat("for a container: ", installation,
                                               " cannot be mounted over the image's own. Unpack the package into a "
                                               "folder of its own, such as /opt/cableway, and use the cableway there"));
    return;
  }
  environment.docker_options.insert(environment.docker_options.end(),
                                    {"-v", absl::StrCat(installation, ":", installation, ":ro")});
}

std::vector<std::string> docker_words(const JobEnvironment& environment) {
  std::vector<std::string> words = environment.docker_options;
  for (const auto& [name, value] : environment.variables) {
    words.insert(words.end(), {"-e", absl::StrCat(name, "=", value)});
  }
  return words;
}

}  // namespace

JobEnvironment job_environment(const Settings& settings, const HostFacts& host,
                               const std::vector<std::string>& cable_interfaces) {
  JobEnvironment environment;
  if (host.plugin.empty()) {
    environment.remarks.push_back(absl::StrCat("NCCL_NET_PLUGIN is not set: there is no plugin at ", host.plugin_sought,
                                               ". Set it to the absolute path of libnccl-net-cableway.so"));
  } else {
    environment.variables.emplace_back("NCCL_NET_PLUGIN", host.plugin);
  }
  environment.variables.emplace_back("NCCL_NET", "cableway");
  environment.variables.emplace_back("NCCL_NET_PLUGIN_REF_COUNT", "1");
  add_network(host, cable_interfaces, environment);
  add_settings(settings, environment);
  add_docker(host, environment);
  return environment;
}

std::string as_shell(const JobEnvironment& environment) {
  std::string text;
  for (const auto& [name, value] : environment.variables) {
    absl::StrAppend(&text, "export ", name, "=", shell_quoted(value), "\n");
  }
  if (!environment.rank_order.empty()) {
    absl::StrAppend(
        &text, "# nodes by rank, so that neighbours share cables: ", absl::StrJoin(environment.rank_order, ","), "\n");
  }
  for (const std::string& remark : environment.remarks) absl::StrAppend(&text, "# ", remark, "\n");
  return text;
}

std::string as_docker(const JobEnvironment& environment) {
  return absl::StrCat(absl::StrJoin(docker_words(environment), " "), "\n");
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
