#include "core/flooding/told_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace cableway {
namespace {

using testing::HasSubstr;

class ToldPortsTest : public testing::Test {
 protected:
  void take(std::uint64_t node, const TcpPorts& ports) {
    told_.take(routing::NodeId{node}, ports, now_, [](routing::NodeId each) { return each == routing::NodeId{1}; });
  }
  bool has(std::uint64_t node, std::uint16_t port) const { return told_.has(routing::NodeId{node}, port, now_); }

  Instant now_ = Instant() + std::chrono::hours(1);
  ToldPorts told_;
};

TEST_F(ToldPortsTest, OnlyPortsThatTheNodeHasTold) {
  EXPECT_FALSE(has(1, 5000));
  take(1, {5000, 5001});
  EXPECT_TRUE(has(1, 5000) && has(1, 5001));
  EXPECT_FALSE(has(1, 5002));
  EXPECT_FALSE(has(2, 5000)) << "announced by another node";
}

TEST_F(ToldPortsTest, AFormerPortCountsForAMinute) {
  take(1, {5000, 5001});
  take(1, {5001});
  now_ = now_ + (ToldPorts::kFormer - Duration{1});
  EXPECT_TRUE(has(1, 5000));
  now_ = now_ + Duration{1};
  EXPECT_FALSE(has(1, 5000));
  EXPECT_TRUE(has(1, 5001));
  take(1, {5000});
  EXPECT_TRUE(has(1, 5000)) << "announced again";
}

TEST_F(ToldPortsTest, FormerPortsAndFormerNeighboursAreBounded) {
  for (std::uint16_t port = 1; port <= 3 * ToldPorts::kMaxFormer; ++port) {
    take(1, {port});
    now_ = now_ + Duration{1};
  }
  EXPECT_TRUE(has(1, 3 * ToldPorts::kMaxFormer - 1));
  EXPECT_FALSE(has(1, 1)) << "the first to expire was dropped";
  for (std::uint64_t node = 2; node < 2 + 2 * ToldPorts::kMaxNodes; ++node) take(node, {5000});
  EXPECT_FALSE(has(2, 5000));
  EXPECT_TRUE(has(1 + 2 * ToldPorts::kMaxNodes, 5000));
  EXPECT_TRUE(has(1, 3 * ToldPorts::kMaxFormer)) << "a neighbour's are kept";
}

TEST_F(ToldPortsTest, ListsSurviveTheirEncoding) {
  for (const TcpPorts& ports : {TcpPorts{}, TcpPorts{1}, TcpPorts{7, 8, 65535}}) {
    const auto decoded = decode_told_ports(encode_told_ports(ports));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, ports);
  }
}

TEST_F(ToldPortsTest, AListWithAFaultIsRefused) {
  std::vector<std::byte> bytes = encode_told_ports({7, 8});
  bytes.pop_back();
  EXPECT_THAT(decode_told_ports(bytes).status().message(), HasSubstr("bad length"));
  EXPECT_THAT(decode_told_ports(encode_told_ports({0})).status().message(), HasSubstr("port 0"));
  EXPECT_THAT(decode_told_ports(std::vector(2, std::byte{0xff})).status().message(), HasSubstr("65535 of them"));
}

}  // namespace
}  // namespace cableway
