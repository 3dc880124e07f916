#include "core/linux/hop_transports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/linux/verbs_ports.h"
#include "tests/core/linux/fake_verbs.h"

namespace cableway::linux_ {
namespace {

using testing::IsEmpty;

using GidBytes = std::array<std::byte, 16>;

GidBytes gid_of_text(const std::string& address) {
  return gid_of(routing::parse_port_address(address).value());
}

// An end of a queue pair that could be joined, at that GID.
RdmaEndpoint endpoint_at(const GidBytes& gid) {
  return {.queue_pair = 17, .packet_sequence = 5, .gid = gid, .mtu = 1024, .mailbox = 4096, .mailbox_key = 7};
}

// n0 -c0-> n1.
CircuitSetup setup_between(const std::string& from, const std::string& to) {
  CircuitSetup setup;
  setup.from_node = "n0";
  setup.hops.push_back({.cable = "c0", .from_address = from, .to_node = "n1", .to_address = to, .to_port = 7000});
  return setup;
}

// The end that dials, on a device in memory with this address.
class HopTransportsTest : public testing::Test {
 protected:
  HopTransports transports(Transport wanted = Transport::kAuto) const {
    Settings settings;
    settings.transport = wanted;
    return HopTransports(settings, VerbsQueuePair::Idle::kSleeps);
  }
  HopChoice offer() {
    auto half = std::make_unique<RdmaHalf>();
    half->device = device_;
    half->queue_pair = VerbsQueuePair::create(device_, fake_.gid, 1, {}).value();
    return {std::move(half), "both ends have it"};
  }

  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0", VerbsGid{3, gid_of_text("10.7.0.1")});
  std::shared_ptr<VerbsDevice> device_ = verbs_.open(fake_);
};

TEST_F(HopTransportsTest, JoinsTheQueuePairOfTheAddressThatWasDialled) {
  for (const std::string there : {"10.7.0.2", "fd00::2", "fe80::2%eth1"}) {
    SCOPED_TRACE(there);
    HopChoice offered = offer();
    const SetupAnswer answer{.rdma = endpoint_at(gid_of_text(there))};
    fake_.joined.clear();
    ASSERT_TRUE(transports().settle(setup_between("10.7.0.1", there), answer, offered).ok());
    EXPECT_EQ(offered.rdma->other, *answer.rdma);
    EXPECT_THAT(fake_.joined, testing::ElementsAre(gid_of_text(there)));
  }
}

TEST_F(HopTransportsTest, AnAnswerWithTheQueuePairOfAnotherAddressIsRefusedBeforeItIsLookedFor) {
  struct Case {
    std::string there;
    std::string offered;
    std::string said;  // the GID
  };
  for (const Case& each : {Case{"10.7.0.2", "10.7.0.9", "::ffff:10.7.0.9"}, Case{"fd00::2", "fd00::9", "fd00::9"},
                           Case{"fe80::2%eth1", "fe80::9%eth1", "fe80::9"}}) {
    SCOPED_TRACE(each.there);
    HopChoice offered = offer();
    const SetupAnswer answer{.rdma = endpoint_at(gid_of_text(each.offered))};
    EXPECT_EQ(transports().settle(setup_between("10.7.0.1", each.there), answer, offered),
              absl::InvalidArgumentError("the other end of the cable has the address " + each.there +
                                         ", and its queue pair the GID " + each.said));
  }
  EXPECT_THAT(fake_.joined, IsEmpty());
}

// No device is needed for that: it is refused before this end's is opened.
TEST_F(HopTransportsTest, AnOfferOfTheQueuePairOfAnotherAddressIsRefused) {
  CircuitSetup setup = setup_between("10.7.0.1", "10.7.0.2");
  setup.rdma = endpoint_at(gid_of_text("10.7.0.9"));
  EXPECT_EQ(transports().join(setup, "10.7.0.2").status(),
            absl::InvalidArgumentError(
                "the other end of the cable has the address 10.7.0.1, and its queue pair the GID ::ffff:10.7.0.9"));
  setup.rdma = endpoint_at({});
  EXPECT_EQ(
      transports().join(setup, "10.7.0.2").status(),
      absl::InvalidArgumentError("the other end of the cable has the address 10.7.0.1, and its queue pair the GID ::"));
}

TEST_F(HopTransportsTest, AnOfferFromTheCablesOtherEndIsNot) {
  for (const std::string from : {"10.7.0.1", "fd00::1", "fe80::1%eth7"}) {
    SCOPED_TRACE(from);
    CircuitSetup setup = setup_between(from, "10.7.0.2");
    setup.rdma = endpoint_at(gid_of_text(from));
    const auto joined = transports(Transport::kTcp).join(setup, "10.7.0.2");
    ASSERT_TRUE(joined.ok()) << joined.status();
    EXPECT_EQ(joined->rdma, nullptr);
    EXPECT_EQ(joined->why, "CABLEWAY_TRANSPORT=tcp");
  }
}

}  // namespace
}  // namespace cableway::linux_
