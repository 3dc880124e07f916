// What doctor finds about the neighbours of a port.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/cableway/doctor/doctor_ports.h"

namespace cableway::cli {
namespace {

std::vector<std::string> codes(const std::string& state, const Json& large_lost) {
  const Json port = {
      {"interface", "eth1"},
      {"carrier", true},
      {"mtu", 9000},
      {"rate_mbps", nullptr},
      {"link_mbps", nullptr},
      {"root", nullptr},
      {"root_mbps", nullptr},
      {"rdma_device", nullptr},
      {"rdma_trouble", nullptr},
      {"transport", "tcp"},
      {"transport_reason", "no RDMA device behind eth1"},
      {"plug", nullptr},
      {"neighbours",
       {{{"node", "n0"}, {"interface", "eth0"}, {"state", state}, {"large_lost", large_lost}, {"link_mbps", nullptr}}}},
      {"control", nullptr}};
  std::vector<std::string> codes;
  for (const Finding& finding : examine_ports(Json::array({port}), Settings(), {})) {
    if (finding.code != "RDMA_DEVICE_NONE") codes.push_back(finding.code);
  }
  return codes;
}

TEST(DoctorNeighbours, OneThatIsHeardOnlyIsOneWay) {
  EXPECT_THAT(codes("up", nullptr), testing::ElementsAre("CABLE_UP"));
  EXPECT_THAT(codes("heard", nullptr), testing::ElementsAre("CABLE_ONE_WAY"));
  EXPECT_THAT(codes("unpaired", nullptr), testing::ElementsAre("PORT_UNPAIRED"));
}

// The node reports that as a problem of its own.
TEST(DoctorNeighbours, OneThatDropsLargePacketsIsNotOneWay) {
  for (const char* direction : {"from", "to", "both"}) EXPECT_THAT(codes("heard", direction), testing::IsEmpty());
}

}  // namespace
}  // namespace cableway::cli
