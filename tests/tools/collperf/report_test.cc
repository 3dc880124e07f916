#include "tools/collperf/report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cableway::collperf {
namespace {

using testing::HasSubstr;

Result four_ranks(Workload workload) {
  Result result{.workload = workload, .size = 4000000, .step_bytes = 524288, .ranks = 4, .by_rank = {}};
  for (int rank = 0; rank < 4; ++rank) {
    result.by_rank.push_back({.iterations = 10,
                              .seconds = 0.01 * (rank + 1),
                              .p50_us = 100.0 * rank,
                              .p99_us = 200.0 * rank,
                              .cpu_seconds = 0.5,
                              .bytes_sent = 60000000,
                              .messages_sent = 240,
                              .wrong = 0,
                              .bytes_verified = 8000000});
  }
  return result;
}

TEST(ReportTest, BandwidthsAreThoseOfNcclTests) {
  // 10 operations in 40 ms on the slowest rank: 4 ms each, 4 MB: 1 GB/s.
  EXPECT_DOUBLE_EQ(four_ranks({Operation::kAllReduceRing}).time_us(), 4000);
  EXPECT_DOUBLE_EQ(four_ranks({Operation::kAllReduceRing}).alg_bw(), 1);
  EXPECT_DOUBLE_EQ(four_ranks({Operation::kAllReduceRing}).bus_bw(), 1.5);
  EXPECT_DOUBLE_EQ(four_ranks({Operation::kAllReduceTree}).bus_bw(), 1.5);
  EXPECT_DOUBLE_EQ(four_ranks({Operation::kAllGather}).bus_bw(), 0.75);
  EXPECT_DOUBLE_EQ(four_ranks({Operation::kReduceScatter}).bus_bw(), 0.75);
  EXPECT_DOUBLE_EQ(four_ranks({Operation::kAllToAll}).bus_bw(), 0.75);
  EXPECT_DOUBLE_EQ(four_ranks({Operation::kBroadcast}).bus_bw(), 1);
  EXPECT_DOUBLE_EQ(four_ranks({Operation::kOpposite}).bus_bw(), 1);
}

TEST(ReportTest, RoundTripsCountHalf) {
  const Result result = four_ranks({Operation::kPingPong, 0, 2});
  EXPECT_DOUBLE_EQ(result.time_us(), 2000);
  EXPECT_DOUBLE_EQ(result.p50_us(), 150);
  EXPECT_DOUBLE_EQ(result.p99_us(), 300);
}

TEST(ReportTest, RankResultsSurviveSerialisation) {
  const RankResult sent{3, 0.5, 1, 2, 0.25, 1ULL << 40, 9, 7, 1ULL << 50};
  const absl::StatusOr<RankResult> received = decode_rank_result(encode(sent));
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(received->bytes_sent, sent.bytes_sent);
  EXPECT_EQ(received->bytes_verified, sent.bytes_verified);
  EXPECT_EQ(received->messages_sent, sent.messages_sent);
  EXPECT_EQ(received->wrong, sent.wrong);
  EXPECT_DOUBLE_EQ(received->cpu_seconds, sent.cpu_seconds);
  EXPECT_FALSE(decode_rank_result("{}").ok());
  EXPECT_FALSE(decode_rank_result("[]").ok());
  EXPECT_FALSE(decode_rank_result("garbage").ok());
}

TEST(ReportTest, Percentiles) {
  EXPECT_DOUBLE_EQ(percentile_us({}, 50), 0);
  EXPECT_DOUBLE_EQ(percentile_us({3000, 1000, 2000}, 50), 2);
  std::vector<std::uint32_t> many;
  for (std::uint32_t i = 0; i < 1000; ++i) many.push_back((999 - i) * 1000);
  EXPECT_DOUBLE_EQ(percentile_us(many, 99), 989);
}

TEST(ReportTest, JsonHasTheDocumentedFields) {
  Options options;
  options.place.ranks = 4;
  const nlohmann::ordered_json report = json_report(options, {"p.so", "P", 12, 0, "p0", 1000},
                                                    {four_ranks({Operation::kAllReduceTree})}, absl::OkStatus());
  EXPECT_EQ(report.begin().key(), "schema");
  const nlohmann::json json = report;
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["plugin"]["abi"], 12);
  EXPECT_EQ(json["ok"], true);
  EXPECT_TRUE(json["error"].is_null());
  EXPECT_EQ(json["bytes_verified"], 32000000);
  const nlohmann::json& result = json["results"][0];
  EXPECT_EQ(result["op"], "all_reduce");
  EXPECT_EQ(result["variant"], "tree");
  EXPECT_EQ(result["size_bytes"], 4000000);
  EXPECT_EQ(result["time_us"], 4000.0);
  EXPECT_EQ(result["busbw_GBps"], 1.5);
  EXPECT_EQ(result["cpu_seconds"].size(), 4U);
  EXPECT_EQ(result["bytes_sent"][3], 60000000);
  EXPECT_EQ(result["messages_sent"][3], 240);
}

