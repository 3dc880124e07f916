// PCIe links on made-up machines: trees as sysfs has them.
#include "tools/cableway/doctor/doctor_roots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/linux/fake_sysfs.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Speed {
  std::string gigatransfers;
  std::string lanes;
};
const Speed kGen4x16{"16.0 GT/s PCIe", "16"};
const Speed kGen4x8{"16.0 GT/s PCIe", "8"};
const Speed kGen5x16{"32.0 GT/s PCIe", "16"};
const Speed kGen5x4{"32.0 GT/s PCIe", "4"};
const Speed kGen5x2{"32.0 GT/s PCIe", "2"};

class Machine {
 public:
  // `function` "0000:00:00.0/0000:01:00.1": below that root port.
  void add(const std::string& interface, const std::string& function, const std::string& connector, Speed now,
           Speed most) {
    sysfs_.link_device("class/net/" + interface, function);
    const std::string folder = "devices/pci0000:00/" + function + "/";
    sysfs_.write(folder + "current_link_speed", now.gigatransfers);
    sysfs_.write(folder + "current_link_width", now.lanes);
    sysfs_.write(folder + "max_link_speed", most.gigatransfers);
    sysfs_.write(folder + "max_link_width", most.lanes);
    sysfs_.write("class/net/" + interface + "/phys_port_name", connector);
    sysfs_.write("class/net/" + interface + "/phys_switch_id", "9a1c04");
  }

  // The most that the port above the functions can.
  void set_slot(const std::string& function, Speed most) {
    sysfs_.write("devices/pci0000:00/" + function + "/max_link_speed", most.gigatransfers);
    sysfs_.write("devices/pci0000:00/" + function + "/max_link_width", most.lanes);
  }

  // `plug` "": none.
  void use(const std::string& interface, const std::string& plug, std::uint64_t link_mbps) {
    ports_.push_back({{"interface", interface},
                      {"plug", plug.empty() ? Json(nullptr) : Json(plug)},
                      {"link_mbps", link_mbps == 0 ? Json(nullptr) : Json(link_mbps)}});
  }

  std::vector<Finding> findings() const { return examine_roots(ports_, read_links(host::Sysfs(sysfs_.root()))); }

 private:
  host::test::FakeSysfs sysfs_;
  Json ports_ = Json::array();
};

// Two plugs with two functions each; each root carries a function of both.
void add_spark(Machine& machine, Speed second_root = kGen5x4) {
  machine.add("enp1s0f0np0", "0000:00:00.0/0000:01:00.0", "p0", kGen5x4, kGen5x4);
  machine.add("enp1s0f1np1", "0000:00:00.0/0000:01:00.1", "p1", kGen5x4, kGen5x4);
  machine.add("enP2p1s0f0np0", "0002:00:00.0/0002:01:00.0", "p0", second_root, kGen5x4);
  machine.add("enP2p1s0f1np1", "0002:00:00.0/0002:01:00.1", "p1", second_root, kGen5x4);
}
void use_first_plug(Machine& machine) {
  machine.use("enp1s0f0np0", "p0", 200000);
  machine.use("enP2p1s0f0np0", "p0", 200000);
}
void use_second_plug(Machine& machine, std::uint64_t link_mbps = 200000) {
  machine.use("enp1s0f1np1", "p1", link_mbps);
  machine.use("enP2p1s0f1np1", "p1", link_mbps);
}

auto finding(Severity severity, const std::string& code, const std::string& about, const std::string& what,
             const std::string& advice) {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::code, code), Field(&Finding::about, about),
               Field(&Finding::what, HasSubstr(what)), Field(&Finding::advice, HasSubstr(advice)));
}

TEST(DoctorRoots, ASparkSaysWhatTwoCablesToOneHostBring) {
  Machine machine;
  add_spark(machine);
  use_first_plug(machine);
  use_second_plug(machine);
  const std::string what = " 32 GT/s x4 (98.3 Gbit/s) each way, and need 200 Gbit/s together";
  const std::string advice = "nothing is wrong, it is this host's design: two cables to the same host carry no more";
  EXPECT_THAT(machine.findings(),
              ElementsAre(finding(Severity::kInfo, "PCIE_ROOT_SHARED", "ports enp1s0f0np0, enp1s0f1np1",
                                  "they share the PCIe link below 0000:00:00.0," + what, advice),
                          finding(Severity::kInfo, "PCIE_ROOT_SHARED", "ports enP2p1s0f0np0, enP2p1s0f1np1",
                                  "they share the PCIe link below 0002:00:00.0," + what, advice)));
}

