// Large messages over a flow's own circuit and an alternate, which may only use what is idle:
//
//   sender ==== circuit 0 ==== receiver       the primary, over port eth0
//          ==== circuit 1 ====                an alternate, over port eth1
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/gate/port_stamps.h"
#include "tests/core/flow/striped_flow.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using test::bytes_of;
using test::kKiB;
using test::kLarge;
using test::kOneBundle;
using test::kQuarter;
using test::messages;
using test::payloads;
using test::StripedFlow;
using ::testing::Each;
using ::testing::IsEmpty;

constexpr std::uint64_t kOneMessage = kLarge;

class FlowAlternatesTest : public testing::Test {
 protected:
  FlowAlternatesTest() {
    flow_.sender_.leaves_by(flow_.names_[0], EgressPort(page_, "eth0"));
    alternate_ = flow_.join(kOneBundle, CircuitShare::kAlternate);
    flow_.sender_.leaves_by(alternate_, port_);
  }
  // As a relay of the alternate does.
  void tell_gate(bool closed) { ASSERT_TRUE(flow_.hops_[1]->destination.send_control(gate_frame(closed)).ok()); }
  // Another flow's chunks leave by the alternate's port meanwhile.
  std::vector<std::vector<Frame>> run_in_use(int steps) {
    std::vector<std::vector<Frame>> given(2);
    for (int i = 0; i < steps; ++i) {
      port_.use(flow_.clock_.now(), milliseconds(1));
      const auto more = flow_.run(1);
      for (std::size_t c = 0; c < 2; ++c) given[c].insert(given[c].end(), more[c].begin(), more[c].end());
    }
    return given;
  }

  PortStampPage page_{};
  const EgressPort port_{page_, "eth1"};
  StripedFlow flow_{messages(2000, kOneMessage), {16 * kKiB, 16 * kKiB}, {kOneBundle}};
  CircuitName alternate_;
};

