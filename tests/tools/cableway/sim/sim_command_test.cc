// `cableway sim` from arguments to output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/topology_io/json_topology.h"
#include "tests/routing/sample_topologies.h"
#include "tests/tools/cableway/command_run.h"
#include "tools/cableway/command/exit_status.h"
#include "tools/cableway/command_line.h"

namespace cableway::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

Outcome sim(std::vector<std::string> arguments, Around around = {}) {
  arguments.insert(arguments.begin(), "sim");
  return run_command(arguments, std::move(around));
}

class SimFileTest : public ::testing::Test {
 protected:
  SimFileTest() { std::filesystem::create_directory(folder_); }
  ~SimFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string text_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

 private:
  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / (runtime_dir() + ".sim");
};

TEST(SimCommand, PrintsTimeBoundAndTheHottestCable) {
  const Outcome outcome = sim({"--topology", "ring:4", "--workload", "all_reduce:16MiB"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("topology   ring:4: ring, 4 nodes, 4 cables\n"), HasSubstr("\nbusbw "),
                                 HasSubstr("the lower bound of the cables"), HasSubstr("of what the cables allow"),
                                 HasSubstr("\nhottest "), HasSubstr("\ncable  a   b ")));
  EXPECT_EQ(outcome.err, "");
}

TEST(SimCommand, JsonHasTheDocumentedFields) {
  const Outcome outcome = sim({"--topology", "ring:4", "--workload", "all_to_all:16MiB", "--json", "--repeat", "3"});
  ASSERT_EQ(outcome.exit_status, kDone) << outcome.err;
  const json view = json::parse(outcome.out);
  EXPECT_EQ(outcome.out.find("{\n  \"schema\": 1,"), 0U);
  EXPECT_EQ(view["command"], "cableway sim --topology ring:4 --workload all_to_all:16MiB --json --repeat 3");
  EXPECT_EQ(view["topology"], "ring:4");
  EXPECT_EQ(view["size_bytes"], 16 << 20);
  EXPECT_EQ(view["groups"][0]["operations_s"].size(), 3U);
  EXPECT_NEAR(view["algbw_GBps"], 16.0 * (1 << 20) / view["time_s"].get<double>() / 1e9, 1e-9);
  EXPECT_NEAR(view["busbw_GBps"], view["algbw_GBps"].get<double>() * 3 / 4, 1e-9);
  EXPECT_NEAR(view["ratio"], view["bound_time_s"].get<double>() / view["time_s"].get<double>(), 1e-9);
  EXPECT_GT(view["ratio"], 0.5);
  EXPECT_LT(view["ratio"], 1.02);
  ASSERT_EQ(view["cables"].size(), 4U);
  EXPECT_EQ(view["cables"][0]["directions"][0]["from"], "n0");
  EXPECT_GT(view["cables"][0]["directions"][1]["utilisation"], 0);
  EXPECT_FALSE(view["relays"].empty());
  EXPECT_TRUE(view["ended_early"].is_null());
  EXPECT_TRUE(view["on_cables_left"].is_null());
}

// The cables' bound also holds for the mean of overlapping operations.
TEST(SimCommand, NothingIsFasterThanTheCablesAllow) {
  for (const char* level : {"chunk", "flow"}) {
    for (const char* repeat : {"1", "20"}) {
      for (const char* workload : {"all_reduce:1MiB", "all_reduce:1MiB,tree", "all_gather:1MiB", "reduce_scatter:1MiB",
                                   "broadcast:1MiB", "reduce:1MiB", "all_to_all:1MiB", "sendrecv:1MiB",
                                   "sendrecv:1MiB,0-2", "pingpong:1MiB,0-2", "pipeline:1MiB,1", "pipeline:1MiB,4"}) {
        const Outcome outcome = sim({"--topology", "line:4", "--workload", workload, "--level", level, "--repeat",
                                     repeat, "--mtu", "9000", "--json"});
        ASSERT_EQ(outcome.exit_status, kDone) << outcome.err;
        EXPECT_LE(json::parse(outcome.out)["ratio"], 1) << workload << " " << level << " " << repeat;
      }
    }
  }
}

