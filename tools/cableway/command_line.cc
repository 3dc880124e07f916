#include "tools/cableway/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/linux/settings_reader.h"
#include "core/settings.h"
#include "routing/node_name.h"
#include "tools/cableway/node_query.h"
#include "tools/cableway/routes_view.h"
#include "tools/cableway/status_view.h"
#include "tools/cableway/topology_source.h"
#include "tools/cableway/topology_view.h"

namespace cableway::cli {
namespace {

constexpr char kDescription[] =
    "cableway - shows what the Cableway node of this host knows and does.\n"
    "It asks the node that runs in this network namespace; topology and routes also read a topology file.";

constexpr char kFooter[] =
    "Settings, as for cablewayd: CABLEWAY_CLUSTER and CABLEWAY_RUNTIME_DIR say which node of this network namespace is "
    "meant\n(default: cableway, default), CABLEWAY_NODE which node of a file (default: the host's name).\n\n"
    "Exit status: 0 done; 1 failed; 2 arguments or settings that make no sense; 3 no node runs here;\n"
    "4 the node here has not answered within 5 s.\n\n"
    "Examples:\n"
    "  cableway topology\n"
    "  cableway routes --file ring.toml --node n0\n"
    "  cableway status --json | jq .relayed.bytes";

struct Request {
  enum class View { kTopology, kRoutes, kStatus };
  View view = View::kTopology;
  bool json = false;
  std::string config;
  std::string file;
  std::string node;
};

// CLI11 says that a subcommand is missing where it does not know the one that is there.
std::string mistake(const CLI::App& app, const CLI::ParseError& error, const std::string& first_argument) {
  if (!app.get_subcommands().empty()) return error.what();
  constexpr char kExpected[] = "expected topology, routes or status";
  return first_argument.empty() ? kExpected : absl::StrCat(kExpected, ", found ", routing::in_quotes(first_argument));
}

// The request, or the exit status of a command line that asks for nothing: --help, or a mistake.
std::variant<Request, int> parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err) {
  Request request;
  CLI::App app(kDescription, "cableway");
  app.footer(kFooter);
  app.set_version_flag("--version", "cableway " CABLEWAY_VERSION);
  app.require_subcommand(1);
  const auto add_view = [&](const char* name, Request::View view, const char* summary) {
    CLI::App* command = app.add_subcommand(name, summary);
    command->callback([&request, view] { request.view = view; });
    command->add_flag("--json", request.json, "as JSON");
    command->add_option("--config", request.config, "settings file (CABLEWAY_CONFIG)");
    if (view != Request::View::kStatus) {
      command->add_option("--file", request.file, "of this topology file, instead of asking the node that runs here");
    }
    if (view == Request::View::kRoutes) {
      command->add_option("--node", request.node, "of this node, instead of the one that runs here or CABLEWAY_NODE");
    }
  };
  add_view("topology", Request::View::kTopology, "the topology drawn, and a table of its cables");
  add_view("routes", Request::View::kRoutes, "how a node reaches each other node: hops, paths, weights");
  add_view("status", Request::View::kStatus, "the node: addresses, sessions, what it has relayed, open circuits");
  const std::string first_argument = arguments.empty() ? "" : arguments.front();
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the end
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, out, err);
    err << "cableway: " << mistake(app, error, first_argument) << "; see cableway --help\n";
    return kNotUsable;
  }
  return request;
}

absl::StatusOr<Settings> read_settings(const Request& request, const Surroundings& surroundings) {
  linux_::SettingsPlaces places{
      .environment = surroundings.environment, .host_name = surroundings.host_name, .options = {}};
  if (!request.config.empty()) {
    places.options.push_back({.key = "config", .value = request.config, .origin = "--config"});
  }
  return linux_::read_settings(places);
}

absl::Status no_such_node(const routing::Topology& topology, const std::string& name) {
  constexpr std::size_t kNamesShown = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(topology.node_count(), kNamesShown); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", topology.nodes()[i].name);
  }
  if (topology.node_count() > kNamesShown) absl::StrAppend(&names, ", ..");
  return absl::InvalidArgumentError(
      absl::StrCat("the topology has no node ", routing::in_quotes(name), "; give --node one of ", names));
}

absl::StatusOr<std::string> answer(const Request& request, const Settings& settings,
                                   std::chrono::milliseconds deadline) {
  if (request.view == Request::View::kStatus) {
    absl::StatusOr<NodeView> view = ask_node(settings, "status", deadline);
    if (!view.ok()) return view.status();
    return request.json ? status_json(view->text) : status_text(view->text);
  }
  absl::StatusOr<KnownTopology> known = find_topology(settings, request.file, deadline);
  if (!known.ok()) return known.status();
  const routing::Topology& topology = known->topology;
  if (request.view == Request::View::kTopology) {
    return request.json ? topology_json(topology) : topology_text(topology);
  }
  const std::string& name = request.node.empty() ? known->node : request.node;
  const std::optional<routing::NodeIndex> self = topology.find_node(name);
  if (!self) return no_such_node(topology, name);
  return request.json ? routes_json(topology, *self) : routes_text(topology, *self);
}

int fail(std::ostream& err, const absl::Status& status, int exit_status) {
  err << "cableway: " << std::string(status.message()) << "\n";
  return exit_status;
}

int exit_status_of(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return kNoNode;
    case absl::StatusCode::kDeadlineExceeded:
      return kNoAnswer;
    default:
      return kFailed;
  }
}

}  // namespace

int run(const std::vector<std::string>& arguments, const Surroundings& surroundings, std::ostream& out,
        std::ostream& err) {
  const std::variant<Request, int> parsed = parse(arguments, out, err);
  if (const int* exit_status = std::get_if<int>(&parsed)) return *exit_status;
  const Request& request = std::get<Request>(parsed);
  const absl::StatusOr<Settings> settings = read_settings(request, surroundings);
  if (!settings.ok()) return fail(err, settings.status(), kNotUsable);
  const absl::StatusOr<std::string> text = answer(request, *settings, surroundings.node_deadline);
  if (!text.ok()) return fail(err, text.status(), exit_status_of(text.status()));
  out << *text << std::flush;
  if (!out) return fail(err, absl::UnavailableError("cannot write the answer to standard output"), kFailed);
  return kDone;
}

}  // namespace cableway::cli
