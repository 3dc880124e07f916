// Cable tests over RDMA, between two ports whose devices are in memory.
#include "core/linux/hop/rdma_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/linux/hop/cable_probe.h"
#include "core/linux/hop/circuit_acceptor.h"
#include "tests/core/linux/fake_sysfs.h"
#include "tests/core/linux/loopback_sockets.h"
#include "tests/core/linux/rdma/fake_neighbours.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

// The dialing end is at 127.0.0.1, on eth1 with mlx5_1; the serving one at 127.0.0.2, on eth2 with mlx5_2.
class RdmaProbeTest : public testing::Test {
 protected:
  RdmaProbeTest() {
    for (const std::string number : {"1", "2"}) {
      const std::string device = "mlx5_" + number;
      const std::string net = "class/net/eth" + number;
      sysfs_.add_rdma_device(device);
      sysfs_.write(net + "/ifindex", number);
      sysfs_.write(net + "/address", "02:00:00:00:00:0" + number);
      sysfs_.add_gid(device, 3, "eth" + number, "0000:0000:0000:0000:0000:ffff:7f00:000" + number);
    }
    host_.sysfs = Sysfs(sysfs_.root());
    host_.device_folder = sysfs_.rdma_folder();
    host_.interface_of = [](const routing::PortAddress& address) { return address.bytes[3] == 1 ? "eth1" : "eth2"; };
    host_.neighbours = &neighbours_;
    host_.open_device = [this](const std::string& name) -> absl::StatusOr<VerbsDevices::Numbered> {
      return name == "mlx5_1" ? VerbsDevices::Numbered{0, first_} : VerbsDevices::Numbered{1, second_};
    };
    acceptor_ = CircuitAcceptor::listen(
                    io_, {"127.0.0.2"}, {}, [](ArrivedSetup) {}, [](const std::string&, const absl::Status&) {})
                    .value();
    acceptor_->on_probe([this](ArrivedProbe probe) { there_->serve(std::move(probe)); });
  }

  static VerbsGid gid(const std::string& address, std::uint32_t interface) {
    return {3, gid_of(routing::parse_port_address(address).value()), 1, interface};
  }
  static Settings with(TransportSetting transport) {
    Settings settings;
    settings.transport = transport;
    return settings;
  }
  CableRates test(bool both_ways, std::chrono::milliseconds duration = 100ms) {
    const CableProbePlan plan{"eth1 to node n1", "127.0.0.1", "127.0.0.2", acceptor_->port(), duration, both_ways};
    std::optional<CableRates> rates;
    here_->run({plan}, [&](const std::vector<CableRates>& answer) { rates = answer.at(0); });
    EXPECT_TRUE(test::run_until([&] { return rates.has_value(); }, [&] { io_.run_one_for(100ms); }));
    return rates.value_or(CableRates{});
  }

  test::FakeSysfs sysfs_;
  test::FakeNeighbours neighbours_;
  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& first_fake_ = verbs_.add("mlx5_1", gid("127.0.0.1", 1));
  test::FakeVerbsDevice& second_fake_ = verbs_.add("mlx5_2", gid("127.0.0.2", 2));
  std::shared_ptr<VerbsDevice> first_ = verbs_.open(first_fake_);
  std::shared_ptr<VerbsDevice> second_ = verbs_.open(second_fake_);
  VerbsHost host_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  std::unique_ptr<CircuitAcceptor> acceptor_;
  // Made with the host that a test has arranged.
  void make(TransportSetting own = TransportSetting::kAuto, TransportSetting other = TransportSetting::kAuto) {
    here_ = std::make_unique<CableProbes>(io_, with(own), host_);
    there_ = std::make_unique<CableProbes>(io_, with(other), host_);
  }
  std::unique_ptr<CableProbes> here_;
  std::unique_ptr<CableProbes> there_;
};

TEST_F(RdmaProbeTest, MeasuresBothWaysThroughTheDevicesOfBothEnds) {
  make();
  const CableRates rates = test(true);
  EXPECT_EQ(rates.error, "");
  EXPECT_EQ(rates.over, "rdma mlx5_1");
  EXPECT_EQ(rates.packet_bytes, 4096U);
  EXPECT_GT(rates.to_mbps, 0U);
  EXPECT_GT(rates.from_mbps, 0U);
  EXPECT_THAT(first_fake_.joined, SizeIs(2));
  EXPECT_THAT(second_fake_.joined, SizeIs(2));
  EXPECT_EQ(neighbours_.entries["1 127.0.0.2"], "02:00:00:00:00:02");
  EXPECT_EQ(neighbours_.entries["2 127.0.0.1"], "02:00:00:00:00:01");
  // All memory was deregistered: for each direction two mailboxes, and the sender's source.
  for (const test::FakeVerbsDevice* const fake : {&first_fake_, &second_fake_}) {
    EXPECT_THAT(fake->registrations, SizeIs(3));
    for (const test::FakeRegistration& each : fake->registrations) EXPECT_FALSE(each.is_live);
  }
}

