// The codecs of hellos and control datagrams: messages survive a round trip, and truncated or modified ones are
// refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/discovery/control_channel.h"
#include "core/discovery/control_datagram.h"
#include "core/discovery/port_hello.h"
#include "routing/text/node_name.h"
#include "tests/core/discovery/truncation.h"

namespace cableway {
namespace {

using test::expect_every_truncation_refused;

routing::PortAddress address(const char* text) {
  return *routing::parse_port_address(text);
}

PortHello sample_hello() {
  PortHello hello;
  hello.node = "n1";
  hello.interface = "eth1";
  hello.mtu = 9000;
  hello.hold_ms = 1000;
  hello.sent_ns = 15;
  hello.addresses = {{{address("10.7.0.1"), 24}, false}, {{address("fe80::1"), 64}, true}};
  hello.heard = {{routing::NodeId{7}, 3, 99, 11, UINT64_MAX, true, {14, UINT64_MAX}, FullSize::kArrives},
                 {routing::NodeId{8}, 4, 98, 0, 13, false, {}, FullSize::kLost}};
  return hello;
}

TEST(PortHelloCodec, SurvivesARoundTrip) {
  const absl::StatusOr<PortHello> hello = decode_port_hello(encode_port_hello(sample_hello()));
  ASSERT_TRUE(hello.ok()) << hello.status();
  EXPECT_EQ(*hello, sample_hello());
  expect_every_truncation_refused(encode_port_hello(sample_hello()),
                                  [](std::span<const std::byte> bytes) { return decode_port_hello(bytes).ok(); });
}

TEST(PortHelloCodec, PaddingMakesItAsLongAsAsked) {
  const std::size_t bare = encode_port_hello(sample_hello()).size();
  for (const std::size_t bytes : {std::size_t{0}, bare - 1, bare, bare + 1, std::size_t{8000}, kMaxDatagramBytes}) {
    const std::vector<std::byte> body = encode_port_hello(sample_hello(), bytes);
    EXPECT_EQ(body.size(), std::max(bytes, bare));
    const absl::StatusOr<PortHello> hello = decode_port_hello(body);
    ASSERT_TRUE(hello.ok()) << bytes << ": " << hello.status();
    EXPECT_EQ(*hello, sample_hello());
  }
  expect_every_truncation_refused(encode_port_hello(sample_hello(), bare + 40),
                                  [](std::span<const std::byte> bytes) { return decode_port_hello(bytes).ok(); });
}

TEST(PortHelloCodec, RefusesPaddingThatIsNotZero) {
  const std::size_t bare = encode_port_hello(sample_hello()).size();
  const std::vector<std::byte> body = encode_port_hello(sample_hello(), bare + 40);
  for (std::size_t at = bare; at < body.size(); ++at) {
    std::vector<std::byte> changed = body;
    changed[at] = std::byte{1};
    EXPECT_EQ(decode_port_hello(changed).status().message(), "hello: bad padding") << at;
  }
}

TEST(PortHelloCodec, TheLargestFitsIntoADatagram) {
  PortHello hello = sample_hello();
  hello.node = std::string(routing::kMaxNodeNameBytes, 'n');
  hello.interface = std::string(routing::kMaxInterfaceNameBytes, 'e');
  hello.addresses.resize(kMaxHelloAddresses, hello.addresses[1]);
  hello.heard.resize(kMaxHeard, hello.heard[0]);
  const std::vector<std::byte> body = encode_port_hello(hello);
  EXPECT_TRUE(decode_port_hello(body).ok());
  EXPECT_LE(kControlEnvelopeBytes + body.size(), kMaxDatagramBytes);
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
  EXPECT_TRUE(refused([](PortHello& hello) { hello.heard[0].full_size = static_cast<FullSize>(3); }));
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