TEST(DoctorRoots, ASparkWithOneCableHasNoFinding) {
  Machine machine;
  add_spark(machine);
  use_first_plug(machine);
  EXPECT_THAT(machine.findings(), IsEmpty());
  use_second_plug(machine, 0);
  EXPECT_THAT(machine.findings(), IsEmpty()) << "without a carrier a port needs nothing";
}

TEST(DoctorRoots, AGx10WithALinkOfTwoLanesNeedsABios) {
  Machine machine;
  add_spark(machine, kGen5x2);
  use_first_plug(machine);
  EXPECT_THAT(machine.findings(),
              ElementsAre(finding(Severity::kWarning, "PCIE_LINK_SLOW", "port enP2p1s0f0np0",
                                  "its PCIe link below 0002:00:00.0, 32 GT/s x2 (49.1 Gbit/s) each way, cannot carry "
                                  "the 100 Gbit/s that a port needs of it",
                                  "supports 32 GT/s x4 (98.3 Gbit/s): update the BIOS")));
  use_second_plug(machine);
  EXPECT_THAT(machine.findings(),
              ElementsAre(Field(&Finding::code, "PCIE_ROOT_SHARED"),
                          finding(Severity::kWarning, "PCIE_LINK_SLOW", "ports enP2p1s0f0np0, enP2p1s0f1np1",
                                  "their PCIe link below 0002:00:00.0", "update the BIOS")));
}

