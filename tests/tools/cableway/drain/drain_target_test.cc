#include "tools/cableway/drain/drain_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/routing/sample_topologies.h"

namespace cableway::cli {
namespace {

using ::testing::HasSubstr;

// n0 -c0- n1 -c1- n2, and c2 beside c0, which drains. c0 and c2 are at one port of n1.
routing::Topology line() {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2),
                                        routing::sample_cable(2, 0, 1)};
  cables[0].a.interface = "eth0";
  cables[2].a.interface = "eth2";
  cables[0].b.interface = cables[2].b.interface = "sw0";
  cables[1].a.interface = "eth1";
  cables[1].b.interface = "eth0";
  cables[2].draining = true;
  return routing::make_topology(routing::sample_nodes(3), cables);
}

std::string refusal(const std::string& here, const std::string& name) {
  const absl::StatusOr<DrainTarget> target = find_drain_target(line(), here, name);
  EXPECT_FALSE(target.ok()) << name;
  return std::string(target.status().message());
}

TEST(DrainTarget, IsTheNodeHere) {
  const absl::StatusOr<DrainTarget> target = find_drain_target(line(), "n0", "n0");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_FALSE(target->is_cable());
  EXPECT_EQ(describe(*target), "node n0");
}

TEST(DrainTarget, IsACableByItsNameOrItsPort) {
  for (const char* name : {"c1", "eth1"}) {
    const absl::StatusOr<DrainTarget> target = find_drain_target(line(), "n1", name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->cable, "c1");
    EXPECT_EQ(target->interface, "eth1");
    EXPECT_EQ(target->neighbour, "n2");
    EXPECT_FALSE(target->drains);
    EXPECT_EQ(describe(*target), "cable c1");
  }
}

TEST(DrainTarget, MayDrainAlready) {
  const absl::StatusOr<DrainTarget> target = find_drain_target(line(), "n1", "c2");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_TRUE(target->drains);
  EXPECT_EQ(target->neighbour, "n0");
}

TEST(DrainTarget, WhatIsElsewhereIsRefusedWithThePlace) {
  EXPECT_EQ(refusal("n0", "n2"), "this is node n0: run this on n2");
  EXPECT_EQ(refusal("n0", "c1"), "cable c1 joins n1 and n2: run this on n1 or on n2");
}

TEST(DrainTarget, ForACheckMayBeElsewhere) {
  const absl::StatusOr<DrainTarget> node = find_checked_target(line(), "n0", "n2");
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(describe(*node), "node n2");
  EXPECT_FALSE(node->is_here);
  const absl::StatusOr<DrainTarget> cable = find_checked_target(line(), "n0", "c1");
  ASSERT_TRUE(cable.ok()) << cable.status();
  EXPECT_EQ(describe(*cable), "cable c1");
  EXPECT_EQ(cable->node, "n1");
  EXPECT_EQ(cable->neighbour, "n2");
  EXPECT_FALSE(cable->is_here);
  const absl::StatusOr<DrainTarget> here = find_checked_target(line(), "n0", "eth0");
  ASSERT_TRUE(here.ok()) << here.status();
  EXPECT_EQ(describe(*here), "cable c0");
  EXPECT_TRUE(here->is_here);
  EXPECT_THAT(find_checked_target(line(), "n0", "nothing").status().message(),
              HasSubstr("is neither a node nor a cable"));
  EXPECT_THAT(find_checked_target(line(), "n1", "sw0").status().message(), HasSubstr("ends 2 cables"));
  EXPECT_THAT(find_checked_target(line(), "n9", "n9").status().message(), HasSubstr("is not in its topology yet"));
}

TEST(DrainTarget, APortThatEndsSeveralCablesIsRefusedWithTheirNames) {
  EXPECT_EQ(refusal("n1", "sw0"), "port sw0 ends 2 cables: name one of c0, c2");
}

// As nodes name them: two cables between n0 and n1, one between n1 and n2.
routing::Topology discovered() {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 0, 1),
                                        routing::sample_cable(2, 1, 2)};
  for (std::size_t i = 0; i < cables.size(); ++i)
    cables[i].a.interface = cables[i].b.interface = "eth" + std::to_string(i);
  cables[0].name = "n0.eth0-n1.eth0";
  cables[1].name = "n0.eth1-n1.eth1";
  cables[2].name = "n1.eth2-n2.eth2";
  return routing::make_topology(routing::sample_nodes(3), cables);
}

TEST(DrainTarget, MayHaveAShortName) {
  for (const char* name : {"n0-n1#2", "n1-n0#2", "n0.eth1-n1.eth1", "eth1"}) {
    const absl::StatusOr<DrainTarget> target = find_drain_target(discovered(), "n0", name);
    ASSERT_TRUE(target.ok()) << name << ": " << target.status();
    EXPECT_EQ(target->cable, "n0.eth1-n1.eth1");
    EXPECT_EQ(describe(*target), "cable n0-n1#2 (n0.eth1-n1.eth1)");
  }
  const absl::StatusOr<DrainTarget> checked = find_checked_target(discovered(), "n0", "n1-n2");
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->cable, "n1.eth2-n2.eth2");
  EXPECT_FALSE(checked->is_here);
  EXPECT_EQ(find_drain_target(discovered(), "n0", "n1-n2").status().message(),
            "cable n1-n2 (n1.eth2-n2.eth2) joins n1 and n2: run this on n1 or on n2");
}

TEST(DrainTarget, AShortNameOfSeveralCablesIsRefusedWithTheirNames) {
  for (const auto& target :
       {find_drain_target(discovered(), "n0", "n0-n1"), find_checked_target(discovered(), "n2", "n0-n1")}) {
    EXPECT_EQ(target.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(target.status().message(),
              "\"n0-n1\" names 2 cables: name one of n0-n1#1 (n0.eth0-n1.eth0), n0-n1#2 (n0.eth1-n1.eth1)");
  }
}

TEST(DrainTarget, AnUnknownNameIsRefusedWithTheNearest) {
  EXPECT_THAT(refusal("n1", "eht1"), HasSubstr("did you mean \"eth1\"?"));
  EXPECT_THAT(refusal("n1", "nothing"), HasSubstr("is neither node n1, nor a cable of it that is up"));
  EXPECT_THAT(refusal("n9", "n9"), HasSubstr("is not in its topology yet"));
}

TEST(DrainTarget, SeveralAtOnePortHaveTheNamesOfTables) {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2)};
  cables[0].a.interface = cables[1].b.interface = "eth0";
  cables[0].b.interface = cables[1].a.interface = "sw0";
  cables[0].name = "n0.eth0-n1.sw0";
  cables[1].name = "n1.sw0-n2.eth0";
  const routing::Topology topology = routing::make_topology(routing::sample_nodes(3), cables);
  EXPECT_EQ(find_drain_target(topology, "n1", "sw0").status().message(),
            "port sw0 ends 2 cables: name one of n0-n1, n1-n2");
  EXPECT_THAT(std::string(find_drain_target(topology, "n1", "n1-n3").status().message()),
              HasSubstr("did you mean \"n1-n2\"?"));
}

}  // namespace
}  // namespace cableway::cli