TEST(ReportTest, TheTableIsThatOfNcclTests) {
  Options options;
  options.place.ranks = 4;
  EXPECT_EQ(table_header(options, {"p.so", "P", 12, 0, "p0", 1000}, {{"gpu1", 7}, {"gpu2", 123456}}),
            "# collperf: p.so (P, v12) at 1000 Mbit/s, 2 channels, 8 messages in flight\n"
            "# nRanks 4 warmup iters: 5 iters: 20 validation: 1\n"
            "#\n"
            "# Using devices\n"
            "#  Rank  0 Group  0 Pid      7 on       gpu1 device  0 p0\n"
            "#  Rank  1 Group  0 Pid 123456 on       gpu2 device  0 p0\n");
  EXPECT_EQ(table_columns({Operation::kPair, 0, 2}),
            "#\n"
            "# sendrecv,0-2\n"
            "#\n"
            "#                                                              out-of-place                       "
            "in-place          \n"
            "#       size         count      type   redop    root     time   algbw   busbw #wrong"
            "     time   algbw   busbw #wrong\n"
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)       "
            "     (us)  (GB/s)  (GB/s)       \n");
  EXPECT_EQ(table_row(four_ranks({Operation::kAllReduceRing}), true),
            "     4000000       1000000    uint32     sum      -1   4000.0    1.00    1.50      0"
            "      N/A     N/A     N/A    N/A\n");
  EXPECT_EQ(table_row(four_ranks({Operation::kBroadcast}), false),
            "     4000000       4000000     uint8    none       0   4000.0    1.00    1.00    N/A"
            "      N/A     N/A     N/A    N/A\n");
  EXPECT_EQ(table_row(four_ranks({Operation::kPingPong, 0, 1}), true),
            "     4000000       4000000     uint8    none      -1   2000.0    2.00    2.00      0"
            "      N/A     N/A     N/A    N/A\n"
            "#   half round trips: p50 150.00 us, p99 300.00 us\n");
  EXPECT_EQ(table_footer({four_ranks({Operation::kAllReduceRing}), four_ranks({Operation::kAllGather})},
                         absl::OkStatus(), true),
            "# Out of bounds values : 0 OK\n"
            "# Avg bus bandwidth    : 1.125\n"
            "#\n"
            "# collperf: ok, 64000000 bytes verified\n");
  EXPECT_THAT(table_footer({}, absl::OkStatus(), false), HasSubstr("values : N/A\n# Avg bus bandwidth    : N/A\n"));
}

TEST(ReportTest, PlacesSurviveSerialisation) {
  const absl::StatusOr<RankPlace> received = decode_rank_place(encode(RankPlace{"gpu1", 42}));
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(received->host, "gpu1");
  EXPECT_EQ(received->process, 42);
  for (const char* bad : {"{}", "[]", "x", R"({"host":1,"process":2})"})
    EXPECT_FALSE(decode_rank_place(bad).ok()) << bad;
}

TEST(ReportTest, ResultsWithWrongBytesAreNotOk) {
  Options options;
  Result result = four_ranks({Operation::kBroadcast});
  result.by_rank[2].wrong = 3;
  EXPECT_EQ(json_report(options, {}, {result}, absl::OkStatus())["ok"], false);
  EXPECT_THAT(table_footer({result}, absl::OkStatus(), true), HasSubstr("3 of 32000000 bytes wrong"));
  EXPECT_THAT(table_footer({result}, absl::OkStatus(), true), HasSubstr("# Out of bounds values : 3 FAILED\n"));
  EXPECT_EQ(table_footer({}, absl::InternalError("why"), true), "# collperf: failed: why\n");
  EXPECT_EQ(json_report(options, {}, {}, absl::InternalError("why"))["error"], "why");
  EXPECT_EQ(json_report(options, {}, {}, absl::InternalError("why"))["ok"], false);
}

TEST(ReportTest, UntimedResultsAreNull) {
  Result result = four_ranks({Operation::kBroadcast});
  for (RankResult& rank : result.by_rank) rank.iterations = 0;
  const nlohmann::json json = json_report({}, {}, {result}, absl::OkStatus());
  EXPECT_TRUE(json["results"][0]["time_us"].is_null());
  EXPECT_TRUE(json["results"][0]["busbw_GBps"].is_null());
  EXPECT_EQ(table_row(result, true),
            "     4000000       4000000     uint8    none       0      N/A     N/A     N/A      0"
            "      N/A     N/A     N/A    N/A\n");
}

}  // namespace
}  // namespace cableway::collperf