TEST(SimCommand, JobsOfMoreThanADayAreRefused) {
  const Outcome outcome = sim({"--topology", "line:2@1Mbit/s", "--workload", "sendrecv:12GiB,0-1"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("takes more than 24 h on these cables; expected less data"));
}

TEST_F(SimFileTest, AReportDoesNotOverwriteAnInput) {
  const std::string text = R"({"nodes": [{"name": "a"}, {"name": "b"}], "cables": [{"ends": [
      {"node": "a", "address": "10.0.0.1"}, {"node": "b", "address": "10.0.0.2"}]}]})";
  const std::string topology = file("in.json", text);
  const Outcome outcome = sim({"--topology", topology, "--workload", "sendrecv:1MiB,0-1", "--html", topology});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("is an input; expected another file"));
  EXPECT_EQ(text_of("in.json"), text);
}

TEST_F(SimFileTest, APipeWithoutAPeerIsRefusedWithoutWaiting) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = sim(arguments);
    EXPECT_EQ(outcome.exit_status, kFailed);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(pipe), HasSubstr("is a pipe; expected a regular file")));
  };
  refused({"--topology", pipe, "--workload", "sendrecv:1MiB,0-1"});
  refused({"--topology", "ring:4", "--mix", pipe});
  refused({"--compare", pipe, pipe});
  refused({"--topology", "ring:4", "--workload", "sendrecv:1MiB,0-1", "--html", pipe});
}

// Pipes as a shell passes them for <(..) and >(..).
TEST_F(SimFileTest, AnInheritedPipeIsReadAndWritten) {
  int mix[2];
  int page[2];
  ASSERT_EQ(::pipe(mix), 0);
  ASSERT_EQ(::pipe(page), 0);
  const std::string text = "[[group]]\nranks = [0, 1]\nworkload = \"sendrecv:1MiB,0-1\"\n";
  ASSERT_EQ(::write(mix[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(mix[1]);
  const auto name = [](int descriptor) { return "/dev/fd/" + std::to_string(descriptor); };
  std::string got;
  std::thread reader([&] {
    char some[4096];
    for (ssize_t size = 0; (size = ::read(page[0], some, sizeof some)) > 0;) {
      got.append(some, static_cast<std::size_t>(size));
    }
  });
  const Outcome outcome = sim({"--topology", "ring:4", "--mix", name(mix[0]), "--html", name(page[1])});
  ::close(page[1]);
  reader.join();
  ::close(page[0]);
  ::close(mix[0]);
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(got, AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("</html>")));
}

TEST(SimCommand, ASharedPortIsNamedIfItIsTheHottest) {
  const Outcome outcome = sim({"--topology", "switch:4", "--workload", "all_to_all:64MiB"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(ContainsRegex("\nhottest    n[0-3] [a-z0-9-]+, (out|in): 9[0-9]\\.[0-9] %, which 3 cables share\n"),
                    HasSubstr("\nshared ")));
  const json view = json::parse(sim({"--topology", "switch:4", "--workload", "all_to_all:64MiB", "--json"}).out);
  ASSERT_EQ(view["shared"].size(), 4U);
  EXPECT_EQ(view["shared"][0]["kind"], "connector");
  EXPECT_EQ(view["shared"][0]["cables"].size(), 3U);
  EXPECT_EQ(view["shared"][0]["directions"][0]["from"], "n0");
  EXPECT_TRUE(view["shared"][0]["directions"][0]["to"].is_null());
  EXPECT_LT(view["hottest"]["utilisation"], 0.4);
  EXPECT_GT(view["hottest_shared"]["utilisation"], 0.9);
  const json flow =
      json::parse(sim({"--topology", "switch:4", "--workload", "all_to_all:64MiB", "--json", "--level", "flow"}).out);
  EXPECT_NEAR(flow["hottest_shared"]["utilisation"], 1, 0.01);
}

TEST(SimCommand, FlowLevelIsForLargeSystems) {
  const Outcome outcome =
      sim({"--topology", "torus:16x16", "--workload", "all_reduce:1GiB", "--level", "flow", "--json"});
  ASSERT_EQ(outcome.exit_status, kDone) << outcome.err;
  const json view = json::parse(outcome.out);
  EXPECT_EQ(view["level"], "flow");
  EXPECT_GT(view["time_s"], 0);
  EXPECT_EQ(view["chunk_crossings"], 0);
}

TEST(SimCommand, AJobTooLargeForChunkLevelIsRefused) {
  const Outcome outcome = sim({"--topology", "ring:64", "--workload", "all_reduce:1024GiB"});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("too large"), HasSubstr("--level flow")));
}

TEST(SimCommand, InvalidOptionsAreNamed) {
  const auto refused = [](std::vector<std::string> arguments, int status, const std::string& what) {
    const Outcome outcome = sim(std::move(arguments));
    EXPECT_EQ(outcome.exit_status, status) << what;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(what));
  };
  refused({"--topology", "ring:4"}, kNotUsable, "expected --workload");
  refused({"--topology", "ring:4", "--workload", "all_reduce"}, kNotUsable, "workload \"all_reduce\"");
  refused({"--topology", "ring:4", "--workload", "all_reduce:1MiB", "--channels", "0"}, kNotUsable, "--channels");
  refused({"--topology", "ring:4", "--workload", "all_reduce:1MiB", "--mix", "x"}, kNotUsable, "--mix");
  refused({"--topology", "ring:4", "--what-if", "--workload", "all_reduce:1MiB"}, kNotUsable, "--what-if");
  refused({"--compare", "a.json"}, kNotUsable, "--compare");
  refused({"--compare", "a.json", ""}, kNotUsable, "--compare");
  for (const std::vector<std::string>& ignored :
       std::vector<std::vector<std::string>>{{"--topology", "ring:4"},
                                             {"--file", "ring:4"},
                                             {"--all"},
                                             {"--progress"},
                                             {"--channels", "1"},
                                             {"--repeat", "1"},
                                             {"--level", "flow"},
                                             {"--chunk", "64KiB"},
                                             {"--mtu", "9000"},
                                             {"--relay-time", "1"},
                                             {"--leases", "1"},
                                             {"--workload", "all_reduce:1MiB"},
                                             {"--what-if"}}) {
    std::vector<std::string> arguments = {"--compare", "a.json", "b.json"};
    arguments.insert(arguments.end(), ignored.begin(), ignored.end());
    refused(arguments, kNotUsable, "--compare");
  }
  refused({"--topology", "ring:4", "--what-if", "--channels", "4"}, kNotUsable, "--what-if");
  refused({"--topology", "ring:4", "--workload", "sendrecv:1MiB,0-9"}, kNotUsable, "rank 9");
  refused({"--topology", "ring:4", "--workload", "all_reduce:1MiB", "--rank-order", "0"}, kNotUsable, "two ranks");
  refused({"--topology", "ring:4", "--workload", "all_reduce:1MiB", "--level", "bit"}, kNotUsable, "bit");
  refused({"--topology", "rung:4", "--workload", "all_reduce:1MiB"}, kFailed, "rung");
  refused({"--topology", "ring:4", "--workload", "all_reduce:1MiB", "--rank-order", "0,9"}, kFailed, "no node \"9\"");
  refused({"--topology", "ring:4", "--workload", "all_reduce:1MiB", "--fail", "cable:0-2@1s"}, kFailed,
          "no cable \"0-2\"");
  refused({"--topology", "ring:4", "--mix", "/nowhere/mix.toml"}, kFailed, "/nowhere/mix.toml");
  refused({"--topology", "ring:4", "--workload", "all_reduce:1MiB", "--html", "/nowhere/r.html"}, kFailed,
          "/nowhere/r.html");
  refused({"--compare", "/nowhere/a.json", "/nowhere/b.json"}, kFailed, "/nowhere/a.json");
}

