// What each end of a flow with several circuits says and refuses when one of them ends. The test plays the other end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/loose_hop.h"
#include "tests/core/flow/message_buffers.h"

namespace cableway {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kRetiringChunk = 256;

Frame announcement(std::uint64_t message, std::uint64_t capacity) {
  return Frame{FrameKind::kAnnounce, 0, message, 0, capacity};
}
Frame acknowledgement(std::uint64_t message, std::uint64_t bytes) {
  return Frame{FrameKind::kAck, 0, message, 0, bytes};
}
Frame chunk(std::uint64_t message, std::uint64_t offset, std::uint32_t payload, std::uint64_t size) {
  return Frame{FrameKind::kChunk, payload, message, offset, size};
}
Frame landed(std::uint64_t count) {
  return Frame{FrameKind::kLanded, 0, count, 0, 0};
}

// The frames that an end has sent over a hop since the last call.
std::vector<Frame> take_sent(test::LooseEnd& end) {
  std::vector<Frame> frames;
  for (const auto& each : end.out()) {
    if (each.end.ok()) frames.push_back(each.frame);
  }
  end.lose_all();
  return frames;
}

class RetiringSender : public testing::Test {
 protected:
  RetiringSender() {
    for (test::LooseHop& hop : hops_) join(hop);
    EXPECT_TRUE(sender_.post(message_.buffer(), 1000).ok());
  }
  CircuitName join(test::LooseHop& hop) {
    const CircuitName name = sender_.reserve().value_or(CircuitName{});
    EXPECT_TRUE(sender_.join(name, hop.source, "node n0 port a", kRetiringChunk).ok());
    return name;
  }
  // The receiver sends a frame over a circuit, and the sender takes it.
  void receive(std::size_t circuit, const Frame& frame) {
    EXPECT_TRUE(hops_[circuit].destination.send_control(frame).ok());
    while (hops_[circuit].deliver_up()) continue;
    status_ = sender_.progress();
  }
  std::vector<Frame> sent(std::size_t circuit) { return take_sent(hops_[circuit].source); }
  // Circuit 0 takes three chunks, of which the receiver has counted `count` when it is fenced.
  void lose_first_circuit() {
    receive(0, announcement(0, 1000));
    EXPECT_THAT(sent(0), ElementsAre(chunk(0, 0, 256, 1000), chunk(0, 256, 256, 1000), chunk(0, 512, 256, 1000)));
    hops_[0].source.notice();
    status_ = sender_.progress();
  }

  test::LooseHop hops_[2];
  FlowSender sender_;
  const test::SentMessage message_{0, 1000};
  absl::Status status_;
};

TEST_F(RetiringSender, AsksForTheCountAndSendsTheRestAgain) {
  lose_first_circuit();
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_TRUE(hops_[0].source.fenced());
  EXPECT_THAT(sent(1), ElementsAre(retire_frame({0, 1})));
  receive(1, announcement(0, 1000));
  EXPECT_THAT(sent(1), ElementsAre(chunk(0, 768, 232, 1000))) << "what was never given may go on at once";
  receive(1, retired_frame({0, 1}, 2));
  EXPECT_THAT(sent(1), ElementsAre(chunk(0, 512, 256, 1000)));
  EXPECT_EQ(sender_.traffic().bytes_again(), 256U);
  receive(1, acknowledgement(0, 1000));
  EXPECT_FALSE(sender_.done(0)) << "the second circuit still reads the message";
}

TEST_F(RetiringSender, KnowsHowACircuitEndedAndWhatWasSentAgain) {
  EXPECT_EQ(sender_.end_in(0).circuit.generation, 0U);
  lose_first_circuit();
  EXPECT_EQ(sender_.end_in(0).circuit, (CircuitName{0, 1}));
  EXPECT_EQ(sender_.end_in(0).kind, CircuitEndKind::kFailed);
  EXPECT_EQ(sender_.end_in(0).reason, "node n0 port a: the cable was pulled");
  EXPECT_FALSE(sender_.end_in(0).counted);
  receive(1, announcement(0, 1000));
  receive(1, retired_frame({0, 1}, 2));
  EXPECT_TRUE(sender_.end_in(0).counted);
  EXPECT_EQ(sender_.end_in(0).bytes_again, 256U);
  sender_.end_circuit({1, 1}, absl::CancelledError("a better path carries the flow now"));
  EXPECT_EQ(sender_.end_in(1).kind, CircuitEndKind::kMoved);
}

TEST_F(RetiringSender, KnowsThatACircuitWithoutChunksHasNothingToCount) {
  sender_.end_circuit({1, 1}, absl::DataLossError("chunk corrupted"));
  EXPECT_EQ(sender_.end_in(1).kind, CircuitEndKind::kCorrupted);
  EXPECT_TRUE(sender_.end_in(1).counted);
  receive(0, retired_frame({1, 1}, 0));
  EXPECT_EQ(sender_.end_in(1).kind, CircuitEndKind::kCorrupted) << "it has not ended again";
}

TEST_F(RetiringSender, KnowsThatTheReceiverHasRetiredACircuit) {
  receive(1, retired_frame({0, 1}, 0));
  EXPECT_EQ(sender_.end_in(0).kind, CircuitEndKind::kClosed);
  EXPECT_TRUE(sender_.end_in(0).counted);
}

TEST_F(RetiringSender, AsksOverEveryCircuitThatJoinsUntilTheAnswerComes) {
  lose_first_circuit();
  receiver_.prefer({1, 1});
  receive(1, chunk(0, 0, 128, 1000));
  test::LooseHop third;
  ASSERT_TRUE(receiver_.join({2, 1}, third.destination, "node n1 port c").ok());
  receiver_.end_circuit({2, 1}, absl::UnavailableError("it was cut"));
  said(0);
  said(1);
  receive(0, chunk(0, 128, 128, 1000));
  EXPECT_THAT(said(0), ElementsAre(landed(1)));
  EXPECT_THAT(said(1), ElementsAre(landed(1))) << "and of those before it, on each circuit";
  receive(0, chunk(0, 256, 744, 1000));
  EXPECT_TRUE(receiver_.done(0));
  test::ReceivedMessage next(1000);
  EXPECT_TRUE(receiver_.post(next.landing()).ok());
  said(1);
  receive(1, chunk(1, 0, 128, 1000));
  EXPECT_THAT(said(1), IsEmpty()) << "nothing of it comes again";
}

TEST_F(RetiringReceiver, RefusesTheSameBytesOverAnotherCircuit) {
  receive(0, chunk(0, 0, 256, 1000));
  receiver_.prefer({1, 1});
  receive(1, chunk(0, 0, 256, 1000));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("chunk at 0 of message 0"));
}

TEST_F(RetiringReceiver, RefusesACircuitThatRetiresItself) {
  receive(0, retire_frame({0, 1}));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("over that circuit"));
}

TEST_F(RetiringReceiver, WaitsForACircuitWhereItHasNone) {
  for (test::LooseHop& hop : hops_) hop.destination.notice();
  EXPECT_TRUE(receiver_.progress().ok());
  EXPECT_EQ(receiver_.primary(), std::nullopt);
  test::ReceivedMessage second(500);
  EXPECT_TRUE(receiver_.post(second.landing()).ok());
  test::LooseHop third;
  EXPECT_TRUE(receiver_.join({2, 1}, third.destination, "node n1 port b").ok());
  EXPECT_THAT(take_sent(third.destination), ElementsAre(retired_frame({0, 1}, 0), retired_frame({1, 1}, 0),
                                                        announcement(0, 1000), announcement(1, 500)));
}

}  // namespace
}  // namespace cableway
