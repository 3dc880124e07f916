#include "core/linux/ports/default_route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/linux/temporary_folder.h"

namespace cableway::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kRouteHead[] = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";
constexpr char kUnspecified[] = "00000000000000000000000000000000 00 ";

class DefaultRoute : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { folder_.file(name, text); }
  std::vector<std::string> interfaces() { return default_route_interfaces(folder_.path("")); }

  test::TemporaryFolder folder_;
};

TEST_F(DefaultRoute, IsTheOneWithTheSmallestMetric) {
  write("route", std::string(kRouteHead) +
                     "wlan0\t00000000\t0102A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                     "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                     "eth1\t0000070A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
  EXPECT_THAT(interfaces(), ElementsAre("eth0", "wlan0"));
}

TEST_F(DefaultRoute, Ipv6ComesAfterIpv4WithoutRejectRoutes) {
  const std::string unspecified(kUnspecified);
  write("route", std::string(kRouteHead) + "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n" +
                     "eth7\t00000000\t0101A8C0\t0203\t0\t0\t1\t00000000\t0\t0\t0\n");
  write("ipv6_route",
        unspecified + unspecified + "fe800000000000000000000000000001 00000400 00000001 00000000 00000003 eth2\n" +
            unspecified + unspecified +
            "00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo\n" + unspecified +
            unspecified + "fe800000000000000000000000000001 00000064 00000001 00000000 00000003 eth0\n");
  EXPECT_THAT(interfaces(), ElementsAre("eth0", "eth2"));
}

TEST_F(DefaultRoute, IsEmptyWithoutReadableRoutes) {
  EXPECT_THAT(interfaces(), IsEmpty());
  write("route", "eth0\nnonsense\t00000000\tx\tzz\t0\t0\t-\t00000000\n\n");
  write("ipv6_route", std::string(kUnspecified) + "\n");
  EXPECT_THAT(interfaces(), IsEmpty());
}

}  // namespace
}  // namespace cableway::host
