#include "routing/topology/cable_quantity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

namespace cableway::routing {
namespace {

TEST(CableQuantity, ReadsRates) {
  const std::pair<const char*, std::uint64_t> rates[] = {
      {"1Mbit/s", 1},        {"40Mbit/s", 40},   {"100Gbit/s", 100'000}, {"2.5Gbit/s", 2'500}, {"10Tbit/s", 10'000'000},
      {"0.000001Tbit/s", 1}, {"40M", 40},        {"100G", 100'000},      {"1.6T", 1'600'000},  {"10 Gbit/s", 10'000},
      {"007G", 7'000},       {"0.1Gbit/s", 100},
  };
  for (const auto& [text, mbps] : rates) {
    const auto read = parse_rate_mbps(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, mbps) << text;
  }
}

TEST(CableQuantity, ReadsLatencies) {
  const std::pair<const char*, double> latencies[] = {
      {"2us", 2},  {"1.5us", 1.5}, {"500ns", 0.5}, {"1ns", 0.001}, {"1ms", 1000},      {"0.1s", 100'000},
      {"1s", 1e6}, {"0s", 0},      {"0ns", 0},     {"3 us", 3},    {"0.001us", 0.001},
  };
  for (const auto& [text, us] : latencies) {
    const auto read = parse_latency_us(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, us) << text;
  }
}

TEST(CableQuantity, RefusesInvalidRates) {
  for (const char* text :
       {"",           "G",           "100",        "100g", "100Gb", "100GBit/s", "-1G",     "+1G",
        "1e3M",       ".5G",         "1.G",        "1,5G", "0M",    "0.5M",      "0.0001G", "11T",
        "10.000001T", "1000000000M", "1.0000001G", " 1G",  "1  G",  "1G ",       "2us",     "18446744073709551617M",
        "1.5.5G"}) {
    const auto read = parse_rate_mbps(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(std::string(read.status().message()),
              "\"" + std::string(text) +
                  "\" is not the rate of a cable; expected 1Mbit/s to 10Tbit/s in whole Mbit/s, "
                  "such as 100Gbit/s or 100G");
  }
}

TEST(CableQuantity, RefusesInvalidLatencies) {
  for (const char* text : {"", "us", "1", "1u", "1US", "-1us", "1e3us", ".5us", "0.5ns", "1.0001us", "1.1s", "1001ms",
                           "999999999s", "9999999999ns", "100G"}) {
    const auto read = parse_latency_us(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(std::string(read.status().message()),
              "\"" + std::string(text) +
                  "\" is not the latency of a cable; expected 0s to 1s in whole ns, such as 2us, "
                  "500ns or 1ms");
  }
}

TEST(CableQuantity, ReadsTimesUpToADay) {
  EXPECT_EQ(*parse_time_ns("1.5s"), 1'500'000'000U);
  EXPECT_EQ(*parse_time_ns("10 ms"), 10'000'000U);
  EXPECT_EQ(*parse_time_ns("86400s"), 86'400'000'000'000U);
  for (const char* text : {"", "1", "86400.1s", "86401s", "999999999s", "9999999999s", "-1s", "0.5ns"}) {
    EXPECT_EQ(std::string(parse_time_ns(text).status().message()),
              "\"" + std::string(text) + "\" is not a time; expected 0s to 86400s, such as 10ms, 1.5s or 300us");
  }
}

TEST(CableQuantity, RecognisesTimesByTheirUnit) {
  EXPECT_TRUE(has_unit_of_time("2us"));
  EXPECT_TRUE(has_unit_of_time("0.5 ns"));
  EXPECT_TRUE(has_unit_of_time("99999999999s"));
  EXPECT_FALSE(has_unit_of_time("100G"));
  EXPECT_FALSE(has_unit_of_time("us"));
  EXPECT_FALSE(has_unit_of_time(""));
}

TEST(CableQuantity, WritesNumbersThatReadBack) {
  EXPECT_EQ(number_text(1), "1");
  EXPECT_EQ(number_text(0.5), "0.5");
  for (const double number : {0.1, 1.0 / 3, 1e6, 1e-9, 123456.789}) {
    EXPECT_EQ(std::stod(number_text(number)), number);
  }
}

}  // namespace
}  // namespace cableway::routing
