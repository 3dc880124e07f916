// The inventory, in network namespaces that the tests create.
#include "core/linux/ports/netlink_inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/linux/ports/netlink_watch.h"
#include "tests/core/event/recorded_events.h"
#include "tests/core/linux/fake_rdma_devices.h"
#include "tests/core/linux/fake_sysfs.h"
#include "tests/core/linux/network_namespace.h"

namespace cableway::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PortPrefix prefix(const std::string& address, int length) {
  return {routing::parse_port_address(address).value(), static_cast<std::uint8_t>(length)};
}

std::vector<PortSelector> selectors(const std::vector<std::string>& texts) {
  std::vector<PortSelector> selectors;
  for (const std::string& text : texts) selectors.push_back(parse_port_selector(text).value());
  return selectors;
}

class NetlinkInventoryTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = test::why_no_network_namespaces();
    if (!why.empty()) GTEST_SKIP() << why;
    namespace_ = std::make_unique<test::NetworkNamespace>();
    // Link-local addresses appear with the carrier; these tests add them explicitly.
    test::set_sysctl("ipv6/conf/default/addr_gen_mode", "1");
    test::ip(
        "link add eth1 type veth peer name far1\n"
        "link set far1 up\n"
        "link set eth1 up");
  }
  std::unique_ptr<NetlinkInventory> make(const std::vector<std::string>& texts) {
    auto inventory = NetlinkInventory::open(io_, selectors(texts), sysfs_.root(), sysfs_.rdma_folder());
    EXPECT_TRUE(inventory.ok()) << inventory.status();
    return inventory.ok() ? *std::move(inventory) : nullptr;
  }
  void open(const std::vector<std::string>& texts) {
    inventory_ = make(texts);
    ASSERT_NE(inventory_, nullptr);
    inventory_->watch([this] { ++changes_; });
    inventory_->watch_losses([this](const PortLost& lost) {
      changes_at_loss_ = changes_;
      losses_.push_back(lost);
    });
  }
  bool becomes(const std::function<bool(const std::vector<PortFacts>&)>& holds) {
    return test::runs_until(io_, [&] { return holds(inventory_->ports()); });
  }
  bool has_reason(const std::string& interface, const std::string& reason) const {
    return testing::Value(inventory_->rejected(),
                          Contains(testing::AllOf(Field(&RejectedPort::interface, interface),
                                                  Field(&RejectedPort::reason, HasSubstr(reason)))));
  }

  // eth1 has 10.7.0.1 and the followed device mlx5_0 behind it.
  void open_with_device() {
    test::ip("addr add 10.7.0.1/24 dev eth1");
    sysfs_.add_rdma_device("mlx5_0");
    sysfs_.add_gid("mlx5_0", 3, "eth1", test::kIpv4Gid);
    open({"eth1"});
    follow_devices();
  }
  void follow_devices() {
    const absl::Status followed = inventory_->follow_devices(rdma_.open(), events_);
    EXPECT_TRUE(followed.ok()) << followed;
  }

  boost::asio::io_context io_;
  test::FakeSysfs sysfs_;
  test::FakeRdmaDevices rdma_;
  ::cableway::test::RecordedEvents events_;
  std::unique_ptr<test::NetworkNamespace> namespace_;
  std::unique_ptr<NetlinkInventory> inventory_;
  int changes_ = 0;
  std::vector<PortLost> losses_;
  int changes_at_loss_ = -1;  // the latest
};

