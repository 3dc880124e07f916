// Parsing of the options of `cableway sim`, and which are refused.
#include "tools/cableway/sim/sim_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>

#include "tests/routing/sample_topologies.h"
#include "tools/cableway/picture/xml_text.h"
#include "tools/cableway/sim/sim_job.h"
#include "tools/cableway/text/progress_line.h"

namespace cableway::cli {
namespace {

using routing::NodeIndex;
using routing::Topology;
using ::testing::HasSubstr;
using ::testing::Not;

SimOptions options() {
  SimOptions options;
  options.workload = "all_reduce:1MiB";
  return options;
}

std::string error_of(const SimOptions& options) {
  return std::string(make_plan(options).status().message());
}

TEST(SimOptions, AFailureHasACableAndATime) {
  const absl::StatusOr<FailSpec> spec = parse_fail_spec("cable:n0-n1@10ms");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->cable, "n0-n1");
  EXPECT_EQ(spec->when, std::chrono::milliseconds(10));
  EXPECT_EQ(parse_fail_spec("cable:c3@0s")->when, Duration(0));
  EXPECT_EQ(parse_fail_spec("cable:c3@1.5us")->when, std::chrono::nanoseconds(1500));
  EXPECT_EQ(parse_fail_spec("cable:c3@1.5s")->when, std::chrono::milliseconds(1500));
  EXPECT_EQ(parse_fail_spec("cable:c3@86400s")->when, std::chrono::hours(24));
}

TEST(SimOptions, AnIncompleteFailureIsRefusedWithAnExample) {
  for (const char* text : {"", "c3", "node:n0@1ms", "cable:c3", "cable:@1ms", "cable:c3@", "cable:c3@10",
                           "cable:c3@-1ms", "cable:c3@1h", "cable:c3@nan", "cable:c3@86401s", "cable:c3@999999999s"}) {
    const absl::StatusOr<FailSpec> spec = parse_fail_spec(text);
    EXPECT_FALSE(spec.ok()) << text;
    EXPECT_THAT(std::string(spec.status().message()), HasSubstr("cable:c3@10ms")) << text;
  }
}

TEST(SimOptions, InvalidOptionsAreNamed) {
  EXPECT_THAT(error_of(SimOptions{}), HasSubstr("expected --workload, --mix, --what-if or --compare"));
  SimOptions bad = options();
  bad.workload = "all_reduce";
  EXPECT_THAT(error_of(bad), HasSubstr("workload \"all_reduce\""));
  EXPECT_THAT(error_of(bad), Not(HasSubstr("did you mean")));
  for (const char* mistyped : {"all_redce:1MiB", "ALL_REDUCE:1MiB"}) {
    bad.workload = mistyped;
    EXPECT_THAT(error_of(bad), HasSubstr("sendrecv, pingpong, pipeline (did you mean \"all_reduce\"?)"));
  }
  for (const char* chunk : {"100", "0", "1000KiB1", "8MiB", "-1"}) {
    bad = options();
    bad.chunk = chunk;
    EXPECT_THAT(error_of(bad), HasSubstr("--chunk")) << chunk;
  }
  bad = options();
  bad.level = "flow";
  bad.fail = {"cable:c0@1ms"};
  EXPECT_THAT(error_of(bad), HasSubstr("--fail needs --level chunk"));
  bad = options();
  bad.level = "flow";
  bad.multipath = "bundle";
  EXPECT_THAT(error_of(bad), HasSubstr("--multipath bundle needs --level chunk"));
}

TEST(SimPlan, FlowsHaveTheirPaths) {
  const auto shares = [](const char* multipath) {
    SimOptions given = options();
    given.multipath = multipath;
    return make_plan(given)->shares;
  };
  EXPECT_EQ(make_plan(options())->shares, CircuitShare::kAlternate);
  SimOptions at_flow_level = options();
  at_flow_level.level = "flow";
  EXPECT_EQ(make_plan(at_flow_level)->shares, CircuitShare::kNone);
  EXPECT_EQ(shares("off"), CircuitShare::kNone);
  EXPECT_EQ(shares("bundle"), CircuitShare::kBundle);
  EXPECT_EQ(shares("all"), CircuitShare::kAlternate);
  EXPECT_EQ(shares("settled"), CircuitShare::kAlternate);
}

TEST(SimPlan, SettledIsAModeOfItsOwn) {
  SimOptions given = options();
  EXPECT_FALSE(make_plan(given)->settled);
  given.multipath = "settled";
  EXPECT_TRUE(make_plan(given)->settled);
  given.level = "flow";
  EXPECT_THAT(error_of(given), HasSubstr("--multipath settled needs --level chunk"));
}

const Topology& ring() {
  static const Topology topology = routing::sample_topology(12, routing::ring_pairs(12));
  return topology;
}

TEST(SimJob, RanksAreGivenByNameByNumberOrBest) {
  EXPECT_EQ(find_ranks(ring(), "")->size(), 12U);
  EXPECT_EQ(*find_ranks(ring(), "n2,0,n11"), (std::vector<NodeIndex>{NodeIndex{2}, NodeIndex{0}, NodeIndex{11}}));
  EXPECT_EQ(*find_ranks(ring(), "10"), (std::vector<NodeIndex>{NodeIndex{10}}))
      << "numbers are in the nodes' own order";
  EXPECT_EQ(find_ranks(ring(), "best")->size(), 12U);
  for (const char* order : {"n12", "12", "0,,1", "-1", "0,x", "99999999999999999999"}) {
    EXPECT_THAT(std::string(find_ranks(ring(), order).status().message()),
                HasSubstr("expected a name from n0 to n11, or a number from 0 to 11"))
        << order;
  }
}

TEST(SimJob, ACableIsFoundByItsNameOrItsNodes) {
  const routing::CableIndex cable = *ring().find_cable("c3");
  EXPECT_EQ(*find_failing_cable(ring(), "c3"), cable);
  EXPECT_EQ(*find_failing_cable(ring(), "n3-n4"), cable);
  EXPECT_EQ(*find_failing_cable(ring(), "4-3"), cable);
  for (const char* text : {"c99", "0-2", "n0-", "-", "0-0"}) {
    EXPECT_THAT(std::string(find_failing_cable(ring(), text).status().message()), HasSubstr("no cable \"")) << text;
  }
}

TEST(SimJob, ParallelCablesMustBeNamed) {
  const Topology twins = routing::sample_topology(2, {{0, 1}, {0, 1}});
  EXPECT_EQ(std::string(find_failing_cable(twins, "0-1").status().message()),
            "--fail: 2 cables join 0-1; expected the name of one of them: c0, c1");
}

TEST(SimJob, MapsTheOptions) {
  SimOptions all = options();
  all.channels = 4;
  all.repeat = 3;
  all.mtu = 9000;
  all.chunk = "128KiB";
  all.leases = 7;
  all.relay_time_us = 1.5;
  all.fail = {"cable:0-1@2ms"};
  const absl::StatusOr<sim::PredictionRequest> request = make_request(all, *make_plan(all), ring());
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->size, 1U << 20);
  EXPECT_EQ(request->channels, 4);
  EXPECT_EQ(request->collective.operations, 3U);
  EXPECT_EQ(request->circuits.wire.packet_payload, 8948U);
  EXPECT_EQ(request->circuits.chunk_bytes, 128U << 10);
  EXPECT_EQ(request->circuits.relay.leases, 7U);
  EXPECT_EQ(request->circuits.relay.chunk_time, std::chrono::nanoseconds(1500));
  ASSERT_EQ(request->cuts.size(), 1U);
  EXPECT_EQ(request->cuts[0].when, std::chrono::milliseconds(2));
}