TEST(SimCommand, WithoutATopologyItQueriesTheNode) {
  const Outcome outcome = sim({"--workload", "all_reduce:1MiB"});
  EXPECT_EQ(outcome.exit_status, kNoNode);
}

TEST(SimCommand, ShowsProgressOnATerminal) {
  const std::vector<std::string> arguments = {"--topology", "ring:8", "--workload", "all_reduce:64MiB"};
  Around around;
  around.progress_patience = std::chrono::milliseconds(0);
  EXPECT_EQ(sim(arguments, around).err, "") << "not a terminal";
  around.err_is_terminal = true;
  EXPECT_THAT(sim(arguments, around).err, HasSubstr("\rcableway: simulating, "));
  around.err_is_terminal = false;
  std::vector<std::string> with_progress = arguments;
  with_progress.emplace_back("--progress");
  EXPECT_THAT(sim(with_progress, around).err, HasSubstr("\rcableway: simulating, "));
  around.progress_patience = std::chrono::milliseconds(100'000);
  EXPECT_EQ(sim(with_progress, around).err, "");
}

TEST_F(SimFileTest, AMixComesFromAFile) {
  const std::string mix = file("mix.toml",
                               "[[group]]\nname = \"dp\"\nranks = [0, 1, 2, 3]\nworkload = \"all_reduce:4MiB\"\n"
                               "[[group]]\nname = \"tp\"\nranks = [0, 2]\nworkload = \"all_gather:4MiB\"\n"
                               "repeat = 2\nafter = [\"dp\"]\n");
  const Outcome outcome = sim({"--topology", "ring:4", "--mix", mix});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\ndp "), HasSubstr("\ntp "), HasSubstr("groups in turn"), Not(HasSubstr("busbw  "))));
  const json view = json::parse(sim({"--topology", "ring:4", "--mix", mix, "--json"}).out);
  EXPECT_TRUE(view["busbw_GBps"].is_null());
  EXPECT_EQ(view["groups"][1]["name"], "tp");
  EXPECT_LE(view["ratio"], 1.0);
}

TEST_F(SimFileTest, AnInvalidMixIsReportedWithItsLine) {
  const Outcome outcome = sim(
      {"--topology", "ring:4", "--mix", file("mix.toml", "[[group]]\nranks = [0]\nworkload = \"all_reduce:4MiB\"\n")});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("mix.toml:"));
}