TEST_F(NetlinkInventoryTest, FindsExistingPorts) {
  sysfs_.write("class/net/eth1/speed", "100000");
  test::ip(
      "addr add 10.7.0.1/24 dev eth1\n"
      "addr add fd00::1/64 dev eth1 nodad\n"
      "addr add fe80::1/64 dev eth1 nodad\n"
      "link set eth1 mtu 9000");
  open({"eth1"});
  ASSERT_THAT(inventory_->ports(), SizeIs(1));
  const PortFacts port = inventory_->ports()[0];
  EXPECT_NE(port.id, 0U);
  EXPECT_EQ(port.interface, "eth1");
  EXPECT_TRUE(port.carrier);
  EXPECT_EQ(port.mtu, 9000U);
  EXPECT_EQ(port.rate_mbps, 100000U);
  EXPECT_THAT(port.addresses, ElementsAre(prefix("10.7.0.1", 24), prefix("fd00::1", 64), prefix("fe80::1%eth1", 64)));
  EXPECT_EQ(port.plug, "");
  EXPECT_EQ(inventory_->status(), "");
  EXPECT_TRUE(has_reason("far1", "CABLEWAY_PORTS names neither"));
}

TEST_F(NetlinkInventoryTest, ReadsThePcieLinkBehindAPort) {
  constexpr char kFunction[] = "pci0000:00/0000:00:00.0/0000:01:00.0";
  sysfs_.set_pcie_link(kFunction, "32.0 GT/s PCIe", "4", "4");
  sysfs_.add_interface("eth1", kFunction);
  sysfs_.write("class/net/eth1/speed", "200000");
  test::ip("addr add 10.7.0.1/24 dev eth1");
  open({"eth1"});
  ASSERT_THAT(inventory_->ports(), SizeIs(1));
  EXPECT_EQ(inventory_->ports()[0].link_mbps, 200'000U);
  EXPECT_EQ(inventory_->ports()[0].rate_mbps, 98'300U);
  EXPECT_EQ(inventory_->ports()[0].root, "0000:00:00.0");
  EXPECT_EQ(inventory_->ports()[0].root_mbps, 98'300U);

  // Trained to fewer lanes a moment after the interface has changed, without a message of its own.
  test::ip("link set eth1 mtu 4000");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].mtu == 4000; }));
  sysfs_.set_pcie_link(kFunction, "32.0 GT/s PCIe", "2", "4");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].root_mbps == 49'100; }));
  EXPECT_EQ(inventory_->ports()[0].rate_mbps, 49'100U);
}

TEST_F(NetlinkInventoryTest, RereadsThePcieLinkOfAHostThatDoesNotChange) {
  constexpr char kFunction[] = "pci0000:00/0000:00:00.0/0000:01:00.0";
  sysfs_.set_pcie_link(kFunction, "32.0 GT/s PCIe", "4", "4");
  sysfs_.add_interface("eth1", kFunction);
  test::ip("addr add 10.7.0.1/24 dev eth1");
  const std::vector<std::chrono::milliseconds> rereads{std::chrono::milliseconds(1), std::chrono::milliseconds(20)};
  auto inventory = NetlinkInventory::open(io_, selectors({"eth1"}), sysfs_.root(), sysfs_.rdma_folder(), rereads);
  ASSERT_TRUE(inventory.ok()) << inventory.status();
  for (const auto& [width, mbps] : {std::pair("2", 49'100U), std::pair("1", 24'500U), std::pair("4", 98'300U)}) {
    io_.run_for(std::chrono::milliseconds(100));  // longer than all re-reads but the last
    sysfs_.set_pcie_link(kFunction, "32.0 GT/s PCIe", width, "4");
    EXPECT_TRUE(test::runs_until(io_, [&, rate = mbps] { return (*inventory)->ports()[0].root_mbps == rate; }));
  }
}

TEST_F(NetlinkInventoryTest, FollowsAddresses) {
  open({"eth1"});
  EXPECT_THAT(inventory_->ports(), IsEmpty());
  EXPECT_TRUE(has_reason("eth1", "has no address: not even a link-local one"));
  EXPECT_THAT(inventory_->status(), HasSubstr("has no address"));

  test::ip("addr add 10.7.0.1/24 dev eth1");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1 && ports[0].addresses.size() == 1; }));
  test::ip("addr add 10.8.0.1/24 dev eth1\naddr add fd00::1/64 dev eth1 nodad\naddr add fd00::2/64 dev eth1 nodad");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].addresses.size() == 4; }));
  EXPECT_EQ(inventory_->ports(), make({"eth1"})->ports()) << "the followed state equals a new inventory's";

  test::ip("addr del 10.7.0.1/24 dev eth1");
  EXPECT_TRUE(becomes([](const auto& ports) {
    return ports[0].addresses.size() == 3 && ports[0].addresses[0] == prefix("10.8.0.1", 24);
  }));
  test::ip("addr flush dev eth1");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.empty(); }));
  EXPECT_GE(changes_, 4);
}

