// `cableway plan addresses` and the comparison with its expected topology, from arguments to output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/cableway/command_run.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class PlanAddressesTest : public ::testing::Test {
 protected:
  PlanAddressesTest()
      : folder_(std::filesystem::temp_directory_path() / ("plan_addresses." + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~PlanAddressesTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

  const std::filesystem::path folder_;
};

TEST_F(PlanAddressesTest, AsJson) {
  const Outcome outcome = run_command({"plan", "addresses", "--topology", "line:2", "--interfaces", "eth1", "--format",
                                       "ip", "--mtu", "1500", "--json"});
  ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
  nlohmann::json view = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(view["files"].size(), 4U);
  EXPECT_THAT(view["files"][0]["text"].get<std::string>(), HasSubstr("mtu 1500 up"));
  view.erase("files");
  EXPECT_EQ(view, nlohmann::json::parse(R"({"schema": 1, "format": "ip", "mtu": 1500, "tuner": null,
    "hosts": [{"node": "n0", "ports": [{"interface": "eth1", "plug": "p0", "address": "10.10.0.1/24", "cable": "c0",
                                        "neighbour": "n1", "neighbour_interface": "eth1"}]},
              {"node": "n1", "ports": [{"interface": "eth1", "plug": "p0", "address": "10.10.0.2/24", "cable": "c0",
                                        "neighbour": "n0", "neighbour_interface": "eth1"}]}],
    "cables": [{"from": {"node": "n0", "plug": "p0", "interfaces": ["eth1"]},
                "to": {"node": "n1", "plug": "p0", "interfaces": ["eth1"]}, "subnets": ["10.10.0.0/24"]}]})"));
}

TEST_F(PlanAddressesTest, NamesTheTunerThatFits) {
  const auto plan = [](const std::string& shape, const std::string& interfaces) {
    const Outcome outcome =
        run_command({"plan", "addresses", "--topology", shape, "--interfaces", interfaces, "--json"});
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const nlohmann::json ring = plan("ring:4", "eth1,eth2");
  EXPECT_EQ(ring["tuner"], "ring");
  EXPECT_THAT(ring["files"][0]["text"].get<std::string>(), HasSubstr("CABLEWAY_PORTS=eth1,eth2 CABLEWAY_TUNER=ring\n"));
  const nlohmann::json sparks = plan("ring:4", "spark");
  EXPECT_EQ(sparks["tuner"], "sparks");
  EXPECT_THAT(sparks["files"][0]["text"].get<std::string>(), Not(HasSubstr("CABLEWAY_TUNER"))) << "it is the default";
  EXPECT_EQ(plan("line:3", "spark")["tuner"], "line");
  EXPECT_EQ(plan("mesh:4", "a,b,c")["tuner"], "mesh");
  EXPECT_EQ(plan("star:4", "a,b,c")["tuner"], nullptr);
}

TEST_F(PlanAddressesTest, AFileWithoutInterfacesGetsThoseOfSparks) {
  const auto file = [&](const std::string& name, const std::string& from, const std::string& to) {
    return write(name, "[[node]]\nname = \"n0\"\n[[node]]\nname = \"n1\"\n[[cable]]\nends = [{node = \"n0\", " + from +
                           "address = \"10.0.0.1\"}, {node = \"n1\", " + to + "address = \"10.0.0.2\"}]\n");
  };
  const std::string graph = file("lab.toml", "", "");
  EXPECT_THAT(run_command({"plan", "addresses", "--topology", graph}).out, HasSubstr("\"enP2p1s0f0np0\":"));
  const std::string named = file("named.toml", "interface = \"e1\", ", "interface = \"e2\", ");
  EXPECT_THAT(run_command({"plan", "addresses", "--topology", named}).out,
              AllOf(HasSubstr("\"e1\":"), HasSubstr("\"e2\":")));
}

TEST_F(PlanAddressesTest, WritesFilesWithWhichTopologyAndDoctorCompare) {
  const std::string plan = path("plan");
  const Outcome written = run_command({"plan", "addresses", "--topology", "ring:3", "--output", plan});
  EXPECT_EQ(written.exit_status, 0) << written.err;
  EXPECT_THAT(written.out, AllOf(HasSubstr(" n2.yaml n2.conf cabling.txt expected.toml addresses.json\n"),
                                 HasSubstr("plug p0 of n2 to plug p1 of n0\n")));
  const std::string expected = plan + "/expected.toml";
  const std::string found = write("found.json", run_command({"topology", "--file", expected, "--json"}).out);
  EXPECT_THAT(run_command({"topology", "--file", found, "--expect", expected}).out, HasSubstr("): no difference\n"));
  const Outcome view = run_command({"topology", "--file", found, "--expect", expected, "--json"});
  EXPECT_EQ(nlohmann::json::parse(view.out)["expected"]["differences"], nlohmann::json::array());
  EXPECT_TRUE(nlohmann::json::parse(run_command({"topology", "--file", found, "--json"}).out)["expected"].is_null());

  const std::string line = write("line.toml", run_command({"topology", "--file", "line:3", "--toml"}).out);
  EXPECT_THAT(
      run_command({"topology", "--file", line, "--expect", expected}).out,
      AllOf(HasSubstr("only the numbers of cables"), HasSubstr("there are 0 cables between n0 and n2; expected 1")));
  EXPECT_THAT(run_command({"topology", "--file", line, "--expect", expected, "--svg"}).out,
              HasSubstr(">missing</text>"));
  EXPECT_THAT(run_command({"doctor", "--expect", path("none.toml")}).out, HasSubstr("expected topology: "));

  EXPECT_EQ(run_command({"plan", "addresses", "--topology", "ring:3", "--output", plan}).exit_status, 0);
  const Outcome other = run_command({"plan", "addresses", "--topology", "ring:4", "--output", plan});
  EXPECT_EQ(other.exit_status, 1);
  EXPECT_THAT(other.err, HasSubstr("exists with other content"));
  EXPECT_EQ(run_command({"plan", "addresses", "--topology", "ring:4", "--output", plan, "--force"}).exit_status, 0);
}

TEST_F(PlanAddressesTest, TheSettingIsComparedWithTheNodesTopologyOnly) {
  const std::string ring = write("ring.toml", run_command({"topology", "--file", "ring:3", "--toml"}).out);
  Around around;
  around.environment = {"CABLEWAY_EXPECT=" + ring};
  EXPECT_THAT(run_command({"topology", "--file", "ring:3"}, around).out, Not(HasSubstr("expected (")));

  const std::string answer = run_command({"topology", "--file", "line:3", "--json"}).out;
  const FakeNode node([&](const std::string&) { return ViewReply{"", answer}; });
  EXPECT_THAT(run_command({"topology"}, around).out, HasSubstr("there is no cable from to-n2 of n0 to to-n0 of n2\n"));
  around.environment = {"CABLEWAY_EXPECT=" + path("none.toml")};
  const Outcome unreadable = run_command({"topology"}, around);
  EXPECT_EQ(unreadable.exit_status, 0);
  EXPECT_THAT(unreadable.err, HasSubstr("expected topology: "));
  EXPECT_EQ(run_command({"topology", "--expect", path("none.toml")}).exit_status, 1);
}

}  // namespace
}  // namespace cableway::cli
