// Samples are evenly spaced, bounded in number, and complete.
#include "sim/prediction/use_timeline.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/prediction/prediction.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;

PredictionRequest neighbours(std::uint64_t size, std::size_t samples) {
  PredictionRequest request;
  request.workload.operation = workload::Operation::kNeighbour;
  request.size = size;
  request.ranks = {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}};
  request.timeline_samples = samples;
  return request;
}

std::uint64_t sum_of(const UseSamples& samples, std::size_t direction) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < samples.count(); ++i) sum += samples.at(i, direction);
  return sum;
}

TEST(UseTimeline, HoldsEveryByteOfEveryDirection) {
  const routing::Topology ring = routing::sample_topology(3, routing::ring_pairs(3));
  const absl::StatusOr<Prediction> prediction = predict(ring, neighbours(64 << 20, 40));
  ASSERT_TRUE(prediction.ok()) << prediction.status();
  const UseSamples& samples = prediction->timeline;
  EXPECT_EQ(samples.directions, 6U);
  EXPECT_LE(samples.count(), 40U);
  EXPECT_GE(samples.count(), 20U) << "half of them stay when two and two are joined";
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(sum_of(samples, i), prediction->cables[i].bytes) << i;
  Duration whole{0};
  for (std::size_t i = 0; i < samples.count(); ++i) whole += samples.length(i);
  EXPECT_EQ(whole, samples.whole);
  EXPECT_NEAR(std::chrono::duration<double>(whole).count(), prediction->whole_s, 1e-9);
}

TEST(UseTimeline, ABusyCableIsBusyInEverySample) {
  const routing::Topology ring = routing::sample_topology(3, routing::ring_pairs(3));
  const absl::StatusOr<Prediction> prediction = predict(ring, neighbours(64 << 20, 40));
  ASSERT_TRUE(prediction.ok()) << prediction.status();
  const UseSamples& samples = prediction->timeline;
  const std::size_t hottest = prediction->hottest;
  for (std::size_t i = 1; i + 1 < samples.count(); ++i) {
    const double most = 10e9 / 8 * std::chrono::duration<double>(samples.length(i)).count();
    EXPECT_GT(static_cast<double>(samples.at(i, hottest)), 0.8 * most) << i;
    EXPECT_LT(static_cast<double>(samples.at(i, hottest)), 1.2 * most) << i;
  }
}

TEST(UseTimeline, DoesNotAffectThePrediction) {
  const routing::Topology ring = routing::sample_topology(3, routing::ring_pairs(3));
  const absl::StatusOr<Prediction> with = predict(ring, neighbours(8 << 20, 100));
  const absl::StatusOr<Prediction> without = predict(ring, neighbours(8 << 20, 0));
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_EQ(with->time_s, without->time_s);
  EXPECT_EQ(with->crossings, without->crossings);
  EXPECT_EQ(without->timeline.count(), 0U);
}

TEST(UseTimeline, KeepsFewerSamplesOfManyCables) {
  const routing::Topology mesh = routing::sample_topology(3, routing::ring_pairs(3));
  VirtualClock clock;
  const CircuitWorld world(clock, mesh, {});
  UseTimeline timeline(clock, world, Duration(1000), 2 * UseTimeline::kMaxValues);
  timeline.start();
  clock.run_for(Duration(std::int64_t{4} * 1000 * static_cast<std::int64_t>(UseTimeline::kMaxValues / 6)));
  EXPECT_LE(timeline.samples().bytes.size(), UseTimeline::kMaxValues);
}

}  // namespace
}  // namespace cableway::sim