TEST_F(RdmaProbeTest, MeasuresOneWay) {
  make();
  const CableRates rates = test(false);
  EXPECT_EQ(rates.error, "");
  EXPECT_GT(rates.to_mbps, 0U);
  EXPECT_EQ(rates.from_mbps, 0U);
  EXPECT_THAT(first_fake_.joined, SizeIs(1));
}

TEST_F(RdmaProbeTest, GoesOverTcpWhereEitherEndDoes) {
  for (const auto& [own, other] : {std::pair(TransportSetting::kTcp, TransportSetting::kAuto),
                                   std::pair(TransportSetting::kAuto, TransportSetting::kTcp)}) {
    make(own, other);
    const CableRates rates = test(true, 50ms);
    EXPECT_EQ(rates.error, "");
    EXPECT_EQ(rates.over, "tcp");
    EXPECT_GT(rates.from_mbps, 0U);
  }
  EXPECT_THAT(first_fake_.joined, SizeIs(0));
}

TEST_F(RdmaProbeTest, IsRefusedWhereAHopWouldBe) {
  make(TransportSetting::kVerbs, TransportSetting::kTcp);
  EXPECT_THAT(test(false).error, HasSubstr("CABLEWAY_TRANSPORT is verbs, and the other end of the cable has no RDMA"));
  make(TransportSetting::kTcp, TransportSetting::kVerbs);
  EXPECT_THAT(test(false).error,
              HasSubstr("the neighbour refused: CABLEWAY_TRANSPORT is verbs, and the other end of the cable has no"));
  sysfs_.write("class/infiniband/mlx5_2/ports/1/state", "1: DOWN");
  make();
  EXPECT_THAT(test(false).error, HasSubstr("the neighbour refused: RDMA device mlx5_2 behind eth2 is not active"));
}

TEST_F(RdmaProbeTest, DoesNotMeasureTheWrongInterface) {
  neighbours_.may_set = false;
  neighbours_.entries["2 127.0.0.1"] = "02:00:00:00:00:01";
  neighbours_.entries["1 127.0.0.2"] = "02:00:00:00:00:09";
  make();
  EXPECT_THAT(test(false).error, HasSubstr("RDMA over eth1 would reach the wrong interface: 127.0.0.2 is "));
}

TEST_F(RdmaProbeTest, ADeviceThatDoesNotAnswerEndsTheTestInTime) {
  make();
  first_fake_.holds_completions = true;
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THAT(test(false).error, HasSubstr("the neighbour's device does not acknowledge in time"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
}

TEST_F(RdmaProbeTest, AQueuePairThatFailsIsTheReason) {
  make();
  first_fake_.posting_error = EIO;
  EXPECT_THAT(test(false).error, HasSubstr("RDMA device mlx5_1 cannot accept writes: Input/output error"));
}

TEST_F(RdmaProbeTest, StopsWhenTheOtherEndHasGone) {
  RdmaProbe left(with(TransportSetting::kAuto), host_);
  RdmaProbe right(with(TransportSetting::kAuto), host_);
  const auto offer = left.open("127.0.0.1").value();
  const auto answer = right.open("127.0.0.2").value();
  ASSERT_TRUE(offer && answer);
  ASSERT_TRUE(right.join(*offer, "127.0.0.1").ok());
  ASSERT_TRUE(left.join(*answer, "127.0.0.2").ok());
  const auto began = std::chrono::steady_clock::now();
  const absl::Status ended = left.send(60s, [] { return true; }).status();
  EXPECT_EQ(ended, absl::UnavailableError("the neighbour ended the test"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
}

TEST_F(RdmaProbeTest, AnOfferOfAnotherAddressOrKindIsRefused) {
  RdmaProbe left(with(TransportSetting::kAuto), host_);
  RdmaProbe right(with(TransportSetting::kAuto), host_);
  TransportOffer offer = left.open("127.0.0.1").value().value();
  ASSERT_TRUE(right.open("127.0.0.2").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(right.join(offer, "127.0.0.3")));
  offer.kind = static_cast<TransportKind>(7);
  EXPECT_TRUE(absl::IsInvalidArgument(right.join(offer, "127.0.0.1")));
  offer = {TransportKind::kRdma, {}};
  EXPECT_TRUE(absl::IsInvalidArgument(right.join(offer, "127.0.0.1")));
  EXPECT_THAT(second_fake_.joined, SizeIs(0));
}

}  // namespace
}  // namespace cableway::host
