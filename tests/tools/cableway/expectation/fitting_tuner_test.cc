#include "tools/cableway/expectation/fitting_tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/settings/settings_table.h"
#include "routing/shapes/topology_generator.h"
#include "tests/tools/cableway/expectation/wired.h"

namespace cableway::cli {
namespace {

std::optional<TunerSetting> of_shape(const std::string& shape) {
  const absl::StatusOr<routing::Topology> topology = routing::generate_topology(shape);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return fitting_tuner(*topology);
}

TEST(FittingTuner, OfShapes) {
  for (const char* shape : {"ring:3", "ring:4", "ring:8"}) EXPECT_EQ(of_shape(shape), TunerSetting::kRing) << shape;
  for (const char* shape : {"sparks:3", "sparks:4", "sparks:8", "twins:4"}) {
    EXPECT_EQ(of_shape(shape), TunerSetting::kSparks) << shape;
  }
  for (const char* shape : {"line:3", "line:8"}) EXPECT_EQ(of_shape(shape), TunerSetting::kLine) << shape;
  for (const char* shape : {"mesh:4", "mesh:8"}) EXPECT_EQ(of_shape(shape), TunerSetting::kMesh) << shape;
  for (const char* shape : {"line:2", "ring:9", "line:9", "mesh:9", "star:5", "switch:4"}) {
    EXPECT_EQ(of_shape(shape), std::nullopt) << shape;
  }
}

TEST(FittingTuner, OfCables) {
  const std::vector<std::string> line = {"n0 p/a n1 p/a", "n0 p/b n1 p/b", "n1 q/c n2 q/c", "n1 q/d n2 q/d"};
  EXPECT_EQ(fitting_tuner(wired(line)), TunerSetting::kLine) << "whatever its plugs";
  std::vector<std::string> ring = line;
  ring.insert(ring.end(), {"n2 p/a n0 q/c", "n2 p/b n0 q/d"});
  EXPECT_EQ(fitting_tuner(wired(ring)), TunerSetting::kSparks);
  ring.pop_back();
  EXPECT_EQ(fitting_tuner(wired(ring)), std::nullopt) << "one cable with one function";
  EXPECT_EQ(fitting_tuner(wired({"n0 a n1 a", "n0 b n1 b", "n1 c n2 c", "n2 a n0 c"})), std::nullopt)
      << "two wires between two hosts";
  EXPECT_EQ(fitting_tuner(wired({"n0 a n1 a", "n1 b n2 b"}, {"n3"})), std::nullopt) << "in parts";
}

TEST(FittingTuner, NotOfATopologyWithACableThatDrains) {
  const routing::Topology whole = wired({"n0 a n1 a", "n1 b n2 b", "n2 a n0 b"});
  EXPECT_EQ(fitting_tuner(whole), TunerSetting::kRing);
  std::vector<routing::Cable> cables(whole.cables().begin(), whole.cables().end());
  cables[0].draining = true;
  const std::vector<routing::Node> nodes(whole.nodes().begin(), whole.nodes().end());
  EXPECT_EQ(fitting_tuner(routing::make_topology(nodes, cables)), std::nullopt);
}

TEST(FittingTuner, NamesAreThoseOfTheSetting) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < find_setting("tuner")->choices.size(); ++i) {
    names.push_back(tuner_name(static_cast<TunerSetting>(i)));
  }
  EXPECT_THAT(names, ::testing::ElementsAre("off", "sparks", "ring", "line", "mesh"));
}

}  // namespace
}  // namespace cableway::cli
