#include "tools/collperf/launch/host_list.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cableway::collperf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<HostSlots> hosts_of(const std::string& text) {
  const auto parsed = parse_hosts(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : std::vector<HostSlots>{};
}

TEST(HostListTest, HostsWithAndWithoutSlots) {
  EXPECT_THAT(hosts_of("h0"), ElementsAre(HostSlots{"h0", 0}));
  EXPECT_THAT(hosts_of("h0,me@h1.lan:2,10.0.0.3:1024"),
              ElementsAre(HostSlots{"h0", 0}, HostSlots{"me@h1.lan", 2}, HostSlots{"10.0.0.3", 1024}));
  EXPECT_THAT(hosts_of("fe80::1%eth0,[::1]:3,me@[fd00::2]"),
              ElementsAre(HostSlots{"fe80::1%eth0", 0}, HostSlots{"::1", 3}, HostSlots{"me@fd00::2", 0}));
  EXPECT_EQ(address_of("me@h1"), "h1");
  EXPECT_EQ(address_of("h1"), "h1");
}

TEST(HostListTest, BadHostsAreRefused) {
  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {"", "\"\" is not a host"},
           {"a,,b", "\"\" is not a host"},
           {"-oProxyCommand=x", "is not a host"},
           {"me@-x", "is not a host"},
           {"@h", "is not a host"},
           {"h@", "is not a host"},
           {"a b", "\"a b\" is not a host"},
           {"$(x)", "is not a host"},
           {"h:0", "\"0\" is not a number of ranks; expected 1 to 1024"},
           {"h:1025", "\"1025\""},
           {"h:", "\"\" is not a number of ranks"},
           {"h:+1", "\"+1\""},
           {"[::1]2", "is not a host"},
           {"a,b,a:2", "host \"a\" is listed twice; expected it once, as a:SLOTS"},
           {std::string(256, 'h'), "is not a host"},
           {std::string(kMaxHostListBytes + 1, 'h'), "expected at most"}}) {
    const auto parsed = parse_hosts(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(reason));
  }
  std::string many = "h";
  for (std::size_t i = 0; i < kMaxHosts; ++i) many += ",h" + std::to_string(i);
  EXPECT_THAT(std::string(parse_hosts(many).status().message()), HasSubstr("too many hosts; expected at most 1024"));
}

TEST(HostListTest, HostFiles) {
  const auto parsed = parse_host_file("# the rack\n\nh0\nh1 slots=4  # two ports\r\n  h2:2\n");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(*parsed, ElementsAre(HostSlots{"h0", 0}, HostSlots{"h1", 4}, HostSlots{"h2", 2}));
  EXPECT_THAT(std::string(parse_host_file("h0\nh1 max_slots=4\n").status().message()), HasSubstr("line 2: "));
  EXPECT_THAT(std::string(parse_host_file("h0\nh1:2 slots=4\n").status().message()), HasSubstr("line 2: "));
  EXPECT_THAT(std::string(parse_host_file("h0\nh0\n").status().message()), HasSubstr("line 2: host \"h0\" is listed"));
  EXPECT_THAT(std::string(parse_host_file("# none\n").status().message()), HasSubstr("no host; expected"));
}

TEST(HostListTest, TheFirstOfSlurmsNodes) {
  for (const auto& [list, first] :
       std::vector<std::pair<std::string, std::string>>{{"node7", "node7"},
                                                        {"node7,node9", "node7"},
                                                        {"node[01-03,7]", "node01"},
                                                        {"node[5,7-9],other", "node5"},
                                                        {"rack[1-2]n[00-03]-ib", "rack1n00-ib"},
                                                        {"a.b,c[1-2]", "a.b"}}) {
    const auto found = first_slurm_host(list);
    ASSERT_TRUE(found.ok()) << list << found.status();
    EXPECT_EQ(*found, first);
  }
  for (const std::string bad : {"", ",a", "node[", "node[]", "node[x-3]", "node[1", "a]", "-x[1]", "a b"}) {
    const auto found = first_slurm_host(bad);
    ASSERT_FALSE(found.ok()) << bad << " " << *found;
    EXPECT_THAT(std::string(found.status().message()), HasSubstr("; expected a list as node[01-03,7]"));
  }
}

}  // namespace
}  // namespace cableway::collperf