TEST(SimJob, RefusesRanksThatDoNotFitTheWorkload) {
  SimOptions few = options();
  few.rank_order = "0";
  EXPECT_THAT(std::string(check_fit(*make_request(few, *make_plan(few), ring())).message()), HasSubstr("two ranks"));
  few.workload = "sendrecv:1MiB,0-12";
  few.rank_order = "";
  EXPECT_FALSE(check_fit(*make_request(few, *make_plan(few), ring())).ok());
}

TEST(XmlText, EscapesAndReplacesInvalidCharacters) {
  EXPECT_EQ(xml_text("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c'");
  EXPECT_EQ(xml_text("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(xml_text(std::string("a\0b\x1B\x7F", 5)), "a?b??");
  EXPECT_EQ(xml_text("\xFF\xC0\xAF"), "???");
  EXPECT_EQ(xml_text("\xED\xA0\x80"), "???") << "half of a surrogate pair";
  EXPECT_EQ(xml_text("\xE2\x82"), "??") << "truncated";
}

class ProgressLineTest : public ::testing::Test {
 protected:
  std::chrono::steady_clock::time_point now_;
  ProgressLine::Now clock_ = [this] { return now_; };
  std::ostringstream out_;
};

TEST_F(ProgressLineTest, PrintsNothingBeforePatienceHasPassedAndNotTooOften) {
  {
    ProgressLine line(out_, true, std::chrono::milliseconds(2000), clock_);
    line.show(0.1, "simulating");
    EXPECT_EQ(out_.str(), "");
    now_ += std::chrono::milliseconds(2000);
    line.show(0.25, "simulating");
    EXPECT_EQ(out_.str(), "\rcableway: simulating  25 %, about 6 s to go");
    now_ += std::chrono::milliseconds(100);
    line.show(0.3, "simulating");
    now_ += std::chrono::milliseconds(100);
    line.show(1, "simulating");
    EXPECT_EQ(out_.str(), "\rcableway: simulating  25 %, about 6 s to go\rcableway: simulating 100 %, about 0 s to go");
  }
  EXPECT_TRUE(out_.str().ends_with(" \r")) << "the line is erased";
}

TEST_F(ProgressLineTest, PrintsNothingIfNotShown) {
  {
    ProgressLine line(out_, false, std::chrono::milliseconds(0), clock_);
    now_ += std::chrono::hours(1);
    line.show(0.5, "simulating");
  }
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace cableway::cli