TEST_F(SimFileTest, AMixWithUnknownRanksIsInvalid) {
  const std::string mix = file("mix.toml", "[[group]]\nranks = [0, 9]\nworkload = \"all_reduce:4MiB\"\n");
  const Outcome outcome = sim({"--topology", "ring:4", "--mix", mix});
  EXPECT_EQ(outcome.exit_status, kFailed);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(mix), HasSubstr("names rank 9, but the job has 4 ranks")));
}

TEST_F(SimFileTest, WritesAReport) {
  const Outcome outcome = sim({"--topology", "ring:4", "--workload", "all_to_all:4MiB", "--html", path("report.html")});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(text_of("report.html"), AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("all_to_all:4MiB on ring:4"),
                                            HasSubstr("class=\"timeline\"")));
}

TEST_F(SimFileTest, ComparesTwoResults) {
  const auto result = [&](const char* name, const char* topology) {
    return file(name, sim({"--topology", topology, "--workload", "all_reduce:16MiB", "--json"}).out);
  };
  const std::string a = result("a.json", "ring:4@10G");
  const std::string b = result("b.json", "ring:4@20G");
  const Outcome text = sim({"--compare", a, b});
  EXPECT_EQ(text.exit_status, kDone) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("\"all_reduce:16MiB\" on \"ring:4@10G\""), HasSubstr("B against A")));
  const json view = json::parse(sim({"--compare", a, b, "--json"}).out);
  EXPECT_EQ(view["schema"], 1);
  EXPECT_NEAR(view["change"]["time"], -0.5, 0.05);
  EXPECT_NEAR(view["change"]["busbw"], 1, 0.1);
}

