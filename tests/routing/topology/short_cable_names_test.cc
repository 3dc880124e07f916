#include "routing/topology/short_cable_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "routing/topology/cable_name.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Nodes of these names; cables between them, with the names that nodes discover.
class Discovered {
 public:
  explicit Discovered(const std::vector<std::string>& names) {
    for (const std::string& name : names) nodes_.push_back({.name = name});
  }

  Discovered& cable(std::uint32_t a, const std::string& a_port, std::uint32_t b, const std::string& b_port,
                    const std::string& own_name = "") {
    Cable cable = sample_cable(static_cast<std::uint32_t>(cables_.size()), a, b);
    cable.a.interface = a_port;
    cable.b.interface = b_port;
    cable.name = own_name.empty() ? discovered_cable_name(nodes_[a].name, a_port, nodes_[b].name, b_port) : own_name;
    cables_.push_back(cable);
    return *this;
  }
  Discovered& drain_last() {
    cables_.back().draining = true;
    return *this;
  }

  Topology make() const { return make_topology(nodes_, cables_); }

 private:
  std::vector<Node> nodes_;
  std::vector<Cable> cables_;
};

std::vector<std::string> short_names(const Topology& topology) {
  const ShortCableNames names(topology);
  std::vector<std::string> all;
  for (const Cable& cable : topology.plugged_cables()) all.push_back(names.of(cable));
  return all;
}

TEST(ShortCableNames, AreTheTwoNodes) {
  const Topology topology =
      Discovered({"n0", "n1", "n2"}).cable(0, "eth1", 1, "eth0").cable(2, "e.1", 1, "eth1").make();
  EXPECT_THAT(short_names(topology), ElementsAre("n0-n1", "n1-n2"));
  const ShortCableNames names(topology);
  EXPECT_EQ(names.of_name("n1:eth1:n2:e.1"), "n1-n2");
  EXPECT_EQ(names.of_name("gone"), "gone");
  EXPECT_EQ(names.with_full(topology.plugged_cables()[0]), "n0-n1 (n0.eth1-n1.eth0)");
}

TEST(ShortCableNames, ReplaceFullNamesInTexts) {
  const Topology topology =
      Discovered({"n0", "n1", "n2"}).cable(0, "eth1", 1, "eth0").cable(2, "e.1", 1, "eth1").make();
  const ShortCableNames names(topology);
  for (const auto& [text, shown] : std::vector<std::pair<std::string, std::string>>{
           {"cable n0.eth1-n1.eth0 loses 5 %", "cable n0-n1 loses 5 %"},
           {"n0 -n0.eth1-n1.eth0-> n1 -n1:eth1:n2:e.1-> n2", "n0 -n0-n1-> n1 -n1-n2-> n2"},
           {"cable n1:eth1:n2:e.1: lost (\"n0.eth1-n1.eth0\"), n0.eth1-n1.eth0.",
            "cable n1-n2: lost (\"n0-n1\"), n0-n1."},
           {"n0.eth1-n1.eth01 xn0.eth1-n1.eth0 n0.eth1", "n0.eth1-n1.eth01 xn0.eth1-n1.eth0 n0.eth1"},
           {" - :\n ", " - :\n "},
           {"", ""}}) {
    EXPECT_EQ(names.in_text(text), shown);
  }
}

TEST(ShortCableNames, OfParallelCablesHaveNumbersThatADrainDoesNotChange) {
  for (const bool drains : {false, true}) {
    Discovered plan({"n0", "n1"});
    plan.cable(0, "eth2", 1, "eth2").cable(0, "eth10", 1, "eth10").cable(0, "eth1", 1, "eth1");
    if (drains) plan.drain_last();
    const Topology topology = plan.make();
    const ShortCableNames names(topology);
    EXPECT_EQ(names.of_name("n0.eth1-n1.eth1"), "n0-n1#1");
    EXPECT_EQ(names.of_name("n0.eth2-n1.eth2"), "n0-n1#2");
    EXPECT_EQ(names.of_name("n0.eth10-n1.eth10"), "n0-n1#3");
  }
}

