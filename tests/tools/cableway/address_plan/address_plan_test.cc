#include "tools/cableway/address_plan/address_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/shapes/topology_generator.h"
#include "routing/topology_io/topology_file.h"
#include "tests/tools/cableway/expectation/wired.h"
#include "tools/cableway/address_plan/plan_files.h"

namespace cableway::cli {
namespace {

using routing::Topology;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<AddressPlan> plan(const Topology& topology, const std::vector<std::string>& interfaces,
                                 const std::string& range = "10.10.0.0/16", int bits = 24) {
  PlanOptions options;
  const auto hosts = host_names(topology, {});
  if (!interfaces.empty()) {
    const absl::StatusOr<PlugsByHost> plugs = parse_plugs_by_host(
        interfaces == std::vector<std::string>{"default"} ? std::vector<std::string>{} : interfaces, *hosts);
    if (!plugs.ok()) return plugs.status();
    options.plugs = *plugs;
  }
  return plan_addresses(topology, options, *SubnetRange::parse(range, bits));
}

Topology shape(const std::string& spec) {
  return *routing::generate_topology(spec);
}

std::string cabling(const absl::StatusOr<AddressPlan>& planned) {
  if (!planned.ok()) return std::string(planned.status().message());
  for (const PlanFile& file : plan_files(*planned, PlanFormat::kIp, 9000)) {
    if (file.name == kCablingFile) return "\n" + file.text;
  }
  return "";
}

std::string fault(const absl::StatusOr<AddressPlan>& planned) {
  return planned.ok() ? "" : std::string(planned.status().message());
}

//     n0.p0 ==== p1.n1.p0 ==== p1.n2.p0 ==== p1.n0
TEST(AddressPlan, OfARingOfThreeSparks) {
  EXPECT_EQ(cabling(plan(shape("ring:3"), {"spark"})), R"(
Cables:
  plug p0 of n0 to plug p1 of n1
  plug p0 of n1 to plug p1 of n2
  plug p0 of n2 to plug p1 of n0

cable  from  plug  interface      address       to  plug  interface      address
c0     n0    p0    enp1s0f0np0    10.10.0.1/24  n1  p1    enp1s0f1np1    10.10.0.2/24
c1     n0    p0    enP2p1s0f0np0  10.10.1.1/24  n1  p1    enP2p1s0f1np1  10.10.1.2/24
c2     n1    p0    enp1s0f0np0    10.10.2.1/24  n2  p1    enp1s0f1np1    10.10.2.2/24
c3     n1    p0    enP2p1s0f0np0  10.10.3.1/24  n2  p1    enP2p1s0f1np1  10.10.3.2/24
c4     n2    p0    enp1s0f0np0    10.10.4.1/24  n0  p1    enp1s0f1np1    10.10.4.2/24
c5     n2    p0    enP2p1s0f0np0  10.10.5.1/24  n0  p1    enP2p1s0f1np1  10.10.5.2/24
)");
}

//     n0.p0 ==== p1.n1.p0 ==== p1.n2.p0 ==== p1.n3.p0 ==== p1.n0
TEST(AddressPlan, OfARingOfFourIsThatOfFourSparks) {
  const auto ring = plan(shape("ring:4"), {"default"});
  const auto sparks = plan(shape("sparks:4"), {"spark"});
  EXPECT_EQ(cabling(ring), cabling(sparks));
  ASSERT_TRUE(ring.ok() && sparks.ok());
  EXPECT_EQ(ring->expected, sparks->expected);
  EXPECT_THAT(cabling(ring), HasSubstr("  plug p0 of n3 to plug p1 of n0\n"));
  EXPECT_THAT(cabling(ring),
              HasSubstr("c7     n3    p0    enP2p1s0f0np0  10.10.7.1/24  n0  p1    enP2p1s0f1np1  10.10.7.2/24\n"));
  // The rates of a Spark's plugs and PCIe links.
  EXPECT_EQ(ring->expected.cables()[0].rate_mbps, 98'300U);
  EXPECT_EQ(ring->expected.nodes()[0].plugs, (std::vector<routing::SharedPart>{{"p0", 200'000}, {"p1", 200'000}}));
}

//     n0.p0 ==== p1.n1, n1.p0 ==== p1.n0
TEST(AddressPlan, OfTwoSparksJoinedByBothPlugs) {
  EXPECT_THAT(cabling(plan(shape("sparks:2"), {"spark"})),
              HasSubstr("\n  plug p0 of n0 to plug p1 of n1\n  plug p0 of n1 to plug p1 of n0\n"));
}

//     n0.eth1 ---- eth2.n1.eth1 ---- en5.n2
TEST(AddressPlan, OfALineWhoseLastHostHasOtherInterfaces) {
  EXPECT_EQ(cabling(plan(shape("line:3"), {"eth1,eth2", "n2=en5"}, "192.168.8.0/28", 30)), R"(
Cables:
  plug p0 of n0 to plug p1 of n1
  plug p0 of n1 to plug p0 of n2

cable  from  plug  interface  address         to  plug  interface  address
c0     n0    p0    eth1       192.168.8.1/30  n1  p1    eth2       192.168.8.2/30
c1     n1    p0    eth1       192.168.8.5/30  n2  p0    en5        192.168.8.6/30
)");
}

//     n0 --- n1        Each of them has the ports e, w (to its row's other nodes), s and n. The file gives interfaces,
//      |      |        and the cables of columns their own names.
//     n2 --- n3        (2 x 2, with two cables in each place of the torus)
constexpr char kTorus[] = R"(
[[node]]
name = "n0"
[[node]]
name = "n1"
[[node]]
name = "n2"
[[node]]
name = "n3"
[[cable]]
ends = [{node = "n0", interface = "e", address = "10.0.0.1"}, {node = "n1", interface = "w", address = "10.0.0.2"}]
[[cable]]
ends = [{node = "n1", interface = "e", address = "10.0.1.1"}, {node = "n0", interface = "w", address = "10.0.1.2"}]
[[cable]]
ends = [{node = "n2", interface = "e", address = "10.0.2.1"}, {node = "n3", interface = "w", address = "10.0.2.2"}]
[[cable]]
ends = [{node = "n3", interface = "e", address = "10.0.3.1"}, {node = "n2", interface = "w", address = "10.0.3.2"}]
[[cable]]
ends = [{node = "n0", interface = "s", address = "10.0.4.1"}, {node = "n2", interface = "n", address = "10.0.4.2"}]
[[cable]]
ends = [{node = "n2", interface = "s", address = "10.0.5.1"}, {node = "n0", interface = "n", address = "10.0.5.2"}]
[[cable]]
ends = [{node = "n1", interface = "s", address = "10.0.6.1"}, {node = "n3", interface = "n", address = "10.0.6.2"}]
[[cable]]
ends = [{node = "n3", interface = "s", address = "10.0.7.1"}, {node = "n1", interface = "n", address = "10.0.7.2"}]
)";

TEST(AddressPlan, OfATorusFileKeepsItsInterfaces) {
  const auto torus = routing::parse_topology(kTorus, "torus.toml");
  ASSERT_TRUE(torus.ok()) << torus.status();
  EXPECT_EQ(cabling(plan(*torus, {})), R"(
Cables:
  e of n0 to w of n1
  w of n0 to e of n1
  s of n0 to n of n2
  n of n0 to s of n2
  s of n1 to n of n3
  n of n1 to s of n3
  e of n2 to w of n3
  w of n2 to e of n3

cable  from  plug  interface  address       to  plug  interface  address
c0     n0          e          10.10.0.1/24  n1        w          10.10.0.2/24
c1     n0          w          10.10.1.1/24  n1        e          10.10.1.2/24
c2     n0          s          10.10.2.1/24  n2        n          10.10.2.2/24
c3     n0          n          10.10.3.1/24  n2        s          10.10.3.2/24
c4     n1          s          10.10.4.1/24  n3        n          10.10.4.2/24
c5     n1          n          10.10.5.1/24  n3        s          10.10.5.2/24
c6     n2          e          10.10.6.1/24  n3        w          10.10.6.2/24
c7     n2          w          10.10.7.1/24  n3        e          10.10.7.2/24
)");
}

// The torus shape has no plugs: a host's cables take its plugs in their order.
TEST(AddressPlan, OfAShapeWithFourPorts) {
  const auto torus = plan(shape("torus:3x3"), {"eth1,eth2,eth3,eth4"});
  ASSERT_TRUE(torus.ok()) << torus.status();
  EXPECT_EQ(torus->cables.size(), 18U);
  const auto ports = ports_by_host(*torus);
  for (const std::string& host : torus->hosts) {
    std::vector<std::string> interfaces;
    for (const HostPort& port : ports.at(host)) interfaces.push_back(port.here->interface);
    EXPECT_THAT(interfaces, ElementsAre("eth1", "eth2", "eth3", "eth4")) << host;
  }
}

TEST(AddressPlan, PairsFunctionsUpAndNamesThoseLeftOver) {
  EXPECT_THAT(
      cabling(plan(shape("line:2"), {"a+b", "n1=c"})),
      HasSubstr(
          "\n  plug p0 of n0 to plug p0 of n1\n    without an address, as the other plug has fewer functions: b of "
          "n0\n"));
}

TEST(AddressPlan, RenamesHosts) {
  PlanOptions options{.hosts = {"b", "a", "c"}, .plugs = PlugsByHost{spark_plugs(), {}}};
  const auto renamed = plan_addresses(shape("ring:3"), options, *SubnetRange::parse("10.10.0.0/16", 24));
  ASSERT_TRUE(renamed.ok());
  EXPECT_EQ(cabling_text(renamed->cables[0]), "plug p0 of b to plug p1 of a");
  EXPECT_TRUE(renamed->expected.find_node("c"));
  EXPECT_EQ(host_names(shape("ring:3"), {"a", "b"}).status().message(),
            "--hosts has 2 names; expected 3, one for each node: n0,n1,n2");
  EXPECT_EQ(host_names(shape("ring:3"), {"a", "b", "a"}).status().message(),
            "--hosts names a twice; expected each host once");
  EXPECT_THAT(host_names(shape("ring:3"), {"a", "b", "-c"}).status().message(), HasSubstr("\"-c\" begins with"));
}

TEST(AddressPlan, RefusesMoreCablesThanPlugs) {
  EXPECT_EQ(
      fault(plan(shape("star:4"), {"spark"})),
      "host n0 has 3 cables, but 2 plugs (enp1s0f0np0+enP2p1s0f0np0, enp1s0f1np1+enP2p1s0f1np1); expected at most as "
      "many cables as plugs: a smaller topology, or --interfaces with all plugs of the host");
}

TEST(AddressPlan, RefusesSwitchesRoutedCablesAndPartlyNamedPorts) {
  EXPECT_THAT(fault(plan(shape("switch:3"), {"spark"})),
              HasSubstr("interface to-s0 of n0 ends 2 cables, as on a switch"));
  EXPECT_THAT(fault(plan(wired({"n0 p/a n1 p/a", "n0 p/b n2 p/a"}), {})),
              HasSubstr("plug p of n0 (a, b) ends 2 cables, as on a switch"));
  EXPECT_THAT(fault(plan(wired({"n0 a n1 a", "n1 - n2 b"}), {})), HasSubstr("cable c1 does not name its interfaces"));
  EXPECT_THAT(fault(plan(wired({}, {"n0"}), {})), HasSubstr("the topology has no cable"));
  routing::Cable routed = routing::sample_cable(0, 0, 1);
  routed.routed = true;
  EXPECT_THAT(fault(plan(routing::make_topology(routing::sample_nodes(2), {routed}), {})),
              HasSubstr("c0 leads through IP"));
}

TEST(AddressPlan, RefusesRangesThatAreTooSmallOrNotForHosts) {
  EXPECT_EQ(fault(plan(shape("ring:4"), {"spark"}, "10.10.0.0/22")),
            "--subnet has 4 subnets of /24; expected 8 at least, one for each pair of functions of 4 cables: a larger "
            "--subnet, or a longer --prefix");
  EXPECT_TRUE(plan(shape("ring:4"), {"spark"}, "10.10.0.0/21").ok());
  const auto refused = [](const std::string& range, int bits) {
    return std::string(SubnetRange::parse(range, bits).status().message());
  };
  EXPECT_THAT(refused("10.10.1.0/16", 24), HasSubstr("bits beyond its prefix"));
  EXPECT_THAT(refused("10.10.0.0/25", 24), HasSubstr("is smaller than one subnet of /24"));
  EXPECT_THAT(refused("eth0", 24), HasSubstr("is not a range of IPv4 addresses"));
  EXPECT_THAT(refused("fd00::/48", 24), HasSubstr("is not a range of IPv4 addresses"));
  EXPECT_THAT(refused("10.10.0.0", 24), HasSubstr("is not a range of IPv4 addresses"));
  EXPECT_THAT(refused("127.0.0.0/8", 24), HasSubstr("loopback"));
  EXPECT_THAT(refused("169.254.0.0/16", 24), HasSubstr("link-local"));
  EXPECT_THAT(refused("192.0.0.0/2", 24), HasSubstr("multicast"));
  EXPECT_THAT(refused("0.0.0.0/0", 24), HasSubstr("this network"));
  EXPECT_THAT(refused("224.0.0.0/8", 24), HasSubstr("not unicast"));
}

TEST(HostPlugs, AreParsedAndChecked) {
  EXPECT_EQ(parse_plugs("a+b,c")->plugs, (std::vector<std::vector<std::string>>{{"a", "b"}, {"c"}}));
  EXPECT_TRUE(parse_plugs("spark")->is_spark);
  const auto refused = [](const std::string& text) { return std::string(parse_plugs(text).status().message()); };
  EXPECT_THAT(refused("a,,b"), HasSubstr("\"\" is not the name of an interface"));
  EXPECT_THAT(refused("a,b$(reboot)xxxxxxxx"), HasSubstr("is not the name of an interface"));
  EXPECT_THAT(refused("a+b,b"), HasSubstr("b is listed twice"));
  const auto by_host = [](const std::vector<std::string>& texts) {
    return std::string(parse_plugs_by_host(texts, {"n0", "n1"}).status().message());
  };
  EXPECT_THAT(by_host({"a", "b"}), HasSubstr("a second list without a host"));
  EXPECT_THAT(by_host({"n0=a", "n0=b"}), HasSubstr("a second list of host n0"));
  EXPECT_THAT(by_host({"n2=a"}), HasSubstr("there is no host \"n2\""));
}

}  // namespace
}  // namespace cableway::cli
