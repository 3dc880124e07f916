// What doctor finds about interfaces that are not used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/linux/ports/port_selection.h"
#include "tools/cableway/doctor/doctor_ports.h"
#include "tools/cableway/doctor/doctor_view.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

auto rejection(Severity severity, const std::string& about, const std::string& what) {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::about, about),
               Field(&Finding::what, HasSubstr(what)));
}

host::KernelLink link_named(const std::string& name) {
  host::KernelLink link;
  link.name = name;
  link.up = true;
  link.carrier = true;
  link.mtu = 1500;
  return link;
}

// The reasons come from port_selection.cc: this test fails if they are reworded there.
TEST(DoctorRejected, DistinguishesRequestedPortsFromOthers) {
  host::KernelNetwork network;
  network.links[1] = link_named("lo");
  network.links[1].loopback = true;
  network.links[2] = link_named("eth1");
  network.links[3] = link_named("eth2");
  network.links[3].up = false;
  network.links[4] = link_named("docker0");
  network.links[5] = link_named("br1");
  network.links[6] = link_named("eth3");
  network.links[6].master = 5;
  host::KernelAddress doubled;
  doubled.link = 2;
  doubled.prefix = {*routing::parse_port_address("10.7.0.1"), 30};
  doubled.duplicate = true;
  host::KernelAddress tentative = doubled;
  tentative.prefix.address = *routing::parse_port_address("10.7.0.5");
  tentative.duplicate = false;
  tentative.tentative = true;
  network.addresses = {doubled, tentative};
  const std::vector<PortSelector> selectors = {*parse_port_selector("eth1"),        *parse_port_selector("eth2"),
                                               *parse_port_selector("eth3"),        *parse_port_selector("eth8"),
                                               *parse_port_selector("10.9.0.0/16"), *parse_port_selector("br1")};
  const std::vector<Finding> findings =
      examine_rejected(host::select_ports(network, host::DeviceFacts(), selectors).rejected);
  EXPECT_THAT(findings, Contains(rejection(Severity::kOk, "not used", "lo, docker0: CABLEWAY_PORTS names neither")));
  EXPECT_THAT(findings, Contains(rejection(Severity::kError, "eth1", "10.7.0.1 is also used by another host")));
  EXPECT_THAT(findings, Contains(rejection(Severity::kInfo, "eth1", "10.7.0.5 is tentative")));
  EXPECT_THAT(findings, Contains(AllOf(rejection(Severity::kWarning, "eth2", "is down"),
                                       Field(&Finding::code, "PORT_UNUSABLE"))));
  EXPECT_THAT(findings, Contains(Field(&Finding::code, "PORT_NOT_USED")));
  EXPECT_THAT(findings, Contains(rejection(Severity::kInfo, "eth3", "is a member of br1")));
  EXPECT_THAT(findings, Contains(rejection(Severity::kWarning, "br1", "has no address")));
  EXPECT_THAT(findings, Contains(rejection(Severity::kError, "eth8", "there is no such interface")));
  EXPECT_THAT(findings, Contains(rejection(Severity::kError, "10.9.0.0/16", "no interface has an address inside it")));
  EXPECT_EQ(findings.size(), 8U);
  const std::vector<Finding> not_requested =
      examine_rejected(host::select_ports(network, host::DeviceFacts(), {}).rejected);
  EXPECT_THAT(not_requested, Contains(rejection(Severity::kOk, "not used", "lo: is the loopback interface")));
  EXPECT_THAT(not_requested, Contains(rejection(Severity::kOk, "not used", "docker0, br1: has no RDMA device")));
  EXPECT_LE(worst_of(not_requested), Severity::kInfo);
}

}  // namespace
}  // namespace cableway::cli
