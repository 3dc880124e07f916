#include "core/linux/rdma/rdma_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/linux/rdma/verbs_ports.h"
#include "core/rdma/rdma_endpoint.h"
#include "tests/core/linux/rdma/fake_neighbours.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using GidBytes = std::array<std::byte, 16>;

GidBytes gid_of_text(const std::string& address) {
  return gid_of(routing::parse_port_address(address).value());
}

// A valid queue pair endpoint at that GID.
RdmaEndpoint endpoint_at(const GidBytes& gid) {
  return {.queue_pair = 17,
          .packet_sequence = 5,
          .gid = gid,
          .mtu = 1024,
          .mailbox = 4096,
          .mailbox_key = 7,
          .ethernet = parse_ethernet_address(test::kRight).value()};
}

// n0 -c0-> n1.
CircuitSetup setup_between(const std::string& from, const std::string& to) {
  CircuitSetup setup;
  setup.from_node = "n0";
  setup.hops.push_back({.cable = "c0", .from_address = from, .to_node = "n1", .to_address = to, .to_port = 7000});
  return setup;
}

// A connection whose local address is `own`.
class ConnectionAt final : public SetupConnection {
 public:
  explicit ConnectionAt(std::string own) : own_(std::move(own)) {}

  void read(std::size_t, HaveBytes) override { ADD_FAILURE() << "nothing is to be read"; }
  void send(std::vector<std::byte>, Sent) override { ADD_FAILURE() << "nothing is to be sent"; }
  absl::Status send_first(const std::vector<std::byte>&) override { return absl::UnimplementedError("never"); }
  void end_with(const std::vector<std::byte>&) override {}
  std::string own_address() const override { return own_; }
  std::string other_address() const override { return ""; }
  std::string other_end() const override { return ""; }

 private:
  const std::string own_;
};

constexpr char kOwn[] = "02:00:00:00:00:10";

// The dialing end, on a device in memory with this address.
class RdmaTransportTest : public testing::Test {
 protected:
  RdmaTransport transport(TransportSetting wanted = TransportSetting::kAuto) {
    Settings settings;
    settings.transport = wanted;
    VerbsHost host;
    host.neighbours = &neighbours_;
    return RdmaTransport(settings, Idle::kSleeps, host);
  }
  std::unique_ptr<HostEnd> offer() {
    auto pair = VerbsQueuePair::create(device_, fake_.gid, 1, {}).value();
    return make_rdma_end({device_, 0, std::move(pair), {}, own_});
  }
  absl::Status settle(const CircuitSetup& setup, const RdmaEndpoint& answer) {
    const std::unique_ptr<HostEnd> offered = offer();
    return transport().settle(setup, ConnectionAt("10.7.0.1"), *offered, encode_rdma_endpoint(answer));
  }
  absl::StatusOr<TransportChoice> join(const CircuitSetup& setup, const RdmaEndpoint& offered,
                                       TransportSetting wanted = TransportSetting::kAuto) {
    return transport(wanted).join(setup, ConnectionAt("10.7.0.2"), encode_rdma_endpoint(offered));
  }

  PortInterface own_{"eth1", 7, parse_ethernet_address(kOwn).value()};
  test::FakeNeighbours neighbours_;
  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0", VerbsGid{3, gid_of_text("10.7.0.1")});
  std::shared_ptr<VerbsDevice> device_ = verbs_.open(fake_);
};

TEST_F(RdmaTransportTest, JoinsTheQueuePairOfTheAddressThatWasDialled) {
  for (const std::string there : {"10.7.0.2", "fd00::2", "fe80::2%eth1"}) {
    SCOPED_TRACE(there);
    fake_.joined.clear();
    ASSERT_TRUE(settle(setup_between("10.7.0.1", there), endpoint_at(gid_of_text(there))).ok());
    EXPECT_THAT(fake_.joined, testing::ElementsAre(gid_of_text(there)));
  }
}

TEST_F(RdmaTransportTest, OffersItsInterfacesEthernetAddress) {
  EXPECT_EQ(to_text(decode_rdma_endpoint(offer()->parameters()).value().ethernet), kOwn);
}

TEST_F(RdmaTransportTest, CorrectsTheNeighbourTableBeforeItJoins) {
  neighbours_.entries["7 10.7.0.2"] = test::kTwin;
  ASSERT_TRUE(settle(setup_between("10.7.0.1", "10.7.0.2"), endpoint_at(gid_of_text("10.7.0.2"))).ok());
  EXPECT_EQ(neighbours_.entries["7 10.7.0.2"], test::kRight);
  EXPECT_THAT(fake_.joined, SizeIs(1));
}

TEST_F(RdmaTransportTest, JoinsOverTheLoopbackInterfaceWithoutANeighbour) {
  neighbours_.may_set = false;
  neighbours_.entries["1 10.7.0.2"] = test::kTwin;
  own_ = {"lo", 1, {}};
  RdmaEndpoint there = endpoint_at(gid_of_text("10.7.0.2"));
  const CircuitSetup setup = setup_between("10.7.0.1", "10.7.0.2");
  EXPECT_EQ(settle(setup, there), absl::InvalidArgumentError("set-up: the Ethernet address " +
                                                             std::string(test::kRight) + " does not fit interface lo"));
  there.ethernet = {};
  EXPECT_TRUE(settle(setup, there).ok());
  EXPECT_THAT(fake_.joined, SizeIs(1));
}