TEST_F(SimFileTest, InvalidResultsAreNotCompared) {
  const auto refusal = [&](const std::string& text) {
    const std::string name = file("bad.json", text);
    const Outcome outcome = sim({"--compare", name, name});
    EXPECT_EQ(outcome.exit_status, kFailed);
    return outcome.err;
  };
  for (const std::string& text : {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
                                  std::string("{\"topology\": 3}"), std::string(100'000, '[')}) {
    EXPECT_THAT(refusal(text), AllOf(HasSubstr("bad.json"), HasSubstr("expected")));
  }
}

TEST_F(SimFileTest, InvalidResultsAreReportedWithTheMember) {
  json good = json::parse(sim({"--topology", "ring:4", "--workload", "all_reduce:1MiB", "--json"}).out);
  const auto refusal = [&](const json& result) {
    const Outcome outcome = sim({"--compare", file("bad.json", result.dump()), path("bad.json")});
    EXPECT_EQ(outcome.exit_status, kFailed);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(path("bad.json")), Not(HasSubstr("json.exception")),
                                   HasSubstr("; expected what cableway sim --json prints")));
    return outcome.err;
  };
  for (const char* member : {"topology", "workload", "command", "time_s", "ratio", "hottest"}) {
    json without = good;
    without.erase(member);
    EXPECT_THAT(refusal(without), HasSubstr("member \"" + std::string(member) + "\" is missing"));
  }
  json other = good;
  other["time_s"] = "soon";
  EXPECT_THAT(refusal(other), HasSubstr("member \"time_s\" is a text, not a number or null"));
  other = good;
  other["topology"] = nullptr;
  EXPECT_THAT(refusal(other), HasSubstr("member \"topology\" is null, not a text"));
  other = good;
  other["hottest"]["cable"] = json::array();
  EXPECT_THAT(refusal(other), HasSubstr("member \"hottest.cable\" is a list, not a text"));
  other = good;
  other["hottest"] = 3;
  EXPECT_THAT(refusal(other), HasSubstr("member \"hottest\" is a number, not an object or null"));
  other = good;
  other["schema"] = 2;
  EXPECT_THAT(refusal(other), HasSubstr("its schema is 2; expected 1"));
  EXPECT_THAT(refusal(json::array({1})), HasSubstr("it holds a list, not an object"));
  EXPECT_THAT(refusal(json::parse(sim({"--topology", "ring:4", "--what-if", "--json"}).out)),
              HasSubstr("it is a result of cableway sim --what-if"));
  const std::string a = file("a.json", good.dump());
  EXPECT_THAT(refusal(json::parse(sim({"--compare", a, a, "--json"}).out)), HasSubstr("it is a comparison"));
}

TEST_F(SimFileTest, TheHottestSharedPortIsCompared) {
  const std::string a = file("a.json", sim({"--topology", "switch:4", "--workload", "all_to_all:16MiB", "--json"}).out);
  json old = json::parse(text_of("a.json"));
  old.erase("hottest_shared");
  old.erase("shared");
  const Outcome outcome = sim({"--compare", a, file("b.json", old.dump())});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("\nwhere +n[0-3] [a-z0-9-]+, (out|in) +[^ ]+ n[0-3] -> n[0-3]\n"));
}

// A node's topology may be in parts.
TEST(SimWhatIf, PairsCutOffBeforeAreReportedAndNotCounted) {
  const routing::Topology parts = routing::sample_topology(5, {{0, 1}, {1, 2}, {2, 0}, {3, 4}});
  const FakeNode node([&](const std::string&) { return ViewReply{"", routing::to_json_topology(parts)}; });
  const Outcome outcome = sim({"--what-if"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("\ncut off   the cluster is in 2 parts already: 12 of 20 ordered pairs of nodes have no path"),
            HasSubstr("one cable fails: 4 cases, 1 cuts nodes off"),
            HasSubstr("one node fails: 5 cases, 0 cut nodes off")));
  const json view = json::parse(sim({"--what-if", "--json"}).out);
  EXPECT_EQ(view["parts"], 2);
  EXPECT_EQ(view["intact"]["pairs_cut"], 12);
  std::vector<int> cut;
  for (const json& each : view["one_cable"]) cut.push_back(each["pairs_cut"]);
  EXPECT_THAT(cut, UnorderedElementsAre(0, 0, 0, 2));
  EXPECT_EQ(view["added_cables"][0]["pairs_joined"], 12);
  EXPECT_THAT(outcome.out, HasSubstr("pairs joined"));
}

TEST(SimWhatIf, NamesSinglePointsOfFailureAndTheBestPlaceForACable) {
  const Outcome outcome = sim({"--topology", "rings:4", "--what-if"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("single points of failure: node n0, node n4, cable "),
                                 HasSubstr("one cable fails: 9 cases, 1 cuts nodes off"),
                                 HasSubstr("two cables fail: 36 cases"), HasSubstr("\none more cable of 10 Gbit/s")));
}

// Two flows for each pair, as many as a simulation has channels: otherwise half of what split plugs carry.
TEST(SimWhatIf, AgreesWithTheSimulationOnSplitPlugs) {
  for (const int hosts : {2, 4}) {
    const std::string spec = absl::StrCat("sparks:", hosts);
    const json view = json::parse(sim({"--topology", spec, "--what-if", "--json"}).out);
    const json& shares = view["intact"];
    const json run = json::parse(
        sim({"--topology", spec, "--mtu", "9000", "--workload", "all_to_all:256MiB", "--multipath", "off", "--json"})
            .out);
    EXPECT_EQ(view["flows_per_pair"], run["channels"]);
    const double pair_GBps = run["busbw_GBps"].get<double>() / (hosts - 1);
    EXPECT_NEAR(shares["slowest_pair_GBps"].get<double>() / pair_GBps, 1, 0.03) << spec;
    EXPECT_NEAR(shares["total_GBps"].get<double>() / (hosts * (hosts - 1) * pair_GBps), 1, 0.03) << spec;
  }
  EXPECT_THAT(sim({"--topology", "sparks:2", "--what-if"}).out,
              HasSubstr("\nintact    all_to_all, 2 flows for each pair of nodes: slowest pair 24.57 GB/s, "));
}

