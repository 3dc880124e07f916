// The views of `cableway sim`: exact text and JSON, and the elements of the page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "sim/workload/workload_text.h"
#include "tests/routing/sample_topologies.h"
#include "tests/tools/cableway/sim/part_count.h"
#include "tools/cableway/sim/cable_map.h"
#include "tools/cableway/sim/sim_compare.h"
#include "tools/cableway/sim/sim_html.h"
#include "tools/cableway/sim/sim_json.h"
#include "tools/cableway/sim/sim_report.h"
#include "tools/cableway/sim/sim_text.h"
#include "tools/cableway/sim/timeline_chart.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

using routing::CableIndex;
using routing::NodeIndex;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kRate = 10e9 / 8;

// A made-up result of an all_reduce on a ring of four.
SimReport sample_report() {
  SimReport report{routing::sample_topology(4, routing::ring_pairs(4)),
                   "ring:4",
                   "all_reduce:64MiB",
                   "chunk",
                   "cableway sim --topology ring:4 --workload all_reduce:64MiB",
                   {},
                   {},
                   ReportBound{0.05, "injection", 0},
                   "",
                   std::nullopt,
                   1.5};
  report.request.ranks = {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}, NodeIndex{3}};
  sim::Prediction& prediction = report.prediction;
  sim::GroupPrediction all;
  all.workload = workload::parse_workload(report.workload)->workload;
  all.ranks = 4;
  all.size = prediction.size = 64 << 20;
  all.operation_s = prediction.operation_s = {0.1};
  all.time_s = prediction.time_s = prediction.whole_s = 0.1;
  all.algbw_GBps = prediction.algbw_GBps = 0.671;
  all.busbw_GBps = prediction.busbw_GBps = 1.007;
  prediction.groups = {all};
  const std::vector<double> shares = {0.5, 0, 0.25, 0.9, 1, 0.01, 0, 0};
  for (std::uint32_t i = 0; i < 8; ++i) {
    prediction.cables.push_back(
        {CableIndex{i / 2}, i % 2 == 0, static_cast<std::uint64_t>(shares[i] * kRate * 0.1), shares[i]});
  }
  prediction.hottest = 4;
  prediction.relays = {{NodeIndex{1}, 2, 6, 8 * 65536}, {NodeIndex{2}, 2, 0, 2 * 65536}};
  prediction.flows = 8;
  prediction.circuits = 8;
  prediction.crossings = 6144;
  return report;
}

// The same with cable c1 cut after 40 ms.
SimReport cut_report() {
  SimReport report = sample_report();
  sim::Prediction& prediction = report.prediction;
  prediction.time_s = prediction.algbw_GBps = prediction.busbw_GBps = 0;
  prediction.whole_s = 0.04;
  prediction.groups[0].time_s = prediction.groups[0].algbw_GBps = prediction.groups[0].busbw_GBps = 0;
  prediction.groups[0].operation_s.clear();
  prediction.operation_s.clear();
  prediction.early_end = sim::EarlyEnd{0.4, "cable c1 was cut"};
  sim::CutEffect effect;
  effect.cut = {*report.topology.find_cable("c1"), std::chrono::milliseconds(40)};
  effect.wire = {effect.cut.cable};
  effect.happened = true;
  effect.hit = {{0, {1, 2, 0, {{effect.cut.cable}, {NodeIndex{1}, NodeIndex{2}}}}},
                {0, {0, 2, 1, {{CableIndex{0}, effect.cut.cable}, {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}}}}}};
  prediction.cuts = {effect};
  report.left = JobOnCablesLeft{0.081, 0.162, ""};
  return report;
}

TEST(SimText, OfAResult) {
  EXPECT_EQ(sim_text(sample_report(), false), R"(topology   ring:4: ring, 4 nodes, 4 cables
workload   all_reduce:64MiB on 4 ranks, 2 channels
ranks      n0, n1, n2, n3
latency    not known for 4 cables: 1 us assumed

time       100 ms
algbw      0.671 GB/s
busbw      1.007 GB/s
bound      50 ms, the lower bound of the cables (injection)
ratio      0.500 of what the cables allow
relays     2 nodes relay; the most memory is used by n1: 512.0 KiB of slots for 2 circuits
hottest    c1 n1 -> n2: 100.0 %
simulated  in 1.5 s: 8 flows, 6144 chunks over cables

cable  a   b   Mbit/s   a -> b  b -> a  sent by a  sent by b
c1     n1  n2   10000  100.0 %   1.0 %  119.2 MiB    1.2 MiB
c3     n0  n3   10000   25.0 %  90.0 %   29.8 MiB  107.3 MiB
c0     n0  n1   10000   50.0 %   0.0 %   59.6 MiB    0 bytes
c2     n2  n3   10000    0.0 %   0.0 %    0 bytes    0 bytes
)");
}

