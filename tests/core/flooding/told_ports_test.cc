#include "core/flooding/told_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

namespace cableway {
namespace {

using testing::HasSubstr;

class ToldPortsTest : public testing::Test {
 protected:
  // Port 1 of this node, and a port of the neighbour.
  static NeighbourKey key(PortId neighbour_port, PortId own = 1, std::uint64_t node = 7) {
    return {own, routing::NodeId{node}, neighbour_port};
  }
  void take(PortId neighbour_port, const TcpPorts& ports) {
    told_.begin(key(neighbour_port));
    told_.take(key(neighbour_port), {7470, ports}, now_);
  }
  bool has(PortId neighbour_port, std::uint16_t port) const {
    return told_.has_process(key(neighbour_port), port, now_);
  }

  Instant now_ = Instant() + std::chrono::hours(1);
  ToldPorts told_;
};

TEST_F(ToldPortsTest, OnlyPortsThatWereToldOverTheAdjacency) {
  EXPECT_FALSE(has(1, 5000));
  take(1, {5000, 5001});
  EXPECT_TRUE(has(1, 5000) && has(1, 5001));
  EXPECT_FALSE(has(1, 5002));
  EXPECT_FALSE(has(1, 7470)) << "that is its relay's";
  EXPECT_FALSE(has(2, 5000)) << "announced over another cable";
  take(2, {22});
  EXPECT_TRUE(has(1, 5000) && has(2, 22));
  EXPECT_FALSE(has(1, 22));
}

TEST_F(ToldPortsTest, ARelaysPortIsToldAgainOverEachAdjacency) {
  EXPECT_EQ(told_.relay_of(key(1)), std::nullopt);
  told_.begin(key(1));
  EXPECT_EQ(told_.relay_of(key(1)), std::nullopt);
  take(1, {5000});
  EXPECT_EQ(told_.relay_of(key(1)), 7470);
  told_.end(key(1), "c", now_);
  EXPECT_EQ(told_.relay_of(key(1)), 7470) << "for inquiries over former cables";
  told_.begin(key(1));
  EXPECT_EQ(told_.relay_of(key(1)), std::nullopt);
  EXPECT_TRUE(has(1, 5000)) << "processes outlive their node";
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
  EXPECT_TRUE(has(1, 5001)) << "a former one now";
}

TEST_F(ToldPortsTest, FormerPortsAreBounded) {
  for (std::uint16_t port = 1; port <= 3 * ToldPorts::kMaxFormer; ++port) {
    take(1, {port});
    now_ = now_ + Duration{1};
  }
  EXPECT_TRUE(has(1, 3 * ToldPorts::kMaxFormer) && has(1, 3 * ToldPorts::kMaxFormer - 1));
  EXPECT_TRUE(has(1, 2 * ToldPorts::kMaxFormer));
  EXPECT_FALSE(has(1, 2 * ToldPorts::kMaxFormer - 1)) << "the first to expire were dropped";
}

// Each replaces all ports of the one before, and those of the one before that are dropped.
TEST_F(ToldPortsTest, ListsThatReplaceEachOtherCostLittle) {
  std::vector<TcpPorts> lists(3);
  for (std::uint16_t i = 0; i < 3 * kMaxToldPorts; ++i) lists[i % 3].push_back(static_cast<std::uint16_t>(1 + i));
  const std::clock_t begin = std::clock();
  for (std::size_t i = 0; i < 1000; ++i) take(1, lists[i % 3]);
  EXPECT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC) << "quadratic ones take some 30 s";
  EXPECT_TRUE(has(1, lists[0][5]) && has(1, lists[2][5]));
  EXPECT_FALSE(has(1, lists[1][5]));
}

TEST_F(ToldPortsTest, AnEndedAdjacencyIsFoundByItsCable) {
  take(1, {5000});
  EXPECT_EQ(told_.ended(key(1).node, "c1"), std::nullopt);
  told_.end(key(1), "c1", now_);
  now_ = now_ + Duration{1};
  EXPECT_EQ(told_.ended(key(1).node, "c1"), key(1));
  EXPECT_TRUE(has(1, 5000));
  EXPECT_EQ(told_.ended(key(1).node, "c2"), std::nullopt);
  EXPECT_EQ(told_.ended(routing::NodeId{8}, "c1"), std::nullopt);
  take(2, {5000});
  told_.end(key(2), "c1", now_);
  EXPECT_EQ(told_.ended(key(1).node, "c1"), key(2)) << "an interface that was made again";
  told_.begin(key(2));
  EXPECT_EQ(told_.ended(key(1).node, "c1"), key(1));
}

TEST_F(ToldPortsTest, EndedAdjacenciesAreBounded) {
  const NeighbourKey other = key(1, 2);
  told_.begin(other);
  told_.end(other, "other", now_);
  for (PortId port = 1; port <= 100; ++port) {
    now_ = now_ + Duration{1};
    take(port, {5000});
    told_.end(key(port), "c" + std::to_string(port), now_);
  }
  EXPECT_EQ(told_.ended(other.node, "other"), other) << "those of another port take no place of it";
  EXPECT_EQ(told_.ended(other.node, "c100"), key(100));
  EXPECT_TRUE(has(100 - ToldPorts::kMaxEndedOfPort + 1, 5000));
  EXPECT_FALSE(has(100 - ToldPorts::kMaxEndedOfPort, 5000));
  for (PortId own = 10; own < 10 + ToldPorts::kMaxEnded; ++own) {
    now_ = now_ + Duration{1};
    told_.begin(key(1, own));
    told_.end(key(1, own), "c", now_);
  }
  EXPECT_EQ(told_.ended(other.node, "other"), std::nullopt);
  EXPECT_FALSE(has(100, 5000));
}

TEST_F(ToldPortsTest, ListsSurviveTheirEncoding) {
  for (const AnnouncedPorts& ports :
       {AnnouncedPorts{}, AnnouncedPorts{7470, {1}}, AnnouncedPorts{65535, {7, 8, 65535}}}) {
    const auto decoded = decode_told_ports(encode_told_ports(ports));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, ports);
  }
  EXPECT_EQ(*decode_told_ports(encode_told_ports({1, {9, 7, 9, 8}})), (AnnouncedPorts{1, {7, 8, 9}}));
}

TEST_F(ToldPortsTest, AListWithAFaultIsRefused) {
  std::vector<std::byte> bytes = encode_told_ports({7470, {7, 8}});
  bytes.pop_back();
  EXPECT_THAT(decode_told_ports(bytes).status().message(), HasSubstr("bad length"));
  bytes.resize(bytes.size() + 2);
  EXPECT_THAT(decode_told_ports(bytes).status().message(), HasSubstr("bad length"));
  EXPECT_THAT(decode_told_ports(encode_told_ports({7470, {0, 1}})).status().message(), HasSubstr("port 0"));
  EXPECT_THAT(decode_told_ports(std::vector(4, std::byte{0xff})).status().message(), HasSubstr("65535 of them"));
}

}  // namespace
}  // namespace cableway