// Its hosts have no further PCIe link for it.
TEST(SimWhatIf, ReportsThatNoCableWouldHelp) {
  EXPECT_THAT(
      sim({"--topology", "sparks:4", "--what-if"}).out,
      AllOf(
          HasSubstr("\none more cable of 196.6 Gbit/s: none of 2 places for it would help an all_to_all; best first\n"),
          ContainsRegex("\nn0 - n2 +0 +6.144 GB/s +\\+0.0 % +73.72 GB/s +\\+0.0 %\n"),
          HasSubstr("\nassumed behind the PCIe links that its hosts have")));
  const json view = json::parse(sim({"--topology", "sparks:4", "--what-if", "--json"}).out);
  EXPECT_EQ(view["added_cable_helps"], false);
  EXPECT_EQ(view["added_cables"][0]["functions"], 2);
  EXPECT_EQ(view["added_cables"][0]["behind_roots"], true);
  const json ring = json::parse(sim({"--topology", "ring:4", "--what-if", "--json"}).out);
  EXPECT_EQ(ring["added_cable_helps"], true);
  EXPECT_EQ(ring["added_cables"][0]["functions"], 1);
  EXPECT_EQ(ring["added_cables"][0]["behind_roots"], false);
  EXPECT_THAT(sim({"--topology", "ring:4", "--what-if"}).out, Not(HasSubstr("assumed behind")));
}

TEST(SimWhatIf, NamesWhatCablesShareIfItIsTheHottest) {
  EXPECT_THAT(sim({"--topology", "switch:4", "--what-if"}).out, HasSubstr(", hottest n0 to-s0, out\n"));
  const json view = json::parse(sim({"--topology", "switch:3", "--what-if", "--json"}).out);
  EXPECT_EQ(view["intact"]["hottest"]["kind"], "connector");
  EXPECT_EQ(view["intact"]["hottest"]["name"], "n0 to-s0");
  EXPECT_EQ(view["intact"]["hottest"]["from"], "n0");
  const json ring = json::parse(sim({"--topology", "ring:4", "--what-if", "--json"}).out);
  EXPECT_EQ(ring["intact"]["hottest"]["kind"], "cable");
  EXPECT_EQ(ring["intact"]["hottest"]["name"], ring["intact"]["hottest"]["cable"]);

  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2)};
  cables[0].b.root = cables[1].a.root = "r0";
  std::vector<routing::Node> nodes = routing::sample_nodes(3);
  nodes[1].roots = {{"r0", 12'000}};
  const routing::Topology line = routing::make_topology(nodes, cables);
  const FakeNode node([&](const std::string&) { return ViewReply{"", routing::to_json_topology(line)}; });
  EXPECT_THAT(sim({"--what-if"}).out, ContainsRegex(", hottest n1 root r0, (in|out)\n"));
  EXPECT_EQ(json::parse(sim({"--what-if", "--json"}).out)["intact"]["hottest"]["kind"], "root");
}

TEST(SimWhatIf, AsJson) {
  const json view = json::parse(sim({"--topology", "ring:6", "--what-if", "--json"}).out);
  EXPECT_EQ(view["schema"], 1);
  EXPECT_EQ(view["flows_per_pair"], 2);
  EXPECT_TRUE(view["single_points_of_failure"].empty());
  EXPECT_EQ(view["one_cable"].size(), 6U);
  EXPECT_EQ(view["two_cables"].size(), 15U);
  EXPECT_EQ(view["one_node"].size(), 6U);
  EXPECT_EQ(view["intact"]["pairs"], 30);
  for (const json& each : view["one_cable"]) {
    EXPECT_EQ(each["pairs_cut"], 0);
    EXPECT_LT(each["slowest_pair_GBps"], view["intact"]["slowest_pair_GBps"]);
  }
  for (const json& each : view["two_cables"]) EXPECT_GT(each["pairs_cut"], 0) << "a ring without two cables is in two";
  EXPECT_GT(view["added_cables"][0]["slowest_pair_GBps"], view["intact"]["slowest_pair_GBps"]);
}

}  // namespace
}  // namespace cableway::cli
