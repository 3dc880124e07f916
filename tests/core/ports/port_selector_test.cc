#include "core/ports/port_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cableway {
namespace {

using ::testing::HasSubstr;

PortSelector parsed(const std::string& text) {
  absl::StatusOr<PortSelector> selector = parse_port_selector(text);
  EXPECT_TRUE(selector.ok()) << selector.status();
  return selector.value_or(PortSelector{});
}

routing::PortAddress address(const std::string& text) {
  absl::StatusOr<routing::PortAddress> parsed = routing::parse_port_address(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.value_or(routing::PortAddress{});
}

TEST(PortSelectorTest, NamesAnInterface) {
  for (const char* name : {"eth1", "enP2p1s0f0np0", "beef", "10", "eth1.100", "lo"}) {
    EXPECT_EQ(parsed(name), (PortSelector{name, {}}));
  }
}

TEST(PortSelectorTest, NamesAPrefix) {
  EXPECT_EQ(parsed("10.7.0.0/16"), (PortSelector{"", {address("10.7.0.0"), 16}}));
  EXPECT_EQ(parsed("fe80::/10"), (PortSelector{"", {address("fe80::"), 10}}));
  EXPECT_EQ(parsed("fe80::%eth1/10"), (PortSelector{"", {address("fe80::%eth1"), 10}}));
  EXPECT_EQ(parsed("10.9.0.1/32"), (PortSelector{"", {address("10.9.0.1"), 32}}));
}

TEST(PortSelectorTest, AnAddressAloneSelectsJustThatOne) {
  EXPECT_EQ(parsed("10.7.0.1"), parsed("10.7.0.1/32"));
  EXPECT_EQ(parsed("fd00::1"), parsed("fd00::1/128"));
}

TEST(PortSelectorTest, SurvivesARoundTrip) {
  for (const char* text : {"eth1", "10.7.0.0/16", "fe80::/10", "fe80::%eth1/10", "0.0.0.0/0", "::/0", "fd00::1/128"}) {
    EXPECT_EQ(to_text(parsed(text)), text);
  }
}

TEST(PortSelectorTest, RefusesInvalidText) {
  for (const char* text :
       {"", "eth 1", "an-interface-name", "10.7.0.0/33", "fe80::/129", "10.7.0.0/", "10.7.0.0/+8", "10.7.0.0/8/8", "/8",
        "eth1/24", "224.0.0.0/4", "10.7.0.256", "fe80:::1", "10.7.0.0/1x", "0.0.0.0/8", "10.7.0.0/0000"}) {
    const absl::Status status = parse_port_selector(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected")) << text;
  }
}

TEST(PortSelectorTest, RejectsAnAmbiguousPrefix) {
  const absl::Status status = parse_port_selector("10.7.3.1/16").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("10.7.0.0/16"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("10.7.3.1/32"));
}

TEST(PortSelectorTest, ContainsByValueAndScope) {
  const auto in = [](const std::string& prefix, const std::string& text) {
    return contains(parsed(prefix).prefix, address(text));
  };
  EXPECT_TRUE(in("10.7.0.0/16", "10.7.255.1"));
  EXPECT_FALSE(in("10.7.0.0/16", "10.8.0.1"));
  EXPECT_TRUE(in("10.6.0.0/15", "10.7.0.1"));
  EXPECT_FALSE(in("10.6.0.0/15", "10.8.0.1"));
  EXPECT_TRUE(in("10.9.0.1/32", "10.9.0.1"));
  EXPECT_FALSE(in("10.9.0.1/32", "10.9.0.2"));
  EXPECT_TRUE(in("0.0.0.0/0", "192.168.1.1"));
  EXPECT_FALSE(in("0.0.0.0/0", "fd00::1")) << "another family";
  EXPECT_TRUE(in("fe80::/10", "fe80::1%eth1"));
  EXPECT_TRUE(in("fe80::%eth1/10", "fe80::1%eth1"));
  EXPECT_FALSE(in("fe80::%eth1/10", "fe80::1%eth2"));
}

}  // namespace
}  // namespace cableway