TEST(ShortCableNames, KeepNamesThatSomebodyChose) {
  const Topology topology = Discovered({"n0", "n1"}).cable(0, "eth1", 1, "eth1", "uplink").make();
  EXPECT_THAT(short_names(topology), ElementsAre("uplink"));
  EXPECT_EQ((*ShortCableNames(topology).find("n1-n0"))->name, "uplink");
}

TEST(ShortCableNames, AreFullWhereNodesOrCablesCouldBeMeant) {
  // "a-b-c" is a-b and c, or a and b-c.
  EXPECT_THAT(short_names(Discovered({"a", "a-b", "b-c", "c"}).cable(0, "e1", 2, "e1").cable(1, "e1", 3, "e1").make()),
              ElementsAre("a.e1-b-c.e1", "a-b.e1-c.e1"));
  // Hyphens alone do no harm.
  EXPECT_THAT(short_names(Discovered({"spark-0", "spark-1"}).cable(0, "e1", 1, "e1").make()),
              ElementsAre("spark-0-spark-1"));
  // A node of that name, and another cable of that name.
  EXPECT_THAT(short_names(Discovered({"n0", "n1", "n0-n1"}).cable(0, "e1", 1, "e1").cable(1, "e2", 2, "e2").make()),
              ElementsAre("n0.e1-n1.e1", "n0-n1-n1"));
  EXPECT_THAT(
      short_names(Discovered({"n0", "n1", "n2"}).cable(0, "e1", 1, "e1").cable(1, "e2", 2, "e2", "n0-n1").make()),
      ::testing::UnorderedElementsAre("n0.e1-n1.e1", "n0-n1"));
}

TEST(ShortCableNames, AreFoundInFullOrShort) {
  const Topology topology = Discovered({"n0", "n1", "n2"})
                                .cable(0, "eth1", 1, "eth1")
                                .cable(0, "eth2", 1, "eth2")
                                .cable(1, "eth3", 2, "eth1")
                                .make();
  const ShortCableNames names(topology);
  for (const auto& [name, full] :
       std::vector<std::pair<std::string, std::string>>{{"n0.eth2-n1.eth2", "n0.eth2-n1.eth2"},
                                                        {"n0-n1#2", "n0.eth2-n1.eth2"},
                                                        {"n1-n0#1", "n0.eth1-n1.eth1"},
                                                        {"n1-n2", "n1.eth3-n2.eth1"},
                                                        {"n2-n1", "n1.eth3-n2.eth1"}}) {
    const auto found = names.find(name);
    ASSERT_TRUE(found.ok()) << name << ": " << found.status();
    EXPECT_EQ((*found)->name, full) << name;
  }
  const auto several = names.find("n0-n1");
  EXPECT_EQ(several.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(several.status().message()),
              HasSubstr("\"n0-n1\" names 2 cables: name one of n0-n1#1 (n0.eth1-n1.eth1), n0-n1#2 (n0.eth2-n1.eth2)"));
  for (const char* const wrong : {"n0-n2", "n0-n1#3", "n0-n1#0", "n0-n1#", "n0-n1#x", "n1-n2#1", "", "-", "n0", "#1"}) {
    EXPECT_EQ(names.find(wrong).status().code(), absl::StatusCode::kNotFound) << wrong;
  }
}

TEST(ShortCableNames, ThatCouldMeanTwoPairsAreListed) {
  const Topology topology = Discovered({"a", "a-b", "b-c", "c"}).cable(0, "e1", 2, "e1").cable(1, "e1", 3, "e1").make();
  EXPECT_THAT(std::string(ShortCableNames(topology).find("a-b-c").status().message()),
              HasSubstr("names 2 cables: name one of a.e1-b-c.e1, a-b.e1-c.e1"));
}

}  // namespace
}  // namespace cableway::routing
