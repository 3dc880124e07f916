#include "routing/topology/port_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cableway::routing {
namespace {

using ::testing::HasSubstr;

TEST(PortAddress, ReadsBothFamilies) {
  const auto v4 = parse_port_address("10.7.0.1");
  ASSERT_TRUE(v4.ok());
  EXPECT_FALSE(v4->is_ipv6);
  EXPECT_EQ(v4->bytes[0], 10);
  EXPECT_EQ(v4->bytes[3], 1);
  EXPECT_FALSE(v4->is_ipv6_link_local());

  const auto v6 = parse_port_address("fd00::2");
  ASSERT_TRUE(v6.ok());
  EXPECT_TRUE(v6->is_ipv6);
  EXPECT_EQ(v6->bytes[15], 2);
  EXPECT_FALSE(v6->is_ipv6_link_local());
}

TEST(PortAddress, ComparesByValueNotBySpelling) {
  EXPECT_EQ(*parse_port_address("fd00:0:0::1"), *parse_port_address("FD00::1"));
  EXPECT_NE(*parse_port_address("fd00::1"), *parse_port_address("fd00::2"));
  EXPECT_NE(*parse_port_address("fe80::1%eth0"), *parse_port_address("fe80::1%eth1"));
}

TEST(PortAddress, RoundTrips) {
  for (const char* text : {"10.7.0.1", "fd00::2", "fe80::1%enp1s0f0np0", "fe80::1"}) {
    EXPECT_EQ(to_text(*parse_port_address(text)), text);
  }
}

TEST(PortAddress, AcceptsAScopeOnlyOnLinkLocalAddresses) {
  const auto scoped = parse_port_address("fe80::1%enp1s0f0np0");
  ASSERT_TRUE(scoped.ok());
  EXPECT_TRUE(scoped->is_ipv6_link_local());
  EXPECT_EQ(scoped->scope, "enp1s0f0np0");
  EXPECT_TRUE(parse_port_address("febf::1%e").ok());
  EXPECT_FALSE(parse_port_address("fec0::1%e").ok());
  EXPECT_FALSE(parse_port_address("fd00::1%eth0").ok());
  EXPECT_FALSE(parse_port_address("10.0.0.1%eth0").ok());
  EXPECT_FALSE(parse_port_address("fe80::1%").ok());
  EXPECT_FALSE(parse_port_address("fe80::1%a%b").ok());
  EXPECT_FALSE(parse_port_address("fe80::1%sixteen-letters-").ok());
}

TEST(PortAddress, RefusesOtherTextAndReportsWhatWasExpected) {
  for (const std::string& text :
       {std::string(), std::string("n0"), std::string("10.7.0"), std::string("10.7.0.256"), std::string("010.7.0.1"),
        std::string("10.7.0.1 "), std::string("10.7.0.1/24"), std::string("10.7.0.1\0", 9), std::string("::g"),
        std::string("1:2"), std::string("[fd00::1]"), std::string(1000, ':'), std::string("%eth0")}) {
    const auto address = parse_port_address(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_THAT(std::string(address.status().message()), HasSubstr("; expected an IPv4 or IPv6 address")) << text;
  }
  for (const char* text : {"0.0.0.0", "255.255.255.255", "224.0.0.1", "::", "ff02::1"}) {
    const auto address = parse_port_address(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_THAT(std::string(address.status().message()), HasSubstr("; expected a unicast address")) << text;
  }
}

TEST(InterfaceName, IsWhatLinuxAllows) {
  for (const char* name : {"eth0", "enp1s0f0np0", "eth0.100", "a", "fifteen-letters", "a-"}) {
    EXPECT_TRUE(is_valid_interface_name(name)) << name;
  }
  for (const char* name :
       {"", ".", "..", "a b", "a/b", "eth0:1", "a%b", "a\"b", "a\\b", "sixteen-letters-", "\x7f", "-", "-rf"}) {
    EXPECT_FALSE(is_valid_interface_name(name)) << name;
  }
}

}  // namespace
}  // namespace cableway::routing