TEST(SimText, CountsLatenciesThatAreAssumed) {
  SimReport report = sample_report();
  std::vector<routing::Cable> cables(report.topology.cables().begin(), report.topology.cables().end());
  for (std::size_t i = 1; i < cables.size(); ++i) cables[i].latency_us = 1;
  report.topology = routing::make_topology(routing::sample_nodes(4), cables);
  EXPECT_THAT(sim_text(report, false), HasSubstr("\nlatency    not known for 1 cable: 1 us assumed\n"));
  EXPECT_THAT(sim_html(report), HasSubstr("<dt>latency</dt><dd>not known for 1 cable: 1 us assumed</dd>"));
  cables[0].latency_us = 0;
  report.topology = routing::make_topology(routing::sample_nodes(4), cables);
  EXPECT_THAT(sim_text(report, false), Not(HasSubstr("assumed")));
  EXPECT_THAT(sim_html(report), Not(HasSubstr("assumed")));
  EXPECT_EQ(nlohmann::json::parse(sim_json(report))["assumed_latencies"], 0);
}

// Three nodes on a switch: n1 sends half a cable's rate to each of the others.
SimReport switch_report() {
  SimReport report = sample_report();
  report.topology = routing::make_topology(routing::sample_nodes(3), routing::switch_segment(0, {0, 1, 2}));
  report.request.ranks.pop_back();
  sim::Prediction& prediction = report.prediction;
  prediction.cables.clear();
  prediction.relays.clear();
  for (std::uint32_t i = 0; i < 6; ++i) {
    const routing::Cable& cable = report.topology.cable(CableIndex{i / 2});
    const bool is_from_n1 = (i % 2 == 0 ? cable.a : cable.b).node == NodeIndex{1};
    const double share = is_from_n1 ? 0.5 : 0;
    prediction.cables.push_back(
        {CableIndex{i / 2}, i % 2 == 0, static_cast<std::uint64_t>(share * kRate * 0.1), share});
  }
  prediction.hottest = 1;
  prediction.shared = sim::shared_loads(report.topology, prediction.cables, prediction.whole_s);
  return report;
}

TEST(SimText, OfASharedPort) {
  const SimReport report = switch_report();
  const std::string port = report.prediction.shared[1].name;
  EXPECT_THAT(sim_text(report, false),
              AllOf(HasSubstr("hottest    " + port + ", out: 100.0 %, which 2 cables share\n"),
                    HasSubstr("\nshared  cables  Mbit/s      out      in       sent  received\n" + port +
                              "       2   10000  100.0 %   0.0 %  119.2 MiB   0 bytes\n")));
}

TEST(SimHtml, ShowsWhatCablesShare) {
  const std::string page = sim_html(switch_report());
  EXPECT_THAT(page, AllOf(HasSubstr("Hottest port"), HasSubstr(", out; 2 cables share it"),
                          HasSubstr("Wires, plugs, ports and PCIe links that cables share, hottest first")));
  EXPECT_THAT(sim_html(sample_report()), AllOf(HasSubstr("Hottest cable"), Not(HasSubstr("cables share"))));
}

TEST(SimViews, NameARoot) {
  SimReport report = switch_report();
  report.topology = *routing::generate_topology("sparks:2");
  report.request.ranks.pop_back();
  report.prediction.cables.clear();
  for (std::uint32_t i = 0; i < 8; ++i) {
    const bool is_behind_r1 = i / 2 == 1 || i / 2 == 3;
    const double share = i % 2 == 1 && is_behind_r1 ? 0.5 : 0;
    report.prediction.cables.push_back(
        {CableIndex{i / 2}, i % 2 == 0, static_cast<std::uint64_t>(share * 98.3e9 / 8 * 0.1), share});
  }
  report.prediction.shared = sim::shared_loads(report.topology, report.prediction.cables, report.prediction.whole_s);
  EXPECT_THAT(sim_text(report, true), AllOf(HasSubstr("hottest    n0 root r1, in: 100.0 %, which 2 cables share\n"),
                                            HasSubstr("\nn1 root r1       2   98300  100.0 %    0.0 %")));
  EXPECT_THAT(sim_html(report), AllOf(HasSubstr("Hottest PCIe link"), HasSubstr("n0 root r1, in; 2 cables share it")));
  const auto view = nlohmann::json::parse(sim_json(report));
  EXPECT_EQ(view["hottest_shared"]["name"], "n0 root r1");
  EXPECT_EQ(view["hottest_shared"]["kind"], "root");
  EXPECT_TRUE(view["hottest_shared"]["from"].is_null());
  EXPECT_EQ(view["hottest_shared"]["to"], "n0");
  EXPECT_EQ(view["shared"].size(), 2U + 4U);
  EXPECT_EQ(view["shared"].back()["kind"], "root");
}

