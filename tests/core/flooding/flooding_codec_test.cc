// The codecs of flooded advertisements and of the segments that carry them: they survive a round trip, and truncated or
// modified ones are refused.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/discovery/control_channel.h"
#include "core/flooding/advertisement_codec.h"
#include "core/flooding/link_segment.h"
#include "tests/core/discovery/truncation.h"

namespace cableway {
namespace {

using test::expect_every_truncation_refused;

routing::PortAddress address_of(const char* text) {
  return *routing::parse_port_address(text);
}

FloodedAdvertisement sample_advertisement() {
  FloodedAdvertisement flooded;
  flooded.age = std::chrono::milliseconds(1234);
  routing::Advertisement& advertisement = flooded.advertisement;
  advertisement.name = "n1";
  advertisement.origin = routing::node_id("lab", "n1");
  advertisement.version = {99, 7};
  advertisement.relay_port = 7000;
  advertisement.draining = true;
  advertisement.ports = {{2, "eth1", "", "", 10'000},
                         {5, "eth2", "p0.slot-1", "0000:00:00.0", 98'300, 200'000, 98'300}};
  advertisement.adjacencies = {{2, routing::NodeId{7}, 3, address_of("10.7.0.1"), 0},
                               {5, routing::NodeId{8}, 4, address_of("fe80::1"), 2'500}};
  advertisement.adjacencies[0].neighbour_address = address_of("10.7.0.2");
  return flooded;
}

LinkSegment sample_segment() {
  LinkSegment segment;
  segment.to = 42;
  segment.your_adjacency = 1;
  segment.my_adjacency = 2;
  segment.sequence = 3;
  segment.acknowledged = 4;
  segment.messages = {{LinkMessageKind::kAdvertisement, {std::byte{1}, std::byte{2}}},
                      {LinkMessageKind::kAdvertisement, {}}};
  return segment;
}

TEST(AdvertisementCodec, SurvivesARoundTrip) {
  const std::vector<std::byte> bytes = encode_advertisement(sample_advertisement());
  const absl::StatusOr<FloodedAdvertisement> flooded = decode_advertisement(bytes, "lab");
  ASSERT_TRUE(flooded.ok()) << flooded.status();
  EXPECT_EQ(*flooded, sample_advertisement());
  expect_every_truncation_refused(bytes,
                                  [](std::span<const std::byte> cut) { return decode_advertisement(cut, "lab").ok(); });
  EXPECT_FALSE(decode_advertisement(bytes, "other").ok()) << "the origin is a hash of cluster and name";
}

TEST(AdvertisementCodec, RefusesInvalidNodes) {
  const auto refused = [](auto change) {
    FloodedAdvertisement flooded = sample_advertisement();
    change(flooded.advertisement);
    return !decode_advertisement(encode_advertisement(flooded), "lab").ok();
  };
  EXPECT_FALSE(refused([](routing::Advertisement&) {}));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.relay_port = 0; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.version.boot_nonce = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.version.sequence = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.ports[0].id = 0; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.ports[0].rate_mbps = 0; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.ports[1].id = 2; })) << "the same port twice";
  EXPECT_TRUE(refused([](routing::Advertisement& it) { std::swap(it.ports[0], it.ports[1]); })) << "not in order";
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.adjacencies[1] = it.adjacencies[0]; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.ports[1].plug = "with space"; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.ports[1].root = "with space"; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.ports[1].root = std::string(64, 'r'); }));
  EXPECT_FALSE(refused([](routing::Advertisement& it) { it.ports[1].root.clear(); }));
  constexpr std::uint64_t kTooFast = routing::kMaxRateMbps + 1;
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.ports[1].rate_mbps = kTooFast; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.ports[1].link_mbps = kTooFast; }));
  EXPECT_TRUE(refused([](routing::Advertisement& it) { it.ports[1].root_mbps = kTooFast; }));
  EXPECT_FALSE(refused([](routing::Advertisement& it) { it.ports[1].link_mbps = it.ports[1].root_mbps = 0; }))
      << "not known";
  EXPECT_FALSE(refused([](routing::Advertisement& it) { it.adjacencies[0].latency_ns = 0xffffffff; }));
}