TEST_F(FlowAlternatesTest, LoadsAreWhatPortsAndRelaysCarry) {
  flow_.sender_.loads();
  const auto given = flow_.run(200);
  const Instant begin = flow_.clock_.now();
  flow_.clock_.run_for(ByteRate::kWindow);
  ASSERT_TRUE(flow_.hops_[1]->destination.send_control(gate_frame(false, 12'345)).ok());
  flow_.run(2);
  const CircuitLoads loads = flow_.sender_.loads();
  ASSERT_TRUE(loads[0].has_value() && loads[1].has_value())
      << std::chrono::nanoseconds(flow_.clock_.now() - begin).count();
  EXPECT_GT(loads[0]->busiest, 0U);
  EXPECT_EQ(loads[0]->busiest, loads[0]->own) << "nobody else uses its port";
  EXPECT_EQ(loads[1]->busiest, 12'345U) << "an alternate's chunks are no load";
  EXPECT_GT(loads[1]->own, 0U);
  EXPECT_FALSE(loads[2].has_value());
}

TEST_F(FlowAlternatesTest, AnIdleAlternateCarriesWhatItCan) {
  flow_.run(100);
  const auto given = flow_.run(400);
  EXPECT_NEAR(static_cast<double>(bytes_of(given[1])) / bytes_of(given[0]), 1.0, 0.05);
  EXPECT_NEAR(static_cast<double>(bytes_of(given[0]) + bytes_of(given[1])), 400.0 * 32 * kKiB, 0.05 * 400 * 32 * kKiB);
}

TEST_F(FlowAlternatesTest, NothingGoesOverAPortThatIsInUse) {
  flow_.run(100);
  run_in_use(5);
  const auto given = run_in_use(200);
  EXPECT_THAT(given[1], IsEmpty());
  const Duration kept_away = flow_.sender_.traffic().kept_away(1);
  EXPECT_GE(kept_away, milliseconds(185)) << "until the gate was asked last";
  EXPECT_LE(kept_away, milliseconds(210));
  EXPECT_EQ(flow_.sender_.traffic().stalled(1), Duration{0}) << "it had nothing to carry";
  EXPECT_NEAR(static_cast<double>(bytes_of(given[0])), 200.0 * 16 * kKiB, 1.0 * kOneMessage)
      << "the primary carries as much as it would alone";
  EXPECT_THAT(payloads(given[0]), Each(kOneMessage)) << "in the chunks of a flow with one circuit";
  flow_.run(50);
  EXPECT_GT(bytes_of(flow_.run(100)[1]), 0U) << "idle again";
}

TEST_F(FlowAlternatesTest, ItStaysAwayUntilThePortHasBeenQuiet) {
  flow_.run(100);
  run_in_use(20);
  const Instant last = flow_.clock_.now();
  while (flow_.run(1)[1].empty()) ASSERT_LT(flow_.clock_.now() - last, milliseconds(200));
  // The last stamp was set at the beginning of the last step.
  EXPECT_GE(flow_.clock_.now() - last, EgressPort::kShortestUse + PortGate::kQuiet - milliseconds(1));
  EXPECT_LT(flow_.clock_.now() - last, EgressPort::kShortestUse + PortGate::kQuiet + milliseconds(30));
}

TEST_F(FlowAlternatesTest, NothingGoesThereWhileARelaySaysThatItsPortIsInUse) {
  flow_.run(100);
  tell_gate(true);
  flow_.run(5);
  EXPECT_THAT(flow_.run(200)[1], IsEmpty());
  tell_gate(false);
  EXPECT_GT(bytes_of(flow_.run(200)[1]), 0U);
}

TEST_F(FlowAlternatesTest, ALittleIsOnItsWayAtATime) {
  for (int i = 0; i < 500; ++i) {
    flow_.run(1);
    ASSERT_LE(flow_.in_flight(1), kQuarter.most_alternate_bytes);
  }
}

TEST_F(FlowAlternatesTest, APortThatIsNotKnownCountsAsInUse) {
  flow_.sender_.leaves_by(alternate_, EgressPort());
  EXPECT_THAT(flow_.run(200)[1], IsEmpty());
}

TEST_F(FlowAlternatesTest, TheFlowsOwnPortIsInUseBetweenItsChunks) {
  flow_.run(100);
  PortGate gate{EgressPort(page_, "eth0")};
  for (int i = 0; i < 300; ++i) {
    flow_.run(1);
    ASSERT_FALSE(gate.is_open(flow_.clock_.now())) << i;
  }
}

TEST_F(FlowAlternatesTest, ItsOwnPortIsNotInUse) {
  flow_.run(100);
  PortGate gate(port_);
  for (int i = 0; i < 300; ++i) {
    flow_.run(1);
    ASSERT_TRUE(gate.is_open(flow_.clock_.now())) << i;
  }
}

// Another flow's traffic on the alternate's port is switched on and off every GetParam() ms. While both have data for
// the port, they share it equally.
class FlowBesideIntermittentTraffic : public FlowAlternatesTest, public testing::WithParamInterface<int> {
 protected:
  static constexpr std::uint64_t kCable = 16 * kKiB;  // per ms

  void run_for(int ms) {
    for (int i = 0; i < ms; ++i, ++ms_) {
      const bool is_on = ms_ / GetParam() % 2 == 0;
      if (is_on) waiting_ += kCable;
      if (is_on) offered_ += kCable;
      std::uint64_t carried = 0;
      if (waiting_ > 0) {
        port_.use(flow_.clock_.now(), milliseconds(1));
        carried = std::min(waiting_, flow_.in_flight(1) > 0 ? kCable / 2 : kCable);
      }
      waiting_ -= carried;
      if (is_on) carried_ += carried;
      flow_.set_speed(1, kCable - carried);
      const auto given = flow_.run(1);
      for (std::size_t c = 0; c < 2; ++c) given_[c] += bytes_of(given[c]);
    }
  }

  double share_of_other() const { return static_cast<double>(carried_) / static_cast<double>(offered_); }

  int ms_ = 0;
  std::uint64_t waiting_ = 0;  // of the other flow
  std::uint64_t offered_ = 0;
  std::uint64_t carried_ = 0;  // while it was on
  std::uint64_t given_[2] = {0, 0};
};

INSTANTIATE_TEST_SUITE_P(MsOnAndOff, FlowBesideIntermittentTraffic, testing::Values(10, 20, 50, 100));

TEST_P(FlowBesideIntermittentTraffic, TheAlternateDoesNotOscillateAndNeitherFlowLoses) {
  constexpr int kMs = 1500;
  run_for(kMs);
  if (GetParam() <= 20) {
    EXPECT_GE(share_of_other(), 0.98);
  }
  EXPECT_GE(static_cast<double>(given_[0] + given_[1]), 0.98 * kMs * kCable) << "as much as its own path carries";
  // Each use of the port that ended soon has doubled the time until the next one.
  given_[1] = offered_ = carried_ = 0;
  run_for(500);
  EXPECT_EQ(given_[1], 0U);
  EXPECT_GE(share_of_other(), 0.98);
  EXPECT_TRUE(flow_.script_.no_late_writes());
}

// A flow that has lost its own path goes on over the alternate, as over any other circuit.
TEST_F(FlowAlternatesTest, ThePrimaryCompetesWhateverItIs) {
  flow_.run(100);
  flow_.set_speed(0, 0);
  flow_.sender_.end_circuit(flow_.names_[0], absl::UnavailableError("it is silent"));
  tell_gate(true);
  flow_.run(600);  // to deliver what it was given at once
  EXPECT_NEAR(static_cast<double>(bytes_of(flow_.run(320)[1])), 320.0 * 16 * kKiB, 1.0 * kOneMessage);
  PortGate gate(port_);
  EXPECT_FALSE(gate.is_open(flow_.clock_.now()));
}

// Relays learn from its announcements whether it is the primary.
TEST_F(FlowAlternatesTest, AFormerPrimaryIsAnnouncedAsAnAlternateAgain) {
  flow_.run(100);
  EXPECT_EQ(flow_.announced_as_[1], 2U);
  flow_.receiver_.prefer(alternate_);
  flow_.run(100);
  EXPECT_EQ(flow_.announced_as_[1], 0U);
  flow_.receiver_.prefer(flow_.names_[0]);
  flow_.run(100);
  EXPECT_EQ(flow_.announced_as_[1], 2U);
}

// The sender's end of a flow whose destination is played, with a circuit over eth0 and an alternate over eth1.
class PlayedDestination : public testing::Test {
 protected:
  PlayedDestination() {
    for (const CircuitShare share : {CircuitShare::kBundle, CircuitShare::kAlternate}) {
      test::LooseHop& hop = hops_[share == CircuitShare::kBundle ? 0 : 1];
      const CircuitName name = *sender_.reserve();
      EXPECT_TRUE(sender_.join(name, hop.source, "", kMaxChunkBytes).ok());
      sender_.leaves_by(name, EgressPort(page_, name.slot == 0 ? "eth0" : "eth1"));
      sender_.stripe(name, kOneBundle, share);
    }
  }
  void tell(std::size_t circuit, const Frame& frame) {
    ASSERT_TRUE(hops_[circuit].destination.send_control(frame).ok());
    while (hops_[circuit].deliver_up()) {
    }
    status_ = sender_.progress();
  }
  static Frame announcement(std::uint64_t message, std::uint64_t as) {
    return Frame{FrameKind::kAnnounce, 0, message, as, kLarge};
  }
  void post(std::uint64_t bytes) { ASSERT_TRUE(sender_.post(FlowBuffer(sent_.data(), &keys_), bytes).ok()); }

  PortStampPage page_{};
  test::LooseHop hops_[2];
  FlowSender sender_{nullptr, kQuarter};
  absl::Status status_;
  const std::vector<std::byte> sent_ = std::vector<std::byte>(kLarge);
  const CircuitKeys keys_{};
};

TEST_F(PlayedDestination, NothingGoesOverAClosedAlternateAlthoughOnlyItIsAnnounced) {
  tell(0, announcement(0, 0));
  tell(1, announcement(0, 1));
  post(0);
  tell(1, gate_frame(true));
  tell(1, announcement(1, 1));
  post(kLarge);
  EXPECT_THAT(hops_[1].source.new_chunks(), IsEmpty());
  tell(0, announcement(1, 0));
  EXPECT_EQ(bytes_of(hops_[0].source.new_chunks()), kLarge);
}

TEST_F(PlayedDestination, AnAcknowledgementOfAMessageAfterOneThatIsNotSentBreaksTheProtocol) {
  hops_[0].source.max_chunks = 1;
  for (std::uint64_t message = 0; message < 2; ++message) {
    tell(0, announcement(message, 0));
    tell(1, announcement(message, 1));
  }
  post(kLarge);
  post(kLarge / 8);
  tell(0, Frame{FrameKind::kAck, 0, 1, 0, kLarge / 8});
  EXPECT_TRUE(absl::IsInvalidArgument(status_)) << status_;
}

// A relay's `gate`, or the destination's `failed`, is lost with the circuit that it came over.
TEST(FlowAlternates, ACutOnAGateOrOnAFailureLosesNothing) {
  PortStampPage page{};
  StripedFlow flow(messages(2000, kOneMessage), {16 * kKiB, 16 * kKiB, 16 * kKiB}, {kOneBundle});
  flow.sender_.leaves_by(flow.names_[0], EgressPort(page, "eth0"));
  const absl::Status pulled = absl::UnavailableError("the cable was pulled");
  for (const std::size_t circuit : {1U, 2U}) {
    const CircuitName alternate = flow.join(kOneBundle, CircuitShare::kAlternate);
    flow.sender_.leaves_by(alternate, EgressPort(page, "eth1"));
    flow.run(200);
    ASSERT_GT(flow.in_flight(circuit), 0U);
    const std::uint64_t again = flow.sender_.traffic().bytes_again();
    test::LooseEnd& there = flow.hops_[circuit]->destination;
    flow.set_speed(circuit, 0);
    if (circuit == 1) {
      ASSERT_TRUE(there.send_control(gate_frame(true)).ok());
      there.lose_all();
      flow.sender_.end_circuit(alternate, pulled);
    } else {
      flow.receiver_.end_circuit(alternate, pulled);
      there.lose_all();
    }
    flow.run(800);  // the other circuit delivers what it was given at once, then what is sent again
    EXPECT_FALSE(flow.sender_.is_live(alternate) || flow.receiver_.is_live(alternate));
    EXPECT_GT(flow.sender_.traffic().bytes_again(), again);
    EXPECT_GT(bytes_of(flow.run(100)[0]), 0U);
  }
  EXPECT_TRUE(flow.script_.no_late_writes());
}

TEST(FlowAlternates, AGateOfAnotherCircuitBreaksTheProtocol) {
  StripedFlow flow(messages(1, kOneMessage), {16 * kKiB}, {kOneBundle});
  ASSERT_TRUE(flow.hops_[0]->destination.send_control(gate_frame(true)).ok());
  while (flow.hops_[0]->deliver_up()) {
  }
  const absl::Status status = flow.sender_.progress();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

}  // namespace
}  // namespace cableway
