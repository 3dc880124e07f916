#include "core/discovery/cable_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

PortPrefix prefix(const char* text, std::uint8_t length) {
  return {*routing::parse_port_address(text), length};
}

PortFacts port(std::vector<PortPrefix> addresses, const char* interface = "eth1", PortId id = 1) {
  PortFacts facts;
  facts.id = id;
  facts.interface = interface;
  facts.carrier = true;
  facts.mtu = 1500;
  facts.addresses = std::move(addresses);
  return facts;
}

PortHello hello_of(const PortFacts& facts, const std::vector<PortFacts>& all) {
  PortHello hello;
  hello.node = "n2";
  hello.interface = facts.interface;
  hello.mtu = facts.mtu;
  hello.hold_ms = 1000;
  hello.addresses = hello_addresses(facts, all);
  return hello;
}

// Matches from both ends, which must agree.
absl::StatusOr<CableAddresses> match(const PortFacts& here, const PortFacts& there) {
  const absl::StatusOr<CableAddresses> one = match_ports(here, hello_addresses(here, {here}), hello_of(there, {there}));
  const absl::StatusOr<CableAddresses> other =
      match_ports(there, hello_addresses(there, {there}), hello_of(here, {here}));
  EXPECT_EQ(one.ok(), other.ok());
  if (one.ok() && other.ok()) {
    EXPECT_EQ(one->ours.bytes, other->theirs.bytes);
    EXPECT_EQ(one->theirs.bytes, other->ours.bytes);
  }
  return one;
}

std::string why_not(const PortFacts& here, const PortFacts& there) {
  return std::string(match(here, there).status().message());
}

TEST(CableAddresses, PrefersIpv4ThenGlobalThenLinkLocal) {
  const PortPrefix v4_here = prefix("10.7.0.1", 24), v4_there = prefix("10.7.0.2", 24);
  const PortPrefix v6_here = prefix("fd00::1", 64), v6_there = prefix("fd00::2", 64);
  const PortPrefix ll_here = prefix("fe80::1%eth1", 64), ll_there = prefix("fe80::2%eth1", 64);
  auto matched = match(port({v4_here, v6_here, ll_here}), port({v4_there, v6_there, ll_there}));
  ASSERT_TRUE(matched.ok()) << matched.status();
  EXPECT_EQ(routing::to_text(matched->theirs), "10.7.0.2");
  EXPECT_EQ(matched->remark, "");
  matched = match(port({v6_here, ll_here}), port({v4_there, v6_there, ll_there}));
  ASSERT_TRUE(matched.ok());
  EXPECT_EQ(routing::to_text(matched->theirs), "fd00::2");
  matched = match(port({ll_here}), port({ll_there}));
  ASSERT_TRUE(matched.ok());
  EXPECT_EQ(routing::to_text(matched->ours), "fe80::1%eth1");
  EXPECT_EQ(routing::to_text(matched->theirs), "fe80::2%eth1") << "with this node's scope";
  EXPECT_EQ(matched->remark, "") << "no addresses are configured";
}

TEST(CableAddresses, ErrorsSayWhatToFix) {
  EXPECT_THAT(why_not(port({prefix("10.7.0.1", 24)}), port({prefix("10.8.0.2", 24)})),
              AllOf(HasSubstr("port eth1 has 10.7.0.1/24"), HasSubstr("node n2 has 10.8.0.2/24"),
                    HasSubstr("addresses of one subnet")));
  EXPECT_THAT(why_not(port({prefix("10.7.0.1", 24)}), port({prefix("10.7.0.2", 16)})), HasSubstr("same prefix length"));
  EXPECT_THAT(why_not(port({prefix("10.7.0.1", 24)}), port({prefix("10.7.0.1", 24)})),
              HasSubstr("both have address 10.7.0.1"));
  EXPECT_THAT(why_not(port({}), port({prefix("10.7.0.1", 24)})), HasSubstr("has no address"));
  PortFacts jumbo = port({prefix("10.7.0.2", 24)});
  jumbo.mtu = 9000;
  EXPECT_THAT(why_not(port({prefix("10.7.0.1", 24)}), jumbo), AllOf(HasSubstr("MTU 1500"), HasSubstr("has 9000")));
}

TEST(CableAddresses, FallsBackToLinkLocalWithARemark) {
  const auto matched = match(port({prefix("10.7.0.1", 24), prefix("fe80::1%eth1", 64)}),
                             port({prefix("10.8.0.2", 24), prefix("fe80::2%eth1", 64)}));
  ASSERT_TRUE(matched.ok()) << matched.status();
  EXPECT_TRUE(matched->ours.is_ipv6_link_local());
  EXPECT_THAT(matched->remark, AllOf(HasSubstr("10.7.0.1/24"), HasSubstr("10.8.0.2/24"), HasSubstr("link-local")));
}

// With all cables in one /24, a kernel would send everything over the first port.
TEST(CableAddresses, DoNotUseASubnetThatTwoPortsShare) {
  const PortFacts first = port({prefix("192.168.0.1", 24), prefix("fe80::1%eth1", 64)});
  const PortFacts second = port({prefix("192.168.0.2", 24), prefix("fe80::2%eth2", 64)}, "eth2", 2);
  const PortFacts there = port({prefix("192.168.0.3", 24), prefix("fe80::3%eth1", 64)});
  const std::vector<HelloAddress> ours = hello_addresses(first, {first, second});
  EXPECT_TRUE(ours[0].shared);
  EXPECT_FALSE(ours[1].shared);
  const auto matched = match_ports(first, ours, hello_of(there, {there}));
  ASSERT_TRUE(matched.ok());
  EXPECT_EQ(routing::to_text(matched->ours), "fe80::1%eth1");
  EXPECT_EQ(matched->remark, "");
}

}  // namespace
}  // namespace cableway