TEST(SimText, OfACut) {
  EXPECT_EQ(sim_text(cut_report(), false), R"(topology   ring:4: ring, 4 nodes, 4 cables
workload   all_reduce:64MiB on 4 ranks, 2 channels
ranks      n0, n1, n2, n3
latency    not known for 4 cables: 1 us assumed

ended      at 40 ms, with 40.0 % of the messages completed
why        cable c1 was cut
bound      50 ms, the lower bound of the cables (injection)
relays     2 nodes relay; the most memory is used by n1: 512.0 KiB of slots for 2 circuits
hottest    c1 n1 -> n2: 100.0 %
simulated  in 1.5 s: 8 flows, 6144 chunks over cables

cut        c1 at 40 ms: 2 flows crossed it, none had gone on when the job ended
           rank 1 on n1 -> rank 2 on n2, channel 0
           rank 0 on n0 -> rank 2 on n2 through n1, channel 1
left       on the cables left the whole job takes 162 ms at flow level, 2.00 times the 81 ms with all cables

cable  a   b   Mbit/s   a -> b  b -> a  sent by a  sent by b
c1     n1  n2   10000  100.0 %   1.0 %  119.2 MiB    1.2 MiB
c3     n0  n3   10000   25.0 %  90.0 %   29.8 MiB  107.3 MiB
c0     n0  n1   10000   50.0 %   0.0 %   59.6 MiB    0 bytes
c2     n2  n3   10000    0.0 %   0.0 %    0 bytes    0 bytes
)");
}

TEST(SimText, OfAnImpossibleRestartAndALateCut) {
  SimReport report = cut_report();
  report.left->impossible = "no path";
  sim::CutEffect late;
  late.cut = {CableIndex{0}, std::chrono::seconds(2)};
  late.wire = {CableIndex{0}};
  report.prediction.cuts.push_back(late);
  EXPECT_THAT(sim_text(report, false), AllOf(HasSubstr("on the cables left the job cannot run: no path\n"),
                                             HasSubstr("c0 at 2 s: the job had already ended\n")));
}

TEST(SimText, OfManyCablesShowsTheHottestOnly) {
  SimReport report = sample_report();
  report.topology = routing::sample_topology(20, routing::ring_pairs(20));
  report.prediction.cables.clear();
  for (std::uint32_t i = 0; i < 40; ++i)
    report.prediction.cables.push_back({CableIndex{i / 2}, i % 2 == 0, i, i / 50.0});
  report.prediction.hottest = 39;
  EXPECT_THAT(sim_text(report, false), AllOf(HasSubstr("and 10 more: --all\n"), HasSubstr("78.0 %")));
  EXPECT_THAT(sim_text(report, true), AllOf(Not(HasSubstr("--all")), HasSubstr(" 2.0 %")));
}

