// The command-line tool from arguments to output, with topology files and with fake nodes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/event/event_code.h"
#include "core/linux/os/unique_fd.h"
#include "core/view/status_view.h"
#include "routing/topology_io/json_topology.h"
#include "routing/topology_io/topology_file.h"
#include "sim/nodes/node_world.h"
#include "tests/routing/sample_topologies.h"
#include "tests/tools/cableway/command_run.h"
#include "tools/cableway/command/exit_status.h"
#include "tools/cableway/command_line.h"
#include "tools/cableway/verb_table.h"

namespace cableway::cli {
namespace {

using boost::asio::local::stream_protocol;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Outcome cableway(const std::vector<std::string>& arguments, std::vector<std::string> environment = {},
                 milliseconds deadline = milliseconds(5000)) {
  return run_command(arguments, {.environment = std::move(environment), .deadline = deadline, .host = {}});
}

// The latency of c1 and c2 is not known.
const routing::Topology& ring() {
  static const routing::Topology topology = [] {
    std::vector<routing::Cable> cables;
    for (const auto& [a, b] : routing::ring_pairs(4)) {
      cables.push_back(routing::sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
    }
    cables[0].latency_us = 1.5;
    cables[3].latency_us = 2;
    return routing::make_topology(routing::sample_nodes(4), cables);
  }();
  return topology;
}

class FileTest : public ::testing::Test {
 protected:
  ~FileTest() override {
    for (const std::filesystem::path& path : paths_) std::filesystem::remove(path);
  }

  // Its name ends in `ending`.
  std::string file(const std::string& text, const std::string& ending = ".toml") {
    paths_.push_back(std::filesystem::temp_directory_path() / (runtime_dir() + ending));
    std::ofstream(paths_.back()) << text;
    return paths_.back();
  }

 private:
  std::vector<std::filesystem::path> paths_;
};

TEST_F(FileTest, TopologyIsDrawnAndItsCablesAreListed) {
  const Outcome outcome = cableway({"topology", "--file", file(to_topology_file(ring()))});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("ring: 4 nodes, 4 cables of 10 Gbit/s, 1.5 to 2 us\n\n   n0 --c0-- n1\n"));
  const std::string cables = outcome.out.substr(outcome.out.find("cable  "));
  EXPECT_EQ(std::count(cables.begin(), cables.end(), '\n'), 5);
  const routing::Cable& cable = ring().cables().front();
  EXPECT_THAT(cables, AllOf(HasSubstr("\nc0     n0"), HasSubstr(cable.a.address), HasSubstr(cable.b.address),
                            HasSubstr(" 10000  1.5\n"), HasSubstr(" 10000    -\n")));
}

TEST_F(FileTest, TopologyAsAFileThatIsReadBack) {
  const std::string text = to_topology_file(ring());
  const Outcome outcome = cableway({"topology", "--toml", "--file", file(text)});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_EQ(outcome.out, text);
}

TEST_F(FileTest, TopologyAsJson) {
  const Outcome outcome = cableway({"topology", "--json", "--file", file(to_topology_file(ring()))});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  const nlohmann::json view = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(outcome.out.find("{\"schema\": 1,"), 0U) << outcome.out;
  EXPECT_EQ(view["cluster"], ring().cluster());
  ASSERT_EQ(view["nodes"].size(), 4U);
  EXPECT_EQ(
      view["nodes"][3],
      nlohmann::json::parse(R"({"name": "n3", "relay_port": 7470, "draining": false, "plugs": [], "roots": []})"));
  ASSERT_EQ(view["cables"].size(), 4U);
  const routing::Cable& cable = ring().cables().back();
  const nlohmann::json& last = view["cables"][3];
  EXPECT_EQ(last["name"], cable.name);
  EXPECT_EQ(
      last["ends"][0],
      (nlohmann::json{{"node", "n2"}, {"interface", ""}, {"address", cable.a.address}, {"plug", ""}, {"root", ""}}));
  EXPECT_EQ(last["ends"][1]["node"], "n3");
  EXPECT_EQ(nlohmann::json::array({last["rate_mbps"], last["latency_us"]}), nlohmann::json::array({10000, nullptr}));
  EXPECT_EQ(view["cables"][0]["latency_us"], 1.5);
  EXPECT_EQ(last["routed"], false);
}

TEST_F(FileTest, RoutesOfANode) {
  const Outcome outcome = cableway({"routes", "--node", "n3", "--file", file(to_topology_file(ring()))});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_EQ(outcome.out,
            R"(routes of n3; * marks the path of a destination's first flow; further flows use the others in turn

to  hops    paths                us  weight (Mbit/s)
n0     1  * n3 -c3- n0            2            10000
n1     2    n3 -c3- n0 -c0- n1  3.5            10000
          * n3 -c2- n2 -c1- n1    -            10000
n2     1  * n3 -c2- n2            -            10000
)");
}

TEST_F(FileTest, RoutesAsJson) {
  const Outcome outcome = cableway({"routes", "--node=n3", "--json", "--file", file(to_topology_file(ring()))});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  const nlohmann::json view = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(view["schema"], 1);
  EXPECT_EQ(view["node"], "n3");
  ASSERT_EQ(view["routes"].size(), 3U);
  EXPECT_EQ(view["routes"][1], nlohmann::json::parse(R"({
    "destination": "n1", "hops": 2, "first_path": 1, "paths": [
      {"nodes": ["n3", "n0", "n1"], "cables": ["c3", "c0"], "weight_mbps": 10000, "latency_us": 3.5},
      {"nodes": ["n3", "n2", "n1"], "cables": ["c2", "c1"], "weight_mbps": 10000, "latency_us": null}]})"));
}

TEST_F(FileTest, RoutesAreOfTheNodeInTheSettingsElseOfTheHost) {
  const std::string path = file(to_topology_file(ring()));
  EXPECT_THAT(cableway({"routes", "--file", path}, {"CABLEWAY_NODE=n2"}).out, StartsWith("routes of n2;"));
  const Outcome outcome = cableway({"routes", "--file", path});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "cableway: the topology has no node \"somewhere\"; expected one of n0, n1, n2, n3\n");
}

TEST_F(FileTest, AnInvalidTopologyFileIsRefusedWithItsLine) {
  const std::string path = file("cluster = \"lab\"\n[[node]]\nname = \"n 0\"\n");
  const Outcome outcome = cableway({"topology", "--file", path});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("cableway: " + path + ":3: "));
}