TEST_F(NetlinkInventoryTest, FollowsLinks) {
  test::ip("addr add 10.7.0.1/24 dev eth1");
  open({"eth1", "eth2"});
  test::ip("link set far1 down");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1 && !ports[0].carrier; }));
  test::ip("link set far1 up");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1 && ports[0].carrier; }));
  test::ip("link set eth1 mtu 4000");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].mtu == 4000; }));
  test::ip("link set eth1 down");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.empty(); }));
  EXPECT_TRUE(has_reason("eth1", "is down"));
  test::ip("link set eth1 up");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1; }));
  test::ip("link set eth1 down\nlink set eth1 name eth2\nlink set eth2 up");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1 && ports[0].interface == "eth2"; }));
  test::ip("link del eth2");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.empty(); }));
  EXPECT_TRUE(has_reason("eth2", "no such interface"));
  test::ip("link add eth1 type veth peer name far1\nlink set far1 up\nlink set eth1 up\naddr add 10.7.0.1/24 dev eth1");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1 && ports[0].carrier; }));
}

TEST_F(NetlinkInventoryTest, ReportsALostCarrierFirst) {
  test::ip("addr add 10.7.0.1/24 dev eth1");
  open({"eth1"});
  test::ip("link set far1 down");
  EXPECT_TRUE(becomes([](const auto& ports) { return !ports.at(0).carrier; }));
  EXPECT_THAT(losses_, ElementsAre(PortLost{"eth1", "the port has lost its carrier"}));
  EXPECT_EQ(changes_at_loss_, 0);
  EXPECT_EQ(changes_, 1);
}

TEST_F(NetlinkInventoryTest, ReportsAnInterfaceThatIsSetDownOrDeleted) {
  test::ip("addr add 10.7.0.1/24 dev eth1");
  open({"eth1"});
  test::ip("link set eth1 down");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.empty(); }));
  EXPECT_THAT(losses_, ElementsAre(PortLost{"eth1", "the interface was set down"}));
  test::ip("link set eth1 up");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1 && ports[0].carrier; }));
  test::ip("link del eth1");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.empty(); }));
  EXPECT_THAT(losses_, SizeIs(2)) << "once for each time";
}

TEST_F(NetlinkInventoryTest, ReportsALossAlsoOfAPortThatIsBack) {
  test::ip("addr add 10.7.0.1/24 dev eth1");
  open({"eth1"});
  test::ip("link set eth1 down\nlink set eth1 up");
  test::wait_until_running("eth1");
  EXPECT_TRUE(test::runs_until(io_, [&] { return !losses_.empty(); }));
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1 && ports[0].carrier; }));
  EXPECT_THAT(losses_, SizeIs(1));
}