TEST(SimJson, OfAResult) {
  EXPECT_EQ(sim_json(sample_report()), R"({
  "schema": 1,
  "command": "cableway sim --topology ring:4 --workload all_reduce:64MiB",
  "topology": "ring:4",
  "nodes": 4,
  "workload": "all_reduce:64MiB",
  "level": "chunk",
  "multipath": "off",
  "ranks": [
    "n0",
    "n1",
    "n2",
    "n3"
  ],
  "channels": 2,
  "chunk_bytes": 65536,
  "assumed_latencies": 4,
  "size_bytes": 67108864,
  "time_s": 0.1,
  "algbw_GBps": 0.671,
  "busbw_GBps": 1.007,
  "bound_time_s": 0.05,
  "bound_method": "injection",
  "bound_gap": 0.0,
  "ratio": 0.5,
  "ended_early": null,
  "hottest": {
    "cable": "c1",
    "from": "n1",
    "to": "n2",
    "bytes": 125000000,
    "utilisation": 1.0
  },
  "hottest_shared": null,
  "cables": [
    {
      "name": "c0",
      "rate_mbps": 10000,
      "directions": [
        {
          "from": "n0",
          "to": "n1",
          "bytes": 62500000,
          "utilisation": 0.5
        },
        {
          "from": "n1",
          "to": "n0",
          "bytes": 0,
          "utilisation": 0.0
        }
      ]
    },
    {
      "name": "c3",
      "rate_mbps": 10000,
      "directions": [
        {
          "from": "n0",
          "to": "n3",
          "bytes": 31250000,
          "utilisation": 0.25
        },
        {
          "from": "n3",
          "to": "n0",
          "bytes": 112500000,
          "utilisation": 0.9
        }
      ]
    },
    {
      "name": "c1",
      "rate_mbps": 10000,
      "directions": [
        {
          "from": "n1",
          "to": "n2",
          "bytes": 125000000,
          "utilisation": 1.0
        },
        {
          "from": "n2",
          "to": "n1",
          "bytes": 1250000,
          "utilisation": 0.01
        }
      ]
    },
    {
      "name": "c2",
      "rate_mbps": 10000,
      "directions": [
        {
          "from": "n2",
          "to": "n3",
          "bytes": 0,
          "utilisation": 0.0
        },
        {
          "from": "n3",
          "to": "n2",
          "bytes": 0,
          "utilisation": 0.0
        }
      ]
    }
  ],
  "shared": [],
  "relays": [
    {
      "node": "n1",
      "circuits": 2,
      "leases": 6,
      "bytes": 524288
    },
    {
      "node": "n2",
      "circuits": 2,
      "leases": 0,
      "bytes": 131072
    }
  ],
  "groups": [
    {
      "name": "",
      "workload": "all_reduce:64MiB",
      "ranks": 4,
      "started_s": 0.0,
      "operations_s": [
        0.1
      ],
      "time_s": 0.1,
      "algbw_GBps": 0.671,
      "busbw_GBps": 1.007
    }
  ],
  "failures": [],
  "bytes_sent_again": 0,
  "on_cables_left": null,
  "flows": 8,
  "circuits": 8,
  "chunk_crossings": 6144,
  "elapsed_s": 1.5
}
)");
}

TEST(SimJson, OfACut) {
  const nlohmann::json view = nlohmann::json::parse(sim_json(cut_report()));
  EXPECT_TRUE(view["time_s"].is_null());
  EXPECT_TRUE(view["busbw_GBps"].is_null());
  EXPECT_TRUE(view["ratio"].is_null());
  EXPECT_EQ(view["ended_early"],
            (nlohmann::json{{"time_s", 0.04}, {"share_done", 0.4}, {"reason", "cable c1 was cut"}}));
  EXPECT_EQ(view["on_cables_left"],
            (nlohmann::json{{"intact_time_s", 0.081}, {"time_s", 0.162}, {"impossible", nullptr}}));
  EXPECT_EQ(view["failures"][0]["cables"], nlohmann::json::array({"c1"}));
  EXPECT_EQ(view["failures"][0]["flows"][1]["path"], nlohmann::json::array({"n0", "n1", "n2"}));
}

TEST(SimJson, ACommandThatIsNotUtf8IsStillJson) {
  SimReport report = sample_report();
  report.command = "cableway sim --html '\xFF'";
  EXPECT_FALSE(nlohmann::json::parse(sim_json(report))["command"].get<std::string>().empty());
}

TEST(CableMap, HeatGrowsWithUtilisation) {
  EXPECT_EQ(heat_of(0), 0);
  EXPECT_EQ(heat_of(0.001), 1);
  EXPECT_EQ(heat_of(0.25), 2);
  EXPECT_EQ(heat_of(0.74), 3);
  EXPECT_EQ(heat_of(0.89), 4);
  EXPECT_EQ(heat_of(0.9), 5);
  EXPECT_EQ(heat_of(1), 5);
  for (int heat = 0; heat < kHeatLevels; ++heat) EXPECT_NE(std::string(heat_name(heat)), "");
}

TEST(CableMap, EveryCableHasTwoDirectionsWithTheirHeat) {
  const std::string map = cable_map(sample_report()).svg;
  EXPECT_EQ(count_of(map, "class=\"lane\""), 8U);
  EXPECT_EQ(count_of(map, "class=\"arrow\""), 8U);
  EXPECT_EQ(count_of(map, "class=\"node\""), 4U);
  EXPECT_THAT(map, AllOf(HasSubstr("<g class=\"h5\"><title>c1 n1 -&gt; n2: 100.0 %, 119.2 MiB</title>"),
                         HasSubstr("<g class=\"h1\"><title>c1 n2 -&gt; n1: 1.0 %"), HasSubstr(">c1 100 %</text>"),
                         HasSubstr(">rank 3</text>")));
}

