#include "tools/cableway/request.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <ostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "routing/shapes/topology_generator.h"
#include "routing/text/node_name.h"
#include "tools/cableway/command_line.h"
#include "tools/cableway/text/shell_text.h"

namespace cableway::cli {
namespace {

using View = Request::View;
using Format = Request::Format;

constexpr char kDescription[] =
    "cableway - shows what the Cableway node of this host knows and does, plans jobs, and finds what is wrong.\n"
    "It asks the node that runs in this network namespace; what is about a topology also takes a file or a shape.";

constexpr char kFooter[] =
    "cableway COMMAND --help has the options and examples of a command.\n\n"
    "Settings, as for cablewayd: CABLEWAY_CLUSTER and CABLEWAY_RUNTIME_DIR say which node of this network namespace is "
    "meant\n(default: cableway, default), CABLEWAY_NODE which node of a file (default: the host's name).\n\n"
    "Exit status: 0 done; 1 failed; 2 arguments or settings that make no sense; 3 no node runs here;\n"
    "4 the node here has not answered within 5 s. Of doctor: 1 warnings, 2 errors.\n\n"
    "Examples:\n"
    "  cableway doctor\n"
    "  cableway topology --svg > topology.svg\n"
    "  cableway path n0 n2\n"
    "  eval \"$(cableway env)\"\n"
    "  cableway status --json | jq .relayed.bytes";

struct Command {
  const char* name;
  View view;
  const char* summary;
  const char* footer;
  bool reads_file;
};

constexpr char kExpected[] = "expected topology, routes, path, status, ports, flows, events, plan, env, doctor or sim";

constexpr Command kCommands[] = {
    {"topology", View::kTopology, "the topology drawn, and a table of its cables",
     "Examples:\n  cableway topology\n  cableway topology --svg > topology.svg\n"
     "  cableway topology --dot | dot -Tpdf > topology.pdf\n  cableway topology --file ring.toml --json\n"
     "  cableway topology --file torus:4x4@100Gbit/s,2us",
     true},
    {"routes", View::kRoutes, "how a node reaches each other node: hops, paths, weights",
     "Examples:\n  cableway routes\n  cableway routes --file ring:8 --node n0", true},
    {"path", View::kPath, "the paths from one node to another, cable by cable, with addresses and rates",
     "Examples:\n  cableway path n0 n2\n  cableway path n0 n2 --flow 3\n  cableway path n0 n2 --file snapshot.json",
     true},
    {"status", View::kStatus, "the node: addresses, problems, sessions, what it has relayed",
     "Examples:\n  cableway status\n  cableway status --json | jq .relayed.bytes", false},
    {"ports", View::kPorts,
     "every port with its addresses, rate, RDMA device and neighbours, and every interface that is none, with the "
     "reason",
     "Examples:\n  cableway ports\n  cableway ports --json | jq '.rejected'", false},
    {"flows", View::kFlows,
     "the flows of this host's processes and the circuits that pass through its node, each with what it goes over and "
     "why.\n"
     "The rate of a circuit is its mean since it was opened; of flows no rate is known: their data goes from process "
     "to "
     "process",
     "Examples:\n  cableway flows\n  watch cableway flows\n"
     "  cableway flows --json | jq '.flows[] | select(.transport == \"tcp\")'",
     false},
    {"events", View::kEvents, "the last 1000 things that happened to the node, oldest first",
     "Without --severity they are those from info up; docs/findings.md says what each code means.\n\n"
     "Examples:\n  cableway events\n  cableway events --severity warning\n  cableway events --code CABLE_LOST\n"
     "  cableway events --follow --json",
     false},
    {"env", View::kEnv, "the environment that a job here needs, for a shell; remarks and rank order as comments",
     "It works without a node, too; then it knows no rank order.\n\n"
     "Examples:\n  eval \"$(cableway env)\"\n  docker run $(cableway env --docker) IMAGE python train.py\n"
     "  cableway env --json | jq -r .rank_order[]",
     false},
    {"doctor", View::kDoctor, "looks for what is wrong and says what to do; changes nothing",
     "It looks at the settings, the host and the node, and at the host alone where no node runs.\n\n"
     "Exit status: 0 nothing, or only remarks; 1 warnings; 2 errors; 3 no node runs here; 4 the node here does not "
     "answer.\n\n"
     "Examples:\n  cableway doctor\n  cableway doctor --no-speed\n  cableway doctor --json | jq '.findings[]'",
     false},
    {"sim", View::kSim, "what a workload will do on a topology, and what failures will do to it",
     "It runs the relays' and flow ends' own code in virtual time; nothing is sent. docs/simulator.md says what is "
     "modelled.\n\n"
     "Exit status 5: a cable that was cut has ended the job.\n\n"
     "Examples:\n  cableway sim --topology ring:8 --workload all_reduce:256MiB\n"
     "  cableway sim --topology torus:4x4@100Gbit/s --workload all_to_all:1GiB --rank-order best --html report.html\n"
     "  cableway sim --topology ring:8 --workload all_reduce:256MiB --fail cable:0-1@10ms\n"
     "  cableway sim --topology cluster.toml --mix job.toml --json > a.json\n"
     "  cableway sim --compare a.json b.json\n"
     "  cableway sim --topology ring:8 --what-if",
     true},
};

// CLI11 says that a subcommand is missing where it does not know the one that is there.
std::string mistake(const CLI::App& app, const CLI::ParseError& error, const std::string& first_argument) {
  if (!app.get_subcommands().empty()) return error.what();
  return first_argument.empty() ? kExpected : absl::StrCat(kExpected, ", found ", routing::in_quotes(first_argument));
}

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text = "cableway";
  for (const std::string& argument : arguments) absl::StrAppend(&text, " ", shell_quoted(argument));
  return text;
}

void add_format(CLI::App& command, Request& request, const char* option, Format format, const char* meaning,
                std::vector<CLI::Option*>& others) {
  CLI::Option* added = command.add_flag_callback(
      option, [&request, format] { request.format = format; }, meaning);
  for (CLI::Option* other : others) added->excludes(other);
  others.push_back(added);
}

// A shell's variable that is not set: not what was meant, and not the same as no option.
const CLI::Validator kNotEmpty([](const std::string& text) { return text.empty() ? "is empty" : std::string(); }, "");

const CLI::Validator kFlowNumber(
    [](const std::string& text) {
      std::uint64_t number = 0;
      return absl::SimpleAtoi(text, &number) ? "" : absl::StrCat("expected a number from 0, found ", text);
    },
    "");

const CLI::Validator kSeverity(
    [](const std::string& text) {
      const bool known = parse_event_severity(text).has_value();
      return known ? "" : absl::StrCat("expected debug, info, warning or error, found ", routing::in_quotes(text));
    },
    "");

const CLI::Validator kEventCode(
    [](const std::string& text) {
      const bool known = find_event_kind(text) != nullptr;
      return known ? "" : absl::StrCat("expected a code of docs/findings.md, found ", routing::in_quotes(text));
    },
    "");

void add_event_options(CLI::App& command, Request& request) {
  command.add_flag("--follow,-f", request.follow, "go on with those that come, until it is interrupted");
  command
      .add_option_function<std::string>(
          "--severity", [&request](const std::string& name) { request.events.least = *parse_event_severity(name); },
          "only events of this severity and above: debug, info (default), warning or error")
      ->check(kSeverity);
  command
      .add_option("--code", request.events.codes, "only events of this code, such as CABLE_LOST; may be given again")
      ->allow_extra_args(false)
      ->check(kEventCode);
}

void add_options(CLI::App& command, Request& request, View view, bool reads_file) {
  command.callback([&request, view] { request.view = view; });
  std::vector<CLI::Option*> formats;
  add_format(command, request, "--json", Format::kJson,
             view == View::kEvents ? "as JSON; with --follow, an object a line" : "as JSON", formats);
  command.add_option("--config", request.config, "settings file (CABLEWAY_CONFIG)")->check(kNotEmpty);
  if (reads_file) {
    CLI::Option* file = command.add_option(
        view == View::kSim ? "--topology,--file" : "--file", request.file,
        absl::StrCat("of this topology, instead of asking the node that runs here: a file (.toml, .json, "
                     ".dot, .gv, .graphml, .xml),\nor a shape with or without values for its cables, as in "
                     "torus:4x4@100Gbit/s,2us:\n",
                     routing::topology_spec_forms()));
    file->type_name("TOPOLOGY")->check(kNotEmpty);
  }
  switch (view) {
    case View::kTopology:
      add_format(command, request, "--dot", Format::kDot, "as a graph for Graphviz", formats);
      add_format(command, request, "--svg", Format::kSvg, "as a picture", formats);
      break;
    case View::kRoutes:
      command.add_option("--node", request.node, "of this node, instead of the one that runs here or CABLEWAY_NODE")
          ->check(kNotEmpty);
      break;
    case View::kPath:
      command.add_option("A", request.from, "the node where the paths begin")->required();
      command.add_option("B", request.to, "the node where they end")->required();
      command.add_option("--flow", request.flow, "only the path that the flow of this number takes, from 0")
          ->check(kFlowNumber);
      break;
    case View::kEvents:
      add_event_options(command, request);
      break;
    case View::kPlanRanks:
      command.add_option("--hosts", request.hosts, "the job's nodes, N0,N1,.., in the order of their ranks now; all")
          ->delimiter(',');
      break;
    case View::kEnv:
      add_format(command, request, "--docker", Format::kDocker, "as options of docker run", formats);
      break;
    case View::kDoctor:
      command.add_flag("--no-speed", request.no_speed, "do not send data over the cables to see how fast they are");
      break;
    case View::kSim:
      add_sim_options(command, request.sim);
      break;
    case View::kStatus:
    case View::kPorts:
    case View::kFlows:
      break;
  }
}

void add_plan(CLI::App& app, Request& request) {
  CLI::App* plan = app.add_subcommand("plan", "plans for jobs: ranks");
  plan->require_subcommand(1);
  CLI::App* ranks = plan->add_subcommand(
      "ranks",
      "an order of the job's nodes in which neighbours share cables, and what it costs beside the given order");
  ranks->footer(
      "NCCL's rings go from each rank to the next, and from the last to the first. Start the ranks in this order.\n\n"
      "Examples:\n  cableway plan ranks\n  cableway plan ranks --hosts n0,n3,n1,n2\n"
      "  cableway plan ranks --file torus:4x4 --json | jq -r .planned.order[]");
  add_options(*ranks, request, View::kPlanRanks, true);
}

}  // namespace

std::variant<Request, int> parse_request(std::vector<std::string> arguments, std::ostream& out, std::ostream& err) {
  Request request;
  CLI::App app(kDescription, "cableway");
  app.footer(kFooter);
  app.set_version_flag("--version", "cableway " CABLEWAY_VERSION);
  app.require_subcommand(1);
  for (const Command& command : kCommands) {
    CLI::App* added = app.add_subcommand(command.name, command.summary);
    added->footer(command.footer);
    add_options(*added, request, command.view, command.reads_file);
  }
  add_plan(app, request);
  request.sim.command = command_text(arguments);
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

}  // namespace cableway::cli