// As of two ports of one plug. The kernel reports at once what a veth loses, unless its peer has the same index.
TEST_F(NetlinkInventoryTest, SeesASecondLossBeforeTheKernelReportsIt) {
  const test::NetworkNamespace other;
  namespace_->enter();
  for (const char* number : {"7", "8"}) {
    test::ip(absl::StrCat("link add eth", number, " index 70", number, " type veth peer name far", number, " index 70",
                          number, " netns ", other.path(), "\nlink set eth", number, " up\naddr add 10.", number,
                          ".0.1/24 dev eth", number));
  }
  open({"eth7", "eth8"});
  const auto at_far_ends = [&](const std::string& lines) {
    other.enter();
    test::ip(lines);
    namespace_->enter();
  };
  auto best = std::chrono::steady_clock::duration::max();
  for (int attempt = 0; attempt < 4 && best > std::chrono::milliseconds(500); ++attempt) {
    losses_.clear();
    at_far_ends("link set far7 up\nlink set far8 up");
    EXPECT_TRUE(becomes([](const auto& ports) { return ports.at(0).carrier && ports.at(1).carrier; }));
    at_far_ends("link set far7 down");
    EXPECT_TRUE(test::runs_until(io_, [&] { return losses_.size() == 1; }));
    const auto begin = std::chrono::steady_clock::now();
    at_far_ends("link set far8 down");
    EXPECT_TRUE(test::runs_until(io_, [&] { return losses_.size() == 2; }));
    best = std::min(best, std::chrono::steady_clock::now() - begin);
    EXPECT_EQ(losses_.back(), (PortLost{"eth8", "the port has lost its carrier"}));
    EXPECT_FALSE(inventory_->ports().at(1).carrier);
  }
  EXPECT_LT(best, std::chrono::milliseconds(500));
}

TEST_F(NetlinkInventoryTest, NoOtherChangeIsALoss) {
  test::ip(
      "addr add 10.7.0.1/24 dev eth1\n"
      "link add eth2 type veth peer name far2\nlink set far2 up\nlink set eth2 up");
  test::wait_until_running("eth2");
  open({"eth1"});
  test::ip(
      "addr add 10.8.0.1/24 dev eth1\naddr del 10.7.0.1/24 dev eth1\nlink set eth1 mtu 4000\n"
      "link set eth1 txqueuelen 77\nlink set far2 down\nlink set eth2 down\nlink del eth2");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].mtu == 4000; }));
  EXPECT_TRUE(test::runs_until(io_, [&] { return !has_reason("eth2", ""); }));
  EXPECT_THAT(losses_, IsEmpty()) << "another interface is no port";
}

TEST_F(NetlinkInventoryTest, AFailedDeviceIsALossOfWhatItMoves) {
  open_with_device();
  rdma_.raise("mlx5_0", VerbsEvent::Kind::kGidChange, 1);
  rdma_.raise("mlx5_0", VerbsEvent::Kind::kPortError, 1);
  EXPECT_TRUE(test::runs_until(io_, [&] { return !losses_.empty(); }));
  EXPECT_THAT(losses_, ElementsAre(PortLost{"eth1", "RDMA device mlx5_0: event", true}));
  EXPECT_EQ(changes_at_loss_, 0);
}

TEST_F(NetlinkInventoryTest, ReportsManyMessagesOnceAndIrrelevantOnesNever) {
  test::ip("addr add 10.7.0.1/24 dev eth1");
  open({"eth1"});
  test::ip(
      "addr add 10.7.0.2/24 dev eth1\naddr add 10.7.0.3/24 dev eth1\nlink set eth1 mtu 4000\naddr del 10.7.0.2/24 dev "
      "eth1");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].mtu == 4000; }));
  EXPECT_EQ(changes_, 1);

  test::ip("link add eth5 type veth peer name far5\naddr add 10.5.0.1/24 dev eth5");
  EXPECT_TRUE(test::runs_until(io_, [&] { return has_reason("eth5", "CABLEWAY_PORTS"); }));
  EXPECT_EQ(changes_, 1) << "changes of an interface that is not a port";
  // Adding an address and removing it again leaves no difference.
  test::ip("addr add 10.7.0.9/24 dev eth1\naddr del 10.7.0.9/24 dev eth1\nlink add eth6 type veth peer name far6");
  EXPECT_TRUE(test::runs_until(io_, [&] { return has_reason("eth6", "CABLEWAY_PORTS"); }));
  EXPECT_EQ(changes_, 1);
}

TEST_F(NetlinkInventoryTest, AListenerMayDestroyIt) {
  open({"eth1"});
  inventory_->watch([this] { inventory_.reset(); });
  test::ip("addr add 10.7.0.1/24 dev eth1");
  EXPECT_TRUE(test::runs_until(io_, [&] { return inventory_ == nullptr; }));
}