TEST_F(FileTest, PrintedTopologiesCanBeReadBack) {
  for (const char* const spec : {"twins:4@200Gbit/s,500ns", "sparks:3"}) {
    for (const auto& [option, ending] : {std::pair("--json", ".json"), std::pair("--toml", ".toml")}) {
      const Outcome printed = cableway({"topology", option, "--file", spec});
      ASSERT_EQ(printed.exit_status, kDone) << printed.err;
      const Outcome again = cableway({"topology", option, "--file", file(printed.out, ending)});
      EXPECT_EQ(again.exit_status, kDone) << again.err;
      EXPECT_EQ(again.out, printed.out);
    }
  }
}

TEST_F(FileTest, AGraphOfAnotherProgramIsRefusedWithWhatToDo) {
  const std::string path = file("graph { n0 -- n1 }", ".dot");
  for (const Outcome& outcome : {cableway({"topology", "--file", path}), cableway({"routes", "--file", path}),
                                 cableway({"topology", "--file", "ring:3", "--expect", path})}) {
    EXPECT_EQ(outcome.exit_status, kFailed);
    EXPECT_THAT(outcome.err, HasSubstr(path + ":1: a Graphviz or GraphML graph is not read; expected .toml or .json: "
                                              "convert it with the script in docs/cli.md"));
  }
}

TEST(SpecTest, EveryOfflineViewAcceptsOne) {
  EXPECT_THAT(cableway({"topology", "--file", "ring:8@100Gbit/s,2us"}).out,
              StartsWith("ring: 8 nodes, 8 cables of 100 Gbit/s, 2 us\n"));
  EXPECT_THAT(cableway({"routes", "--file", "ring:8", "--node", "n3"}).out, StartsWith("routes of n3;"));
  EXPECT_THAT(cableway({"path", "n0", "n2", "--file", "line:3"}).out, HasSubstr("c1"));
  EXPECT_EQ(
      nlohmann::json::parse(cableway({"plan", "ranks", "--json", "--file", "torus:4x4"}).out)["planned"]["relays"], 0);
}