TEST_F(RdmaTransportTest, RefusesANeighbourWithoutAnEthernetAddress) {
  RdmaEndpoint there = endpoint_at(gid_of_text("10.7.0.2"));
  there.ethernet = {};
  EXPECT_TRUE(absl::IsInvalidArgument(settle(setup_between("10.7.0.1", "10.7.0.2"), there)));
  EXPECT_THAT(fake_.joined, IsEmpty());
}

TEST_F(RdmaTransportTest, DoesNotJoinTheOtherInterfaceOfThatHost) {
  neighbours_.may_set = false;
  neighbours_.entries["7 10.7.0.2"] = test::kTwin;
  const absl::Status status = settle(setup_between("10.7.0.1", "10.7.0.2"), endpoint_at(gid_of_text("10.7.0.2")));
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), AllOf(HasSubstr(test::kRight), HasSubstr(test::kTwin), HasSubstr("arp_ignore=1")));
  EXPECT_THAT(fake_.joined, IsEmpty());
}

// The kernel resolves the address while the queue pair is joined.
TEST_F(RdmaTransportTest, RefusesAWrongEntryThatAppearsWhileItJoins) {
  neighbours_.may_set = false;
  neighbours_.learnt_at_second_look = test::kTwin;
  const CircuitSetup setup = setup_between("10.7.0.1", "10.7.0.2");
  EXPECT_TRUE(absl::IsFailedPrecondition(settle(setup, endpoint_at(gid_of_text("10.7.0.2")))));
  neighbours_.entries.clear();
  neighbours_.learnt_at_second_look = test::kRight;
  EXPECT_TRUE(settle(setup, endpoint_at(gid_of_text("10.7.0.2"))).ok());
}

TEST_F(RdmaTransportTest, AnAnswerWithTheQueuePairOfAnotherAddressIsRefusedBeforeItsResolution) {
  struct Case {
    std::string there;
    std::string offered;
    std::string gid;
  };
  for (const Case& each : {Case{"10.7.0.2", "10.7.0.9", "::ffff:10.7.0.9"}, Case{"fd00::2", "fd00::9", "fd00::9"},
                           Case{"fe80::2%eth1", "fe80::9%eth1", "fe80::9"}}) {
    SCOPED_TRACE(each.there);
    EXPECT_EQ(settle(setup_between("10.7.0.1", each.there), endpoint_at(gid_of_text(each.offered))),
              absl::InvalidArgumentError("the other end of the cable has the address " + each.there +
                                         ", and its queue pair the GID " + each.gid));
  }
  EXPECT_THAT(fake_.joined, IsEmpty());
}

// Needs no device: it is refused before this end's device is opened.
TEST_F(RdmaTransportTest, AnOfferOfTheQueuePairOfAnotherAddressIsRefused) {
  const CircuitSetup setup = setup_between("10.7.0.1", "10.7.0.2");
  EXPECT_EQ(join(setup, endpoint_at(gid_of_text("10.7.0.9"))).status(),
            absl::InvalidArgumentError(
                "the other end of the cable has the address 10.7.0.1, and its queue pair the GID ::ffff:10.7.0.9"));
  EXPECT_EQ(
      join(setup, endpoint_at({})).status(),
      absl::InvalidArgumentError("the other end of the cable has the address 10.7.0.1, and its queue pair the GID ::"));
}

TEST_F(RdmaTransportTest, AnOfferFromTheCablesOtherEndIsAccepted) {
  for (const std::string from : {"10.7.0.1", "fd00::1", "fe80::1%eth7"}) {
    SCOPED_TRACE(from);
    const auto joined = join(setup_between(from, "10.7.0.2"), endpoint_at(gid_of_text(from)), TransportSetting::kTcp);
    ASSERT_TRUE(joined.ok()) << joined.status();
    EXPECT_EQ(joined->end, nullptr);
    EXPECT_EQ(joined->why, "CABLEWAY_TRANSPORT=tcp");
  }
}

TEST_F(RdmaTransportTest, MalformedEndpointsAreRefused) {
  const CircuitSetup setup = setup_between("10.7.0.1", "10.7.0.2");
  const std::vector<std::byte> words = encode_rdma_endpoint(endpoint_at(gid_of_text("10.7.0.1")));
  for (std::size_t bytes = 0; bytes < words.size(); ++bytes) {
    const auto cut = std::span(words).first(bytes);
    EXPECT_TRUE(absl::IsInvalidArgument(transport().join(setup, ConnectionAt("10.7.0.2"), cut).status())) << bytes;
  }
}

TEST_F(RdmaTransportTest, AnEndWithoutRdmaIsAnErrorOnlyIfRequired) {
  EXPECT_EQ(transport().missing_there().value(), "the other end offers no RDMA");
  EXPECT_EQ(transport(TransportSetting::kTcp).missing_there().value(), "CABLEWAY_TRANSPORT=tcp");
  EXPECT_TRUE(absl::IsFailedPrecondition(transport(TransportSetting::kVerbs).missing_there().status()));
}

}  // namespace
}  // namespace cableway::host