TEST_F(NetlinkInventoryTest, APortMayHaveOnlyALinkLocalAddress) {
  test::set_sysctl("ipv6/conf/eth1/addr_gen_mode", "0");
  open({"eth1"});
  test::ip("link set eth1 down\nlink set eth1 up");
  // Duplicate address detection takes its second first.
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1; }));
  ASSERT_THAT(inventory_->ports()[0].addresses, SizeIs(1));
  EXPECT_TRUE(inventory_->ports()[0].addresses[0].address.is_ipv6_link_local());
  EXPECT_EQ(inventory_->ports()[0].addresses[0].address.scope, "eth1");
}

TEST_F(NetlinkInventoryTest, SkipsAnAddressWhileItIsTentative) {
  // Ten probes, a second apart: long enough for a check, on a slow machine too.
  test::set_sysctl("ipv6/conf/eth1/dad_transmits", "10");
  test::ip("addr add 10.7.0.1/24 dev eth1\naddr add fd00::1/64 dev eth1");
  open({"eth1"});
  EXPECT_THAT(inventory_->ports().at(0).addresses, ElementsAre(prefix("10.7.0.1", 24)));
  EXPECT_TRUE(has_reason("eth1", "fd00::1 is tentative"));
  test::set_sysctl("ipv6/neigh/eth1/retrans_time_ms", "10");  // the rest at once
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].addresses.size() == 2; }));
}

TEST_F(NetlinkInventoryTest, NamesAnAddressThatAnotherHostUses) {
  const test::NetworkNamespace other;
  namespace_->enter();
  test::ip(absl::StrCat("link set far1 netns ", other.path(), "\naddr add 10.7.0.1/24 dev eth1"));
  other.enter();
  test::ip("addr add fd00::1/64 dev far1 nodad\nlink set far1 up");
  namespace_->enter();
  open({"eth1"});
  test::ip("addr add fd00::1/64 dev eth1");
  EXPECT_TRUE(test::runs_until(io_, [&] { return has_reason("eth1", "fd00::1 is also used by another host"); }));
  EXPECT_THAT(inventory_->ports().at(0).addresses, ElementsAre(prefix("10.7.0.1", 24)));
}

TEST_F(NetlinkInventoryTest, SeveralNodesMayShareLoopback) {
  test::ip("addr add 10.9.0.1/24 dev lo\naddr add 10.9.0.2/24 dev lo");
  open({"10.9.0.2/32"});
  ASSERT_THAT(inventory_->ports(), SizeIs(1));
  EXPECT_EQ(inventory_->ports()[0].interface, "lo");
  EXPECT_TRUE(inventory_->ports()[0].carrier);
  EXPECT_THAT(inventory_->ports()[0].addresses, ElementsAre(prefix("10.9.0.2", 24)));
}

TEST_F(NetlinkInventoryTest, ThePrefixOfAPointToPointAddressHoldsBothEnds) {
  test::ip("addr add 10.7.0.1 peer 10.7.0.2/32 dev eth1");
  open({"eth1"});
  EXPECT_THAT(inventory_->ports().at(0).addresses, ElementsAre(prefix("10.7.0.1", 30)));
}

TEST_F(NetlinkInventoryTest, NamesTheBridgeOfAMember) {
  test::ip("addr add 10.7.0.1/24 dev eth1\nlink add br0 type bridge\nlink set eth1 master br0");
  open({"eth1"});
  EXPECT_TRUE(has_reason("eth1", "is a member of br0"));
  test::ip("link set eth1 nomaster");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1; }));
}

TEST_F(NetlinkInventoryTest, WithoutSelectorsWaitsForAnRdmaDeviceAndItsGid) {
  test::ip("addr add 10.7.0.1/24 dev eth1");
  open({});
  EXPECT_THAT(inventory_->ports(), IsEmpty());
  EXPECT_THAT(inventory_->status(), HasSubstr("CABLEWAY_PORTS"));

  // As with a real driver: the device and its GIDs appear shortly after the interface, without a netlink message.
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.add_gid("mlx5_0", 1, "eth1", "fe80:0000:0000:0000:0000:0000:0000:0001");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports.size() == 1; }));
  EXPECT_EQ(inventory_->ports()[0].rdma_device, "mlx5_0");
  EXPECT_EQ(inventory_->ports()[0].gid_index, -1);
  EXPECT_THAT(inventory_->ports()[0].rdma_trouble, HasSubstr("no RoCE v2 GID for 10.7.0.1"));

  sysfs_.add_gid("mlx5_0", 3, "eth1", test::kIpv4Gid);
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].gid_index == 3; }));
}

