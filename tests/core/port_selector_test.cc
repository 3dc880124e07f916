#include "core/port_selector.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace cableway {
namespace {

PortFacts port(const std::string& interface, const std::vector<std::string>& addresses) {
  PortFacts facts;
  facts.interface = interface;
  for (const std::string& text : addresses) {
    const absl::StatusOr<routing::PortAddress> address = routing::parse_port_address(text);
    EXPECT_TRUE(address.ok()) << address.status();
    facts.addresses.push_back({*address, 24});
  }
  return facts;
}

bool selected(const std::string& text, const PortFacts& facts) {
  const std::optional<PortSelector> selector = parse_port_selector(text);
  EXPECT_TRUE(selector) << text;
  return selector && selects(*selector, facts);
}

TEST(PortSelector, SurvivesItsText) {
  for (const char* text : {"eth1", "enp1s0f0np0", "10.7.0.0/16", "10.7.3.1/0", "0.0.0.0/0", "::/0", "fd00::/8",
                           "fe80::1/128", "10.7.0.1/32"}) {
    const std::optional<PortSelector> selector = parse_port_selector(text);
    ASSERT_TRUE(selector) << text;
    EXPECT_EQ(to_text(*selector), text);
    EXPECT_EQ(parse_port_selector(to_text(*selector)), selector);
  }
}

TEST(PortSelector, RefusesWhatIsNeitherInterfaceNorPrefix) {
  for (const char* text : {"",
                           " ",
                           "eth 1",
                           "averylonginterfacename",
                           "10.7.0.1",
                           "fd00::1",
                           "::",
                           "10.7.0.0/33",
                           "fd00::/129",
                           "10.7.0.0/",
                           "10.7.0.0/-1",
                           "10.7.0.0/+8",
                           "10.7.0.0/8 ",
                           "10.7/16",
                           "/16",
                           "eth1/8",
                           "10.7.0.0/1/2",
                           "224.0.0.0/4",
                           "ff00::/8",
                           "fe80::1%eth0/64",
                           "fe80::1%eth0"}) {
    EXPECT_FALSE(parse_port_selector(text)) << text;
  }
  EXPECT_FALSE(parse_port_selector(std::string("10.7.0.0/1\0", 11)));
}

TEST(PortSelector, SelectsAnInterfaceByItsName) {
  EXPECT_TRUE(selected("eth1", port("eth1", {})));
  EXPECT_FALSE(selected("eth1", port("eth10", {"10.7.0.1"})));
}

TEST(PortSelector, SelectsEveryPortWithAnAddressInThePrefix) {
  const PortFacts facts = port("eth1", {"10.7.129.1", "fd00:1::5"});
  EXPECT_TRUE(selected("10.7.0.0/16", facts));
  EXPECT_TRUE(selected("10.7.200.7/17", facts));  // the bits past 17 mean nothing
  EXPECT_FALSE(selected("10.7.0.0/17", facts));
  EXPECT_TRUE(selected("10.7.129.1/32", facts));
  EXPECT_FALSE(selected("10.7.129.0/32", facts));
  EXPECT_TRUE(selected("fd00::/16", facts));
  EXPECT_FALSE(selected("fd00::/32", facts));
  EXPECT_TRUE(selected("fd00:1::5/128", facts));
}

TEST(PortSelector, KeepsTheFamiliesApart) {
  EXPECT_TRUE(selected("0.0.0.0/0", port("eth1", {"10.7.0.1"})));
  EXPECT_FALSE(selected("0.0.0.0/0", port("eth1", {"fd00::1"})));
  EXPECT_TRUE(selected("::/0", port("eth1", {"fd00::1"})));
  EXPECT_FALSE(selected("::/0", port("eth1", {"10.7.0.1"})));
}

}  // namespace
}  // namespace cableway
