#include "core/linux/rdma/right_neighbour.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/circuit/circuit_setup.h"
#include "core/flow/frame.h"
#include "tests/core/linux/rdma/fake_neighbours.h"

namespace cableway::host {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kEntry[] = "7 10.7.0.2";

class RightNeighbourTest : public testing::Test {
 protected:
  absl::Status direct() { return direct_to_neighbour(table_, neighbour_); }
  absl::Status confirm() { return confirm_neighbour(table_, neighbour_); }

  test::FakeNeighbours table_;
  CableNeighbour neighbour_{"eth1", 7, routing::parse_port_address("10.7.0.2").value(),
                            parse_ethernet_address(test::kRight).value()};
};

TEST_F(RightNeighbourTest, LeavesARightEntryAlone) {
  table_.may_set = false;
  table_.entries[kEntry] = test::kRight;
  EXPECT_TRUE(direct().ok());
  EXPECT_TRUE(confirm().ok());
}

TEST_F(RightNeighbourTest, CorrectsAWrongEntryAndEntersAMissingOne) {
  for (const std::string before : {test::kTwin, ""}) {
    table_.entries.clear();
    if (!before.empty()) table_.entries[kEntry] = before;
    EXPECT_TRUE(direct().ok());
    EXPECT_EQ(table_.entries[kEntry], test::kRight);
    EXPECT_TRUE(confirm().ok());
  }
}

TEST_F(RightNeighbourTest, RefusesAWrongEntryThatItMayNotChange) {
  table_.may_set = false;
  table_.entries[kEntry] = test::kTwin;
  const absl::Status refused = absl::FailedPreconditionError(
      "RDMA over eth1 would reach the wrong interface: 10.7.0.2 is 02:00:00:00:00:20 on its own host, but "
      "02:00:00:00:00:21 in this host's neighbour table: another interface of that host answers for this address. "
      "There: sysctl "
      "-w net.ipv4.conf.all.arp_ignore=1; then here: ip neigh flush dev eth1 (with CAP_NET_ADMIN, Cableway corrects "
      "the entry)");
  EXPECT_EQ(direct(), refused);
  EXPECT_EQ(confirm(), refused);
  EXPECT_EQ(table_.entries[kEntry], test::kTwin);
}

// A circuit's failure has room for 512 bytes, and begins with the place.
TEST_F(RightNeighbourTest, ItsReasonFitsIntoAFrame) {
  table_.may_set = false;
  neighbour_.interface = std::string(15, 'e');
  neighbour_.address = routing::parse_port_address("fd00:1111:2222:3333:4444:5555:6666:7777").value();
  table_.entries[test::FakeNeighbours::key_of(7, neighbour_.address)] = test::kTwin;
  EXPECT_LT(direct().message().size(), kMaxFailureText - 100);
  EXPECT_THAT(direct().message(), HasSubstr("net.ipv6.conf.all.proxy_ndp=0"));
}

TEST_F(RightNeighbourTest, WithoutAnEntryTheKernelAsks) {
  table_.may_set = false;
  EXPECT_TRUE(direct().ok());
  EXPECT_THAT(table_.entries, IsEmpty());
  EXPECT_TRUE(absl::IsUnavailable(confirm()));
}

TEST_F(RightNeighbourTest, ATableThatCannotBeReadIsNoPermission) {
  table_.trouble = absl::UnavailableError("no netlink");
  EXPECT_EQ(direct(), table_.trouble);
  EXPECT_EQ(confirm(), table_.trouble);
}

}  // namespace
}  // namespace cableway::host