TEST_F(NetlinkInventoryTest, ADevicesEventIsReportedAndItsPortsAreReReadAtOnce) {
  open_with_device();
  EXPECT_EQ(inventory_->ports().at(0).gid_index, 3);
  EXPECT_EQ(inventory_->ports()[0].rdma_mtu, 1024U);
  sysfs_.write("class/infiniband/mlx5_0/ports/1/state", "1: DOWN");
  rdma_.raise("mlx5_0", VerbsEvent::Kind::kPortError, 1);
  EXPECT_TRUE(test::runs_until(
      io_, [&] { return events_.has(EventCode::kRdmaPortError, "port eth1: RDMA device mlx5_0: event"); }));
  EXPECT_EQ(::cableway::test::field_of(events_.raised[0].fields, "port"), "eth1");
  EXPECT_EQ(::cableway::test::field_of(events_.raised[0].fields, "device"), "mlx5_0");
  EXPECT_EQ(inventory_->ports().at(0).gid_index, -1) << "the ports are re-read before the callback";
  EXPECT_TRUE(events_.has(EventCode::kRdmaDeviceUnusable,
                          "port eth1: RDMA device mlx5_0 behind eth1 is not active; its state is \"1: DOWN\""));
  EXPECT_EQ(changes_, 1);
  sysfs_.write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  rdma_.raise("mlx5_0", VerbsEvent::Kind::kPortActive, 1);
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].gid_index == 3; }));
  EXPECT_TRUE(events_.has(EventCode::kRdmaDeviceUsable, "port eth1: RDMA device mlx5_0 can be used"));
}

TEST_F(NetlinkInventoryTest, AFailedDeviceIsLostUntilItRecovers) {
  open_with_device();
  rdma_["mlx5_0"].trouble = absl::FailedPreconditionError("RDMA device mlx5_0 cannot be opened: Input/output error");
  rdma_.raise("mlx5_0", VerbsEvent::Kind::kDeviceFatal);
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].gid_index == -1; }));
  EXPECT_EQ(inventory_->ports()[0].rdma_device, "mlx5_0");
  EXPECT_EQ(inventory_->ports()[0].rdma_trouble, "RDMA device mlx5_0: event: it has failed and has not recovered yet");
  EXPECT_EQ(rdma_["mlx5_0"].open_now, 0);
  rdma_["mlx5_0"].trouble = absl::OkStatus();
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].gid_index == 3; })) << "without any other event";
  EXPECT_EQ(rdma_["mlx5_0"].open_now, 1);
}

TEST_F(NetlinkInventoryTest, ARemovedDeviceIsClosedAndNamedAndFoundAgain) {
  open_with_device();
  sysfs_.remove_rdma_device("mlx5_0");
  test::ip("link set eth1 mtu 4000");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].rdma_device.empty(); }));
  EXPECT_EQ(inventory_->ports()[0].rdma_trouble, "RDMA device mlx5_0 behind eth1 is gone");
  EXPECT_EQ(rdma_["mlx5_0"].open_now, 0);
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.add_gid("mlx5_0", 4, "eth1", test::kIpv4Gid);
  test::ip("link set eth1 mtu 5000");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].gid_index == 4; }));
  EXPECT_EQ(inventory_->ports()[0].rdma_trouble, "");
  EXPECT_EQ(rdma_["mlx5_0"].open_now, 1);
}