TEST(SpecTest, AWrongOneIsNamed) {
  const Outcome outcome = cableway({"topology", "--file", "ring:2"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_EQ(outcome.err, "cableway: spec \"ring:2\": 2 nodes; expected 3 to 4096\n");
  EXPECT_THAT(cableway({"topology", "--file", "rign:4"}).err, HasSubstr("(did you mean \"ring\"?)"));
}

TEST(FileErrorTest, AFileThatCannotBeReadIsNamed) {
  Outcome outcome = cableway({"topology", "--file", "/no/such/file"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_EQ(outcome.err, "cableway: topology file \"/no/such/file\" cannot be opened: No such file or directory\n");
  outcome = cableway({"routes", "--file", "/"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("is a folder; expected a regular file"));
}

TEST(FileErrorTest, AnEndlessFileIsReadUpToTheLimit) {
  EXPECT_THAT(cableway({"topology", "--file", "/dev/zero"}).err, HasSubstr("is a device; expected a regular file"));
  // Inherited descriptors may be of any kind.
  const host::UniqueFd endless(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const Outcome outcome = cableway({"topology", "--file", "/dev/fd/" + std::to_string(endless.get())});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("at most 33554432"));
}

TEST(VerbTable, EveryVerbHasAnExampleAndJson) {
  for (const std::unique_ptr<Verb>& verb : all_verbs()) {
    const Command command = verb->describe();
    EXPECT_FALSE(command.examples.empty()) << command.name;
    for (const std::string& example : command.examples) EXPECT_THAT(example, HasSubstr("cableway " + command.name));
    EXPECT_TRUE(std::any_of(command.arguments.begin(), command.arguments.end(), [](const Argument& argument) {
      return argument.name() == "--json";
    })) << command.name;
  }
}

TEST(ArgumentsTest, MistakesAreNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{},
       "expected topology, routes, path, status, ports, flows, events, drain, undrain, plan, env, doctor, sim, up or "
       "key"},
      {{"route"}, "no command \"route\"; did you mean \"routes\"?"},
      {{"STATUS"}, "no command \"STATUS\"; did you mean \"status\"?"},
      {{"Statsu"}, "no command \"Statsu\"; did you mean \"status\"?"},
      {{"RANKS"}, "no command \"RANKS\"; did you mean \"plan ranks\"?"},
      {{"PLAN", "ranks"}, "no command \"PLAN\"; did you mean \"plan\"?"},
      {{"status", "--JSON"}, "status has no option \"--JSON\"; did you mean \"--json\"?"},
      {{"--json", "status"}, "option \"--json\" goes after the command: cableway status --json"},
      {{"status", "--file", "x"}, "--file"},
      {{"topology", "--node", "n0"}, "--node"},
      {{"routes", "--file"}, "--file"},
      {{"topology", "status"}, "status"},
      {{"topology", "--dot", "--svg"}, "--dot"},
      {{"topology", "--json", "--svg"}, "--json"},
      {{"env", "--docker", "--json"}, "--json"},
      {{"path", "n0"}, "B"},
      {{"path", "n0", "n1", "--flow", "-1"}, "--flow"},
      {{"path", "n0", "n1", "--flow", "99999999999999999999"}, "--flow"},
      {{"topology", "--file", ""}, "--file"},
      {{"routes", "--node", ""}, "--node"},
      {{"path", "n0", "n1", "n2"}, "n2"},
      {{"plan"}, "expected plan ranks"},
      {{"plan", "rank"}, "no command \"plan rank\"; did you mean \"plan ranks\"?"},
      {{"ports", "--follow"}, "--follow"},
      {{"doctor", "--file", "x"}, "--file"},
  };
  for (const auto& [arguments, expected] : mistakes) {
    const Outcome outcome = cableway(arguments);
    EXPECT_EQ(outcome.exit_status, kNotUsable) << expected;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(StartsWith("cableway: "), HasSubstr(expected)));
  }
}

TEST(ArgumentsTest, HelpAndVersionGoToStandardOutput) {
  for (const char* argument : {"--help", "-h"}) {
    const Outcome outcome = cableway({argument});
    EXPECT_EQ(outcome.exit_status, kDone);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("topology"), HasSubstr("Exit status: 0 success"), HasSubstr("Examples")));
    EXPECT_EQ(outcome.err, "");
  }
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands = {
      {{"topology"}, "--svg"},    {{"routes"}, "--node"},         {{"path"}, "--flow"},
      {{"status"}, "--json"},     {{"ports"}, "--json"},          {{"flows"}, "transport of each hop"},
      {{"events"}, "--follow"},   {{"plan", "ranks"}, "--hosts"}, {{"env"}, "--docker"},
      {{"doctor"}, "--no-speed"},
  };
  for (auto [command, option] : commands) {
    command.emplace_back("--help");
    const Outcome outcome = cableway(command);
    EXPECT_EQ(outcome.exit_status, kDone);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(option), HasSubstr("--json"), HasSubstr("Examples:\n  "))) << command[0];
  }
  EXPECT_THAT(cableway({"--version"}).out, ::testing::MatchesRegex("cableway [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(ArgumentsTest, SettingsAreChecked) {
  Outcome outcome = cableway({"status"}, {"CABLEWAY_LOG=loud"});
  EXPECT_EQ(outcome.exit_status, kNotUsable);
  EXPECT_THAT(outcome.err, HasSubstr("CABLEWAY_LOG is \"loud\""));
  outcome = cableway({"status"}, {"CABLEWAY_NOED=n0"});
  EXPECT_EQ(outcome.exit_status, kNotUsable);
  EXPECT_THAT(outcome.err, HasSubstr("CABLEWAY_NOED"));
}

TEST_F(FileTest, OutputThatCannotBeWrittenIsAFailure) {
  const std::string path = file(to_topology_file(ring()));
  const char* const nothing = nullptr;
  std::ostream full(nullptr);
  std::ostringstream err;
  EXPECT_EQ(run({"topology", "--file", path}, {&nothing, "somewhere"}, full, err), kFailed);
  EXPECT_THAT(err.str(), HasSubstr("standard output"));
}

RelayStatus busy_relay() {
  RelayStatus relay;
  relay.circuits.push_back({0xab, "n0 -c0-> n1 -c1-> n2", 3, 1536, 2000});
  relay.circuits_open = 1;
  relay.circuits_opened = 7;
  relay.circuits_broken = 2;
  relay.setups_refused = 1;
  relay.chunks = 40;
  relay.bytes = 5'242'880;
  relay.memory = {.bytes = 1U << 30,
                  .max_circuits = 1024,
                  .floors = 1U << 19,
                  .leases = 64,
                  .leased = 1,
                  .max_leased = 3,
                  .leased_bytes = 8U << 20,
                  .waits = 2};
  relay.rdma_memory = {.registered = 32U << 20,
                       .floors = 64U << 10,
                       .leases = 511,
                       .leased = 15,
                       .max_leased = 30,
                       .leased_bytes = 15U << 16,
                       .waits = 4};
  return relay;
}

// Status of n1 of a ring in virtual time, after discovery.
const std::string& status_of_n1() {
  static const std::string status = [] {
    sim::NodeWorld world(1);
    world.build(4, routing::ring_pairs(4));
    world.start_all();
    EXPECT_TRUE(world.settle(std::chrono::seconds(2), [&] { return world.node(1).paths().reaches("n3"); }));
    return status_view(world.node(1), busy_relay(), FlowsStatus{2, 9, 1, {}, 0, {}}, 3, {});
  }();
  return status;
}

TEST(NodeTest, StatusAsText) {
  const FakeNode node([](const std::string& view) {
    return view == "status" ? ViewReply{"", status_of_n1()} : ViewReply{"no such view", ""};
  });
  const Outcome outcome = cableway({"status"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  const std::size_t end = outcome.out.find("\n\n");
  ASSERT_NE(end, std::string::npos) << outcome.out;
  const std::string head = outcome.out.substr(0, end + 1);
  EXPECT_THAT(outcome.out.substr(end + 2),
              ::testing::ContainsRegex("^neighbour +cable +port +its port +rate +us +state +known for\nn0 .* up "));
  EXPECT_EQ(
      std::regex_replace(head, std::regex("-, up for [^\n]*"), "-, up for some time"),
      "node n1 of cluster test\n"
      "  version     -, up for some time\n"
      "  topology    4 nodes, itself included; 2 cables of this node up\n"
      "  addresses   10.0.0.2, 10.0.0.5\n"
      "  relay port  7470\n"
      "  sessions    3, this command's included\n"
      "  flows       2 of processes here open, 9 opened, 1 failed\n"
      "  relayed     5.0 MiB in 40 chunks\n"
      "  circuits    1 open, 7 opened, 2 broken, 1 set-ups refused\n"
      "  memory      512.0 KiB in floors, 8.0 MiB in leases, of 1.0 GiB; room for 1024 circuits\n"
      "  leases      1 of 64 out, at most 3 at once, waited for 2 times\n"
      "  RDMA        32.0 MiB registered, 64.0 KiB of it as floors; leases: 15 of 511 out (960.0 KiB), at most 30 "
      "at once,\n"
      "              waited for 4 times\n");
}

TEST(NodeTest, StatusAsJsonIsTheNodesOwn) {
  const FakeNode node([](const std::string&) { return ViewReply{"", status_of_n1()}; });
  const Outcome outcome = cableway({"status", "--json"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_EQ(outcome.out, status_of_n1() + "\n");
}

TEST(NodeTest, TopologyAndRoutesComeFromTheNodeHere) {
  const FakeNode node([](const std::string& view) {
    return view == "topology" ? ViewReply{"", to_json_topology(ring())} : ViewReply{"no such view", ""};
  });
  EXPECT_THAT(cableway({"topology"}).out, StartsWith("ring: 4 nodes"));
  EXPECT_THAT(cableway({"routes"}, {"CABLEWAY_NODE=n2"}).out, StartsWith("routes of n1;"));
  EXPECT_THAT(cableway({"routes", "--node", "n0"}).out, StartsWith("routes of n0;"));
  EXPECT_EQ(cableway({"routes", "--node", "n9"}).exit_status, kFailed);
}

TEST(NodeTest, WithoutANodeTheErrorTellsHowToStartOne) {
  for (const char* view : {"topology", "routes", "status", "ports", "flows", "events"}) {
    const Outcome outcome = cableway({view});
    EXPECT_EQ(outcome.exit_status, kNoNode);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("no node runs in this network namespace"), HasSubstr(runtime_dir()),
                                   HasSubstr("systemctl start cablewayd")));
  }
}

TEST(NodeTest, ASilentNodeTimesOut) {
  boost::asio::io_context io;
  const stream_protocol::acceptor silent(io, host::abstract_endpoint(session_names().own));
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = cableway({"status"}, {}, milliseconds(200));
  EXPECT_EQ(outcome.exit_status, kNoAnswer);
  EXPECT_THAT(outcome.err, HasSubstr("did not answer within 0.2 s"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(200));
}

TEST(NodeTest, AClosedSessionIsReportedWithAdvice) {
  IoThread thread;
  stream_protocol::acceptor acceptor(thread.io(), host::abstract_endpoint(session_names().own));
  acceptor.async_accept([](boost::system::error_code, stream_protocol::socket) {});
  thread.start();
  const Outcome outcome = cableway({"status"});
  thread.stop();
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("closed the session immediately"), HasSubstr("see its log")));
}

TEST(NodeTest, ARefusalOfTheNodeIsForwarded) {
  const FakeNode node([](const std::string& view) { return ViewReply{"no view " + view + " today", ""}; });
  const Outcome outcome = cableway({"status"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("the node reports: no view status today"));
}

TEST(NodeTest, EnvAsksTheNodeWhetherPlugsAreSplit) {
  constexpr char kChannels[] = "export NCCL_NCHANNELS_PER_NET_PEER=4\n";
  for (const char* const second : {"p0", "p1"}) {
    const std::string ports = nlohmann::json({{"ports",
                                               {{{"interface", "eth1"}, {"plug", "p0"}},
                                                {{"interface", "eth2"}, {"plug", nullptr}},
                                                {{"interface", "eth3"}, {"plug", second}}}}})
                                  .dump();
    const FakeNode node([&](const std::string& view) {
      return view == "ports" ? ViewReply{"", ports} : ViewReply{"no such view", ""};
    });
    const std::string out = cableway({"env"}).out;
    EXPECT_EQ(out.find(kChannels) != std::string::npos, std::string(second) == "p0") << out;
  }
  // Without a node, what this host has.
  Around around;
  EXPECT_THAT(run_command({"env"}, around).out, Not(HasSubstr("PER_NET_PEER")));
  PortFacts port;
  port.plug = "p0";
  around.host.ports = {port, port};
  EXPECT_THAT(run_command({"env"}, around).out, HasSubstr(kChannels));
}

TEST(NodeTest, AMalformedStatusIsRefused) {
  for (const char* text : {"", "{", "[]", "{}", R"({"node": 1, "relayed": {}})"}) {
    const FakeNode node([&](const std::string&) { return ViewReply{"", text}; });
    const Outcome outcome = cableway({"status"});
    EXPECT_EQ(outcome.exit_status, kFailed) << text;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("the node's status cannot be parsed"));
  }
  const FakeNode node([](const std::string&) { return ViewReply{"", "42"}; });
  EXPECT_EQ(cableway({"status", "--json"}).exit_status, kFailed);
}

// Three events, each of a different severity.
ViewReply some_events() {
  nlohmann::json events = nlohmann::json::array();
  for (const char* code : {"SETUP_ARRIVED", "CABLE_UP", "CABLE_LOST"}) {
    const EventKind& kind = *find_event_kind(code);
    events.push_back({{"number", events.size() + 1},
                      {"time", "2026-03-01T12:34:56.789Z"},
                      {"age_ms", 0},
                      {"severity", std::string(name_of(kind.severity))},
                      {"code", code},
                      {"fields", nlohmann::json::object()},
                      {"text", std::string("text of ") + code}});
  }
  return {"", nlohmann::json{{"schema", 1}, {"node", "n1"}, {"incarnation", "1"}, {"events", events}}.dump()};
}

TEST(NodeTest, EventsAreFilteredBySeverityAndCode) {
  const FakeNode node([](const std::string&) { return some_events(); });
  const auto events = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"events", "--json"});
    return nlohmann::json::parse(cableway(options).out).at("events").size();
  };
  EXPECT_EQ(events({}), 2U);
  EXPECT_EQ(events({"--severity", "debug"}), 3U);
  EXPECT_EQ(events({"--severity", "warning"}), 1U);
  EXPECT_EQ(events({"--code", "CABLE_UP"}), 1U);
  EXPECT_EQ(events({"--code", "CABLE_UP", "--code", "CABLE_LOST"}), 2U);
  EXPECT_EQ(events({"--code", "SETUP_ARRIVED", "--severity", "debug"}), 1U);
  EXPECT_THAT(cableway({"events", "--severity", "warning"}).out,
              AllOf(HasSubstr("warning   CABLE_LOST  text of CABLE_LOST"), Not(HasSubstr("CABLE_UP"))));
}

