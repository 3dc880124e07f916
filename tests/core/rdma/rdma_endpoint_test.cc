#include "core/rdma/rdma_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/circuit/transport.h"

namespace cableway {
namespace {

using testing::HasSubstr;

RdmaEndpoint endpoint() {
  return {.queue_pair = 0x123456,
          .packet_sequence = 0xffffff,
          .gid = {std::byte{0xfe}, std::byte{0x80}},
          .mtu = 4096,
          .mailbox = 0x123456789abcdef0,
          .mailbox_key = 7,
          .ethernet = parse_ethernet_address("02:1f:00:00:00:ff").value()};
}

TEST(RdmaEndpointTest, SurvivesItsEncoding) {
  const std::vector<std::byte> bytes = encode_rdma_endpoint(endpoint());
  EXPECT_EQ(bytes.size(), 46U);
  EXPECT_LE(bytes.size(), kMaxOfferBytes);
  EXPECT_EQ(decode_rdma_endpoint(bytes).value(), endpoint());
}

TEST(RdmaEndpointTest, AnyOtherLengthIsRefused) {
  std::vector<std::byte> bytes = encode_rdma_endpoint(endpoint());
  bytes.push_back(std::byte{});
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const auto decoded = decode_rdma_endpoint(std::span(bytes).first(length));
    EXPECT_EQ(decoded.ok(), length == 46) << length;
  }
}

TEST(RdmaEndpointTest, MayBeOnTheLoopbackInterface) {
  RdmaEndpoint on_loopback = endpoint();
  on_loopback.ethernet = {};
  EXPECT_EQ(decode_rdma_endpoint(encode_rdma_endpoint(on_loopback)).value(), on_loopback);
}

TEST(RdmaEndpointTest, InvalidValuesAreRefused) {
  const std::vector<std::function<void(RdmaEndpoint&)>> faults{
      [](RdmaEndpoint& each) { each.queue_pair = 0; },
      [](RdmaEndpoint& each) { each.queue_pair = 1U << 24; },
      [](RdmaEndpoint& each) { each.packet_sequence = 1U << 24; },
      [](RdmaEndpoint& each) { each.mtu = 1500; },
      [](RdmaEndpoint& each) { each.mailbox = 0; },
      [](RdmaEndpoint& each) { each.ethernet.bytes[0] = std::byte{3}; }};
  for (std::size_t i = 0; i < faults.size(); ++i) {
    RdmaEndpoint invalid = endpoint();
    faults[i](invalid);
    EXPECT_THAT(decode_rdma_endpoint(encode_rdma_endpoint(invalid)).status().message(),
                HasSubstr("an invalid end of a queue pair"))
        << i;
  }
}

TEST(EthernetAddressTest, ReadsWhatItWrites) {
  for (const std::string text : {"02:00:00:00:00:01", "a0:b1:c2:d3:e4:ff", "00:00:00:00:00:00"}) {
    EXPECT_EQ(to_text(parse_ethernet_address(text).value()), text);
  }
  EXPECT_EQ(to_text(parse_ethernet_address("A0:B1:C2:D3:E4:FF").value()), "a0:b1:c2:d3:e4:ff");
}

TEST(EthernetAddressTest, RefusesOtherTexts) {
  for (const std::string text : {"", "02:00:00:00:00", "02:00:00:00:00:1", "02:00:00:00:00:01:02", "02-00:00:00:00:01",
                                 "02:00:00:00:00:0g", "02:00:00:00:00: 1", "-2:00:00:00:00:01", "0x:00:00:00:00:01"}) {
    EXPECT_FALSE(parse_ethernet_address(text).has_value()) << text;
  }
}

TEST(EthernetAddressTest, ZerosAndGroupsAreOfNoInterface) {
  EXPECT_TRUE(parse_ethernet_address("02:00:00:00:00:01")->is_of_an_interface());
  for (const std::string text : {"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "33:33:00:00:00:01", "01:00:5e:00:00:01"}) {
    EXPECT_FALSE(parse_ethernet_address(text)->is_of_an_interface()) << text;
  }
}

}  // namespace
}  // namespace cableway
