#include "core/live/gone_json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

namespace cableway {
namespace {

TEST(GoneJson, HasEachCableWithItsEndsAndItsTime) {
  const std::vector<GoneCable> gone = {
      {.cable = {.name = "c0",
                 .a = {.node = {}, .interface = "eth0", .address = "10.7.0.1", .plug = "p0"},
                 .b = {.node = {}, .interface = "", .address = "10.7.0.2"},
                 .rate_mbps = 25000},
       .node_a = "n0",
       .node_b = "n1",
       .twins = {},
       .gone_at = {},
       .gone_since = WallTime(std::chrono::milliseconds(1500))}};
  EXPECT_EQ(nlohmann::json::parse(gone_json(gone)), nlohmann::json::parse(R"({"schema": 1, "gone": [
    {"name": "c0", "rate_mbps": 25000, "since": "1970-01-01T00:00:01.500Z",
     "ends": [{"node": "n0", "interface": "eth0", "address": "10.7.0.1", "plug": "p0"},
              {"node": "n1", "interface": "", "address": "10.7.0.2", "plug": ""}]}]})"));
  EXPECT_EQ(nlohmann::json::parse(gone_json({})), nlohmann::json::parse(R"({"schema": 1, "gone": []})"));
}

}  // namespace
}  // namespace cableway