TEST(NodeTest, UnknownSeveritiesAndCodesAreRefused) {
  const Outcome severity = cableway({"events", "--severity", "warn"});
  EXPECT_EQ(severity.exit_status, kNotUsable);
  EXPECT_THAT(severity.err,
              HasSubstr("expected debug, info, warning or error, found \"warn\" (did you mean \"warning\"?)"));
  const Outcome code = cableway({"events", "--code", "CABLES"});
  EXPECT_EQ(code.exit_status, kNotUsable);
  EXPECT_THAT(code.err, HasSubstr("expected a code of docs/findings.md, found \"CABLES\""));
}

TEST(NodeTest, AnswersOfTheWrongKindAreRefused) {
  for (const SessionMessage& wrong : {SessionMessage(PathReply{0, "none", {}}), SessionMessage(Refusal{"not you"})}) {
    const FakeNode node([&](const std::string&) { return wrong; });
    EXPECT_EQ(cableway({"status"}).exit_status, kFailed);
  }
  const FakeNode node([](const std::string&) { return ViewReply{"", "{\"nodes\": 1}"}; });
  const Outcome outcome = cableway({"topology"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err,
              HasSubstr("the node's topology cannot be parsed (the view: at /nodes: not an array; expected [..])"));
}

}  // namespace
}  // namespace cableway::cli