TEST_F(NetlinkInventoryTest, OnlyUsableDevicesBehindPortsAreOpened) {
  sysfs_.add_rdma_device("rxe_far");
  sysfs_.add_gid("rxe_far", 0, "far1", "0000:0000:0000:0000:0000:ffff:0a07:0002");
  open_with_device();
  EXPECT_EQ(rdma_["mlx5_0"].tries, 1);
  EXPECT_EQ(rdma_["rxe_far"].tries, 0);
  sysfs_.remove("dev/uverbs-mlx5_0");
  EXPECT_TRUE(becomes([](const auto& ports) { return ports[0].gid_index == -1; }));
  EXPECT_EQ(rdma_["mlx5_0"].open_now, 0) << "its file was removed";
}

TEST_F(NetlinkInventoryTest, AnEventOfOnePortIsReportedForItsInterface) {
  test::ip(
      "link add eth2 type veth peer name far2\nlink set far2 up\nlink set eth2 up\n"
      "addr add 10.7.1.1/24 dev eth2");
  sysfs_.add_rdma_port("mlx5_0", 2);
  sysfs_.add_gid("mlx5_0", 1, "eth2", "0000:0000:0000:0000:0000:ffff:0a07:0101", "RoCE v2", 2);
  test::ip("addr add 10.7.0.1/24 dev eth1");
  sysfs_.add_rdma_device("mlx5_0");
  sysfs_.add_gid("mlx5_0", 3, "eth1", test::kIpv4Gid);
  open({"eth1", "eth2"});
  follow_devices();
  ASSERT_THAT(inventory_->ports(), SizeIs(2));
  EXPECT_EQ(inventory_->ports()[1].rdma_device, "mlx5_0:2");
  EXPECT_EQ(inventory_->ports()[1].rdma_mtu, 2048U);
  EXPECT_EQ(rdma_["mlx5_0"].tries, 1);
  rdma_.raise("mlx5_0", VerbsEvent::Kind::kGidChange, 2);
  EXPECT_TRUE(test::runs_until(io_, [&] { return !events_.raised.empty(); }));
  EXPECT_EQ(events_.raised.size(), 1U);
  EXPECT_TRUE(events_.has(EventCode::kRdmaAddressChanged, "port eth2: RDMA device mlx5_0: event"));
}

TEST_F(NetlinkInventoryTest, SleepsWhileNothingHappens) {
  test::ip("addr add 10.7.0.1/24 dev eth1");
  auto watch = NetlinkWatch::start(io_, [] {});
  ASSERT_TRUE(watch.ok()) << watch.status();
  // The kernel's last messages about the new interface come first; then a tenth of a second must pass in silence.
  EXPECT_TRUE(test::runs_until(io_, [&] {
    io_.restart();
    return io_.run_for(std::chrono::milliseconds(100)) == 0;
  }));
}

TEST_F(NetlinkInventoryTest, RecoversAfterLostNotifications) {
  std::vector<std::string> losses;
  auto started = NetlinkWatch::start(
      io_, [] {}, [&](const LinkLoss& loss) { losses.push_back(loss.reason); });
  ASSERT_TRUE(started.ok()) << started.status();
  const NetlinkWatch& watch = **started;
  const int smallest = 1;
  ASSERT_EQ(::setsockopt(watch.descriptor(), SOL_SOCKET, SO_RCVBUF, &smallest, sizeof smallest), 0);
  std::string many;
  for (int i = 1; i <= 40; ++i) absl::StrAppend(&many, "addr add 10.7.", i, ".1/24 dev eth1\n");
  test::ip(many + "link set eth1 mtu 4000\nlink set far1 down");
  const auto is_true = [&] {
    for (const auto& [id, link] : watch.network().links) {
      if (link.name == "eth1") return link.mtu == 4000 && !link.carrier && watch.network().addresses.size() > 40;
    }
    return false;
  };
  EXPECT_TRUE(test::runs_until(io_, is_true));
  EXPECT_GT(watch.overruns(), 0U);
  EXPECT_THAT(losses, Contains("the port has lost its carrier"));
}

}  // namespace
}  // namespace cableway::host