// Whether there is one comes before the latency, draining and loss.
TEST(AdvertisementCodec, ANeighboursAddressIsThereOrNot) {
  std::vector<std::byte> bytes = encode_advertisement(sample_advertisement());
  std::byte& is_said = bytes[bytes.size() - 1 - sizeof(std::uint32_t) - 2];
  ASSERT_EQ(is_said, std::byte{0});
  for (const int bad : {1, 2, 4, 6}) {
    is_said = std::byte(bad);
    EXPECT_FALSE(decode_advertisement(bytes, "lab").ok()) << bad;
  }
  FloodedAdvertisement flooded = sample_advertisement();
  routing::PortAddress& heard = flooded.advertisement.adjacencies.front().neighbour_address.emplace();
  EXPECT_FALSE(decode_advertisement(encode_advertisement(flooded), "lab").ok()) << "0.0.0.0";
  heard.bytes = {224, 0, 0, 1};
  EXPECT_FALSE(decode_advertisement(encode_advertisement(flooded), "lab").ok()) << "multicast";
}

// The last two bytes are whether the last adjacency drains, and what it loses.
TEST(AdvertisementCodec, ADrainingAdjacencySaysOne) {
  FloodedAdvertisement flooded = sample_advertisement();
  flooded.advertisement.adjacencies.back().draining = true;
  std::vector<std::byte> bytes = encode_advertisement(flooded);
  const auto decoded = decode_advertisement(bytes, "lab");
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->advertisement, flooded.advertisement);
  std::byte& draining = bytes[bytes.size() - 2];
  ASSERT_EQ(draining, std::byte{1});
  draining = std::byte{2};
  EXPECT_FALSE(decode_advertisement(bytes, "lab").ok());
}

TEST(AdvertisementCodec, AnAdjacencyLosesAllPacketsAtMost) {
  FloodedAdvertisement flooded = sample_advertisement();
  flooded.advertisement.adjacencies.back().loss_percent = 100;
  std::vector<std::byte> bytes = encode_advertisement(flooded);
  const auto decoded = decode_advertisement(bytes, "lab");
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->advertisement, flooded.advertisement);
  bytes.back() = std::byte{101};
  EXPECT_FALSE(decode_advertisement(bytes, "lab").ok());
}

TEST(AdvertisementCodec, TheLargestFitsIntoADatagram) {
  FloodedAdvertisement flooded = sample_advertisement();
  routing::Advertisement& largest = flooded.advertisement;
  largest.name = std::string(63, 'n');
  largest.origin = routing::node_id("lab", largest.name);
  largest.ports.clear();
  largest.adjacencies.clear();
  for (std::uint32_t i = 1; i <= routing::kMaxAdvertisedPorts; ++i) {
    largest.ports.push_back({i, std::string(15, 'e'), std::string(routing::kMaxPlugLength, 'p'),
                             std::string(routing::kMaxPlugLength, 'r'), 1, 1, 1});
  }
  for (std::uint32_t i = 1; i <= routing::kMaxAdvertisedAdjacencies; ++i) {
    largest.adjacencies.push_back({1, routing::NodeId{i}, 1, address_of("fd00::1"), 1});
    largest.adjacencies.back().neighbour_address = address_of("fd00::2");
  }
  const std::vector<std::byte> bytes = encode_advertisement(flooded);
  EXPECT_LE(bytes.size(), kMaxAdvertisementBytes);
  EXPECT_LE(kMaxAdvertisementBytes, kMaxLinkMessageBytes);
  EXPECT_TRUE(decode_advertisement(bytes, "lab").ok());
}

TEST(LinkSegmentCodec, SurvivesARoundTrip) {
  const absl::StatusOr<LinkSegment> segment = decode_link_segment(encode_link_segment(sample_segment()));
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_EQ(*segment, sample_segment());
  expect_every_truncation_refused(encode_link_segment(sample_segment()),
                                  [](std::span<const std::byte> bytes) { return decode_link_segment(bytes).ok(); });
}

TEST(LinkSegmentCodec, SkipsMessagesOfUnknownKinds) {
  LinkSegment segment = sample_segment();
  segment.messages[0].kind = static_cast<LinkMessageKind>(200);
  const absl::StatusOr<LinkSegment> decoded = decode_link_segment(encode_link_segment(segment));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->messages.size(), 1U);
}

}  // namespace
}  // namespace cableway
