#include "core/linux/os/interface_traffic.h"

#include <gtest/gtest.h>

namespace cableway::host {
namespace {

constexpr char kTrafficTable[] =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
    "compressed\n"
    "    lo:  800       8    0    0    0     0          0         0      800       8    0    0    0     0       0      "
    "    0\n"
    "enp1s0f0np0:18446744073709551615 2    3    4    5     6          7         8   9 10  11   12   13    14    15   "
    "16\n";

TEST(InterfaceTraffic, ReadsBothDirections) {
  const HostTraffic traffic = parse_interface_traffic(kTrafficTable);
  ASSERT_EQ(traffic.size(), 2U);
  EXPECT_EQ(traffic.at("lo"), (InterfaceTraffic{{800, 8, 0, 0}, {800, 8, 0, 0}}));
  EXPECT_EQ(traffic.at("enp1s0f0np0"), (InterfaceTraffic{{18446744073709551615U, 2, 3, 4}, {9, 10, 11, 12}}));
}

TEST(InterfaceTraffic, LeavesOutWhatIsNoInterface) {
  EXPECT_TRUE(parse_interface_traffic("").empty());
  EXPECT_TRUE(parse_interface_traffic("eth0: 1 2 3\n").empty());
  EXPECT_TRUE(parse_interface_traffic("eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n").empty());
  EXPECT_TRUE(parse_interface_traffic("eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 x\n").empty());
  EXPECT_TRUE(parse_interface_traffic("eth0: -1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n").empty());
}

TEST(InterfaceTraffic, OfThisHostHasTheLoopback) {
  EXPECT_TRUE(read_interface_traffic().contains("lo"));
}

}  // namespace
}  // namespace cableway::host
