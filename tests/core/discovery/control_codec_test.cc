// The codecs of messages between nodes: messages survive a round trip, and truncated or modified ones are refused.
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/discovery/control_channel.h"
#include "core/discovery/control_datagram.h"
#include "core/discovery/port_hello.h"
#include "core/flooding/advertisement_codec.h"
#include "core/flooding/link_segment.h"

namespace cableway {
namespace {

routing::PortAddress address(const char* text) {
  return *routing::parse_port_address(text);
}

PortHello sample_hello() {
  PortHello hello;
  hello.node = "n1";
  hello.interface = "eth1";
  hello.mtu = 9000;
  hello.hold_ms = 1000;
  hello.addresses = {{{address("10.7.0.1"), 24}, false}, {{address("fe80::1"), 64}, true}};
  hello.heard = {{routing::NodeId{7}, 3, 11, 12}, {routing::NodeId{8}, 4, 0, 13}};
  return hello;
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
  advertisement.ports = {{2, "eth1", "", 10'000}, {5, "eth2", "p0.slot-1", 200'000}};
  advertisement.adjacencies = {{2, routing::NodeId{7}, 3, address("10.7.0.1")},
                               {5, routing::NodeId{8}, 4, address("fe80::1")}};
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

// Expects that no proper prefix of `bytes` decodes, nor `bytes` with a trailing byte.
template <typename Decode>
void expect_every_truncation_refused(const std::vector<std::byte>& bytes, Decode decode) {
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(std::span(bytes).first(length))) << length << " of " << bytes.size();
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(std::span<const std::byte>(longer)));
}

TEST(PortHelloCodec, SurvivesARoundTrip) {
  const absl::StatusOr<PortHello> hello = decode_port_hello(encode_port_hello(sample_hello()));
  ASSERT_TRUE(hello.ok()) << hello.status();
  EXPECT_EQ(*hello, sample_hello());
  expect_every_truncation_refused(encode_port_hello(sample_hello()),
                                  [](std::span<const std::byte> bytes) { return decode_port_hello(bytes).ok(); });
}

TEST(PortHelloCodec, RefusesInvalidPorts) {
  const auto refused = [](auto change) {
    PortHello hello = sample_hello();
    change(hello);
    return !decode_port_hello(encode_port_hello(hello)).ok();
  };
  EXPECT_FALSE(refused([](PortHello&) {}));
  EXPECT_TRUE(refused([](PortHello& hello) { hello.node = "a b"; }));
  EXPECT_TRUE(refused([](PortHello& hello) { hello.node = ""; }));
  EXPECT_TRUE(refused([](PortHello& hello) { hello.interface = "eth0/1"; }));
  EXPECT_TRUE(refused([](PortHello& hello) { hello.hold_ms = 0; }));
  EXPECT_TRUE(refused([](PortHello& hello) { hello.addresses[0].prefix.prefix_length = 33; }));
  EXPECT_TRUE(refused([](PortHello& hello) { hello.addresses[0].prefix.address.bytes = {224, 0, 0, 1}; }));
  EXPECT_TRUE(refused([](PortHello& hello) { hello.addresses.resize(kMaxHelloAddresses + 1, hello.addresses[0]); }));
  EXPECT_TRUE(refused([](PortHello& hello) { hello.heard.resize(kMaxHeard + 1); }));
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
}

TEST(AdvertisementCodec, TheLargestFitsIntoADatagram) {
  FloodedAdvertisement flooded = sample_advertisement();
  routing::Advertisement& largest = flooded.advertisement;
  largest.name = std::string(63, 'n');
  largest.origin = routing::node_id("lab", largest.name);
  largest.ports.clear();
  largest.adjacencies.clear();
  for (std::uint32_t i = 1; i <= routing::kMaxAdvertisedPorts; ++i) {
    largest.ports.push_back({i, std::string(15, 'e'), std::string(routing::kMaxPlugLength, 'p'), 1});
  }
  for (std::uint32_t i = 1; i <= routing::kMaxAdvertisedAdjacencies; ++i) {
    largest.adjacencies.push_back({1, routing::NodeId{i}, 1, address("fd00::1")});
  }
  const std::vector<std::byte> bytes = encode_advertisement(flooded);
  EXPECT_LE(bytes.size(), kMaxAdvertisementBytes);
  EXPECT_LE(bytes.size(), kMaxLinkMessageBytes);
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

class CodeSeal final : public DatagramSeal {
 public:
  SealBytes seal(std::span<const std::byte> bytes) const override {
    SealBytes seal{};
    for (std::size_t i = 0; i < bytes.size(); ++i) seal[i % seal.size()] ^= bytes[i] ^ std::byte{0x5a};
    return seal;
  }
  bool matches(std::span<const std::byte> bytes, std::span<const std::byte, kSealBytes> seal) const override {
    const SealBytes right = this->seal(bytes);
    return std::equal(right.begin(), right.end(), seal.begin());
  }
};

TEST(ControlDatagramCodec, SurvivesARoundTripAndReportsFaults) {
  const CodeSeal seal;
  const std::vector<std::byte> body = {std::byte{1}, std::byte{2}, std::byte{3}};
  const ControlDatagram sent{ControlKind::kSegment, 5, routing::NodeId{6}, 7, 8, 9, body};
  const std::vector<std::byte> bytes = encode_control_datagram(sent, seal);
  ControlDatagram got;
  ASSERT_EQ(decode_control_datagram(bytes, 5, seal, got), ControlFault::kNone);
  EXPECT_EQ(got.kind, sent.kind);
  EXPECT_EQ(got.sender, sent.sender);
  EXPECT_EQ(got.boot_nonce, sent.boot_nonce);
  EXPECT_EQ(got.counter, sent.counter);
  EXPECT_EQ(got.port, sent.port);
  EXPECT_EQ(std::vector<std::byte>(got.body.begin(), got.body.end()), body);

  EXPECT_EQ(decode_control_datagram(bytes, 4, seal, got), ControlFault::kCluster);
  EXPECT_EQ(decode_control_datagram(bytes, 5, NoSeal(), got), ControlFault::kSeal) << "a key there, none here";
  EXPECT_EQ(decode_control_datagram(encode_control_datagram(sent, NoSeal()), 5, seal, got), ControlFault::kSeal);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(decode_control_datagram(std::span(bytes).first(length), 5, seal, got), ControlFault::kNone) << length;
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::vector<std::byte> changed = bytes;
    changed[at] ^= std::byte{4};
    EXPECT_NE(decode_control_datagram(changed, 5, seal, got), ControlFault::kNone) << "byte " << at;
  }
  std::vector<std::byte> newer = bytes;
  newer[2] = std::byte{kControlVersion + 1};
  EXPECT_EQ(decode_control_datagram(newer, 5, seal, got), ControlFault::kVersion);
}

}  // namespace
}  // namespace cableway