TEST(CableMap, ShowsCutCablesAndNodesWithoutRanks) {
  SimReport report = cut_report();
  report.request.ranks = {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}, NodeIndex{0}};
  const std::string map = cable_map(report).svg;
  EXPECT_EQ(count_of(map, "<g class=\"cut\">"), 1U);
  EXPECT_THAT(map, AllOf(HasSubstr(">c1 cut</text>"), HasSubstr("node bare"), HasSubstr(">no rank</text>"),
                         HasSubstr(">ranks 0, 3</text>")));
}

SimReport report_with_timeline() {
  SimReport report = cut_report();
  sim::UseSamples& samples = report.prediction.timeline;
  samples.interval = std::chrono::milliseconds(10);
  samples.whole = std::chrono::milliseconds(40);
  samples.directions = 8;
  samples.bytes.assign(4 * 8, 0);
  for (std::size_t sample = 0; sample < 4; ++sample)
    samples.bytes[sample * 8 + 4] = static_cast<std::uint64_t>(kRate / 100);
  return report;
}

TEST(TimelineChart, HasARowForEveryDirectionAndALineForACut) {
  const std::string chart = timeline_chart(report_with_timeline());
  EXPECT_EQ(count_of(chart, "class=\"area "), 5U) << "the active ones";
  EXPECT_EQ(count_of(chart, "class=\"moment\""), 1U);
  EXPECT_LT(chart.find("c1  n1 -&gt; n2"), chart.find("c1  n2 -&gt; n1")) << "the hottest comes first";
  EXPECT_THAT(chart, AllOf(HasSubstr(">10 ms</text>"), HasSubstr(">40 ms</text>")));
  EXPECT_EQ(timeline_chart(sample_report()), "");
}

TEST(SimHtml, IsOneSelfContainedPage) {
  const std::string page = sim_html(report_with_timeline());
  EXPECT_THAT(page, AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("default-src 'none'"), HasSubstr("class=\"map\""),
                          HasSubstr("class=\"timeline\""), HasSubstr("cable c1 was cut"),
                          HasSubstr("rank 0 on n0 -&gt; rank 2 on n2 through n1, channel 1"),
                          HasSubstr("cableway sim --topology ring:4"), HasSubstr("2.00 times")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("src=")), Not(HasSubstr("href="))));
}

TEST(QuantityText, DurationsSharesAndThroughputs) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(2.5e-8), "25 ns");
  EXPECT_EQ(seconds_text(1.2346e-5), "12.35 us");
  EXPECT_EQ(seconds_text(0.3758), "375.8 ms");
  EXPECT_EQ(seconds_text(1.23456), "1.235 s");
  EXPECT_EQ(seconds_text(86400), "86400 s");
  EXPECT_EQ(percent_text(0.9734), "97.3 %");
  EXPECT_EQ(throughput_text(1500), "1.5 kB/s");
  EXPECT_EQ(throughput_text(312.5e6), "312.5 MB/s");
  EXPECT_EQ(throughput_text(1.25e9), "1.25 GB/s");
}

TEST(SimCompare, IsSideBySideWithTheChange) {
  SimReport other = sample_report();
  other.prediction.time_s = 0.05;
  other.prediction.busbw_GBps = 2.014;
  const absl::StatusOr<SimResult> a = parse_sim_result(sim_json(sample_report()), "a.json");
  const absl::StatusOr<SimResult> b = parse_sim_result(sim_json(other), "b.json");
  ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
  EXPECT_EQ(comparison_text(*a, *b), R"(A  a.json: "all_reduce:64MiB" on "ring:4"
B  b.json: "all_reduce:64MiB" on "ring:4"

                      A            B  B against A
time             100 ms        50 ms      -50.0 %
algbw GB/s        0.671        0.671       +0.0 %
busbw GB/s        1.007        2.014     +100.0 %
bound             50 ms        50 ms       +0.0 %
ratio             0.500        1.000     +100.0 %
hottest         100.0 %      100.0 %       +0.0 %
where       c1 n1 -> n2  c1 n1 -> n2
)");
}

TEST(SimCompare, ResultsThatEndedEarlyHaveNoChange) {
  const absl::StatusOr<SimResult> a = parse_sim_result(sim_json(sample_report()), "a.json");
  const absl::StatusOr<SimResult> b = parse_sim_result(sim_json(cut_report()), "b.json");
  ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
  EXPECT_THAT(comparison_text(*a, *b), HasSubstr(" 100 ms            -            -\n"));
  EXPECT_TRUE(nlohmann::json::parse(comparison_json(*a, *b))["change"]["time"].is_null());
}

}  // namespace
}  // namespace cableway::cli