TEST(DoctorRoots, ALinkBelowItsMaximumIsFineWhereItIsFastEnough) {
  Machine machine;
  add_spark(machine, kGen5x2);
  machine.use("enp1s0f0np0", "p0", 100000);
  machine.use("enP2p1s0f0np0", "p0", 100000);
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST(DoctorRoots, OneFunctionOfASplitPlugNeedsTheOther) {
  Machine machine;
  add_spark(machine);
  machine.use("enp1s0f0np0", "p0", 200000);
  EXPECT_THAT(machine.findings(),
              ElementsAre(finding(Severity::kWarning, "PCIE_LINK_SLOW", "port enp1s0f0np0",
                                  "cannot carry the 200 Gbit/s", "give enP2p1s0f0np0 an address in a subnet")));
}

TEST(DoctorRoots, AnAdapterOfSixteenLanesCarriesItsTwoPorts) {
  for (const std::uint64_t link_mbps : {100000U, 200000U}) {
    Machine machine;
    machine.add("ens1f0np0", "0000:00:01.0/0000:01:00.0", "p0", kGen4x16, kGen4x16);
    machine.add("ens1f1np1", "0000:00:01.0/0000:01:00.1", "p1", kGen4x16, kGen4x16);
    machine.use("ens1f0np0", "p0", link_mbps);
    // One port of 200 Gbit/s, or two of 100.
    machine.use("ens1f1np1", "p1", link_mbps == 100000 ? link_mbps : 0);
    EXPECT_THAT(machine.findings(), IsEmpty()) << link_mbps;
  }
}

TEST(DoctorRoots, TwoPortsOfAnAdapterInASlowSlotNeedABetterOne) {
  Machine machine;
  machine.add("ens1f0np0", "0000:00:01.0/0000:01:00.0", "p0", kGen4x16, kGen5x16);
  machine.add("ens1f1np1", "0000:00:01.0/0000:01:00.1", "p1", kGen4x16, kGen5x16);
  machine.use("ens1f0np0", "p0", 200000);
  machine.use("ens1f1np1", "p1", 200000);
  EXPECT_THAT(machine.findings(),
              ElementsAre(finding(Severity::kWarning, "PCIE_ROOT_SHARED", "ports ens1f0np0, ens1f1np1",
                                  "16 GT/s x16 (196.6 Gbit/s) each way, and need 400 Gbit/s together",
                                  "supports 32 GT/s x16 (393.2 Gbit/s)")));
}

TEST(DoctorRoots, ASlowSlotIsNotALinkBelowItsMaximum) {
  Machine machine;
  machine.add("ens1np0", "0000:00:01.0/0000:01:00.0", "p0", kGen4x8, kGen5x16);
  machine.set_slot("0000:00:01.0", kGen4x8);
  machine.use("ens1np0", "p0", 200000);
  EXPECT_THAT(machine.findings(),
              ElementsAre(finding(Severity::kWarning, "PCIE_LINK_SLOW", "port ens1np0", "cannot carry the 200 Gbit/s",
                                  "the slot is the limit, the adapter supports 32 GT/s x16 (393.2 Gbit/s): use a "
                                  "slot")));
  machine.set_slot("0000:00:01.0", kGen4x16);
  EXPECT_THAT(machine.findings(),
              ElementsAre(finding(Severity::kWarning, "PCIE_LINK_SLOW", "port ens1np0", "cannot carry the 200 Gbit/s",
                                  "the link supports 16 GT/s x16 (196.6 Gbit/s): update the BIOS")))
      << "both ends could run faster";
}

// The BIOS may have left both ends of the link with two lanes.
TEST(DoctorRoots, AGx10WhoseSlotStatesTwoLanesNeedsABiosToo) {
  Machine machine;
  add_spark(machine, kGen5x2);
  machine.set_slot("0002:00:00.0", kGen5x2);
  use_first_plug(machine);
  EXPECT_THAT(machine.findings(),
              ElementsAre(finding(Severity::kWarning, "PCIE_LINK_SLOW", "port enP2p1s0f0np0", "32 GT/s x2",
                                  "the adapter supports 32 GT/s x4 (98.3 Gbit/s): use a slot with as many lanes; where "
                                  "the adapter is part of the board, update the BIOS")));
}

TEST(DoctorRoots, FunctionsOfOnePlugBehindOneLinkAreNoTwoLinks) {
  Machine machine;
  machine.add("ens1f0np0", "0000:00:01.0/0000:01:00.0", "p0", kGen5x4, kGen5x4);
  machine.add("ens1f1np0", "0000:00:01.0/0000:01:00.1", "p0", kGen5x4, kGen5x4);
  machine.use("ens1f0np0", "p0", 200000);
  machine.use("ens1f1np0", "p0", 200000);
  EXPECT_THAT(machine.findings(),
              ElementsAre(finding(Severity::kInfo, "PCIE_ROOT_SHARED", "ports ens1f0np0, ens1f1np0",
                                  "need 200 Gbit/s together", "all functions of this plug are behind one link")));
}

TEST(DoctorRoots, AnAdapterAtItsMaximumIsNoFault) {
  Machine machine;
  machine.add("ens1f0np0", "0000:00:01.0/0000:01:00.0", "p0", kGen4x8, kGen4x8);
  machine.add("ens1f1np1", "0000:00:01.0/0000:01:00.1", "p1", kGen4x8, kGen4x8);
  machine.use("ens1f0np0", "p0", 100000);
  machine.use("ens1f1np1", "p1", 100000);
  EXPECT_THAT(machine.findings(), ElementsAre(finding(Severity::kInfo, "PCIE_ROOT_SHARED", "ports ens1f0np0, ens1f1np1",
                                                      "need 200 Gbit/s together", "at the adapter's maximum")));
  Machine fast;
  fast.add("ens1np0", "0000:00:01.0/0000:01:00.0", "p0", kGen4x8, kGen4x8);
  fast.use("ens1np0", "p0", 200000);
  EXPECT_THAT(fast.findings(), ElementsAre(finding(Severity::kInfo, "PCIE_LINK_SLOW", "port ens1np0",
                                                   "cannot carry the 200 Gbit/s", "at the adapter's maximum")));
}

TEST(DoctorRoots, TwoAdaptersDoNotShareALink) {
  Machine machine;
  machine.add("ens1np0", "0000:00:01.0/0000:01:00.0", "p0", kGen4x8, kGen4x8);
  machine.add("ens2np0", "0000:00:02.0/0000:02:00.0", "", kGen4x8, kGen4x8);
  machine.use("ens1np0", "p0", 100000);
  machine.use("ens2np0", "", 100000);
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST(DoctorRoots, ADeviceOfTheProcessorHasNoLink) {
  Machine machine;
  // USB4 hosts: their device is a domain below the controller, which has no link.
  machine.add("thunderbolt0", "0000:00:0d.2/domain0/0-0/0-1/0-1.0", "", {"Unknown", "0"}, {"Unknown", "255"});
  machine.use("thunderbolt0", "", 40000);
  machine.use("eth7", "", 40000);  // of another network namespace's sysfs
  EXPECT_THAT(machine.findings(), IsEmpty());
}

}  // namespace
}  // namespace cableway::cli
