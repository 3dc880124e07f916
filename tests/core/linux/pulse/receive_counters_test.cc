#include "core/linux/pulse/receive_counters.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/linux/os/unique_fd.h"

namespace cableway::host {
namespace {

constexpr char kTable[] =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier\n"
    "    lo: 1000      11    0    0    0     0          0         0     1000      11    0    0    0     0       0\n"
    "  eth1:9000      22    0    7    0     0          0         0     1000      33    0    0    0     0       0\n"
    "eth1.5: 5 44 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "eth2:18446744073709551615 18446744073709551615 0\n"
    "cut: 5";

std::uint64_t received_packets(std::string_view table, const std::string& interface) {
  ReceivedPackets packets;
  take_received_packets(table, packets);
  return packets.contains(interface) ? packets[interface] : 0;
}

TEST(ReceivedPackets, AreTheSecondNumberOfTheInterface) {
  EXPECT_EQ(received_packets(kTable, "lo"), 11U);
  EXPECT_EQ(received_packets(kTable, "eth1"), 22U);
  EXPECT_EQ(received_packets(kTable, "eth1.5"), 44U);
  EXPECT_EQ(received_packets(kTable, "eth2"), UINT64_MAX);
}

TEST(ReceivedPackets, AreReplacedByThoseOfALaterTable) {
  ReceivedPackets packets{{"eth1", 7}, {"gone", 9}};
  take_received_packets(kTable, packets);
  EXPECT_EQ(packets["eth1"], 22U);
  EXPECT_EQ(packets["gone"], 9U);
}

TEST(ReceivedPackets, AreZeroWhereThereAreNone) {
  EXPECT_EQ(received_packets(kTable, "eth"), 0U);
  EXPECT_EQ(received_packets(kTable, "cut"), 0U);
  EXPECT_EQ(received_packets("", "eth1"), 0U);
}

TEST(ReceiveCounters, CountWhatArrives) {
  ReceiveCounters counters;
  EXPECT_EQ(counters.packets("lo"), 0U) << "before the first reading";
  counters.refresh();
  const std::uint64_t before = counters.packets("lo");
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  ASSERT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
  ASSERT_EQ(::sendto(socket.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&own), size), 1);
  EXPECT_EQ(counters.packets("lo"), before);
  counters.refresh();
  EXPECT_GT(counters.packets("lo"), before);
  EXPECT_EQ(counters.packets("no-such-port"), 0U);
}

}  // namespace
}  // namespace cableway::host
