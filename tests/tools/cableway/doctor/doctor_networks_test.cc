#include "tools/cableway/doctor/doctor_networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "routing/topology/port_address.h"

namespace cableway::cli {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

InterfaceAddress address_of(const std::string& interface, const std::string& address, int length) {
  return {interface, {routing::parse_port_address(address).value(), static_cast<std::uint8_t>(length)}};
}

std::vector<Finding> found(std::vector<InterfaceAddress> addresses, std::vector<std::string> default_routes = {"mg0"}) {
  HostFacts host;
  host.addresses = std::move(addresses);
  host.default_interfaces = std::move(default_routes);
  return examine_networks(Json::parse(R"([{"interface": "eth1"}, {"interface": "eth2"}])"), host);
}

TEST(DoctorNetworks, SubnetsOfTheirOwnAreFine) {
  EXPECT_THAT(found({address_of("mg0", "10.6.0.1", 24), address_of("eth1", "10.7.0.1", 24),
                     address_of("eth2", "10.7.1.1", 24), address_of("eth2", "fd00::1", 64)}),
              IsEmpty());
  EXPECT_THAT(found({address_of("mg0", "10.6.0.1", 24), address_of("mg1", "10.6.0.2", 24)}), IsEmpty()) << "no cables";
}

TEST(DoctorNetworks, CablesOfOneSubnetHaveOneFinding) {
  const std::vector<Finding> findings = found({address_of("eth1", "10.7.0.1", 24), address_of("eth2", "10.7.0.3", 16)});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].code, "CABLES_SHARE_SUBNET");
  EXPECT_EQ(findings[0].about, "ports eth1, eth2");
  EXPECT_EQ(findings[0].what, "they are in one subnet: eth1 (10.7.0.1/24), eth2 (10.7.0.3/16)");
}

TEST(DoctorNetworks, TwoAddressesOfOneCableAreFine) {
  EXPECT_THAT(found({address_of("eth1", "10.7.0.1", 24), address_of("eth1", "10.7.0.3", 24)}), IsEmpty());
}

TEST(DoctorNetworks, ACableInTheSubnetOfAnotherInterfaceIsFound) {
  const std::vector<Finding> findings = found({address_of("mg0", "10.6.0.1", 24), address_of("eth1", "10.6.0.7", 24)});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].code, "SUBNET_BESIDE_CABLE");
  EXPECT_EQ(findings[0].about, "port eth1");
  EXPECT_EQ(findings[0].what, "eth1 (10.6.0.7/24) is in the subnet of mg0 (10.6.0.1/24), which is no port");
}

TEST(DoctorNetworks, ADefaultRouteOverACableIsFound) {
  const std::vector<Finding> findings = found({}, {"mg0", "eth2"});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].code, "DEFAULT_ROUTE_ON_CABLE");
  EXPECT_EQ(findings[0].about, "port eth2");
  EXPECT_NE(findings[0].advice, "");
}

}  // namespace
}  // namespace cableway::cli
