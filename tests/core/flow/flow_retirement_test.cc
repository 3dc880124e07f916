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

// The receiver has found it first, and its relay's reason has arrived, but the sender reads the other circuit before.
TEST_F(RetiringSender, ReadsTheReasonOfACircuitThatTheReceiverHasRetired) {
  hops_[1].source.notice(received_failure(FailureScope::kCircuit, "node m port b: it has lost its carrier"));
  receive(0, retired_frame({1, 1}, 0));
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_EQ(sender_.end_in(1).kind, CircuitEndKind::kFailed);
  EXPECT_EQ(sender_.end_in(1).reason, "node m port b: it has lost its carrier");
  EXPECT_EQ(sender_.live(), 1U);
}

TEST_F(RetiringSender, AsksOverEveryCircuitThatJoinsUntilTheAnswerComes) {
  lose_first_circuit();
  test::LooseHop third;
  EXPECT_EQ(join(third), (CircuitName{2, 1})) << "the first slot is in limbo";
  EXPECT_THAT(take_sent(third.source), ElementsAre(retire_frame({0, 1})));
  receive(1, retired_frame({0, 1}, 3));
  test::LooseHop fourth;
  EXPECT_EQ(join(fourth), (CircuitName{0, 2})) << "settled, it is used again";
  EXPECT_THAT(take_sent(fourth.source), IsEmpty());
}

TEST_F(RetiringSender, FencesACircuitThatTheReceiverHasRetired) {
  receive(0, announcement(0, 1000));
  EXPECT_EQ(sent(0).size(), 3U);
  receive(1, retired_frame({0, 1}, 0));
  EXPECT_TRUE(status_.ok());
  EXPECT_TRUE(hops_[0].source.fenced());
  EXPECT_FALSE(sender_.is_live({0, 1}));
  receive(1, announcement(0, 1000));
  EXPECT_THAT(sent(1), ElementsAre(retire_frame({0, 1}), chunk(0, 0, 256, 1000), chunk(0, 256, 256, 1000),
                                   chunk(0, 512, 256, 1000)))
      << "the oldest first; asking again does no harm";
}

TEST_F(RetiringSender, RetiresACircuitWhoseSetUpHasFailedAsItMayHaveArrived) {
  const CircuitName name = sender_.reserve().value_or(CircuitName{});
  sender_.release(name);
  EXPECT_THAT(sent(0), ElementsAre(retire_frame(name)));
  EXPECT_THAT(sent(1), ElementsAre(retire_frame(name)));
  receive(1, retired_frame(name, 0));
  EXPECT_TRUE(status_.ok()) << status_;
}

TEST_F(RetiringSender, DoesNotJoinWhatTheReceiverHasRetired) {
  const CircuitName name = sender_.reserve().value_or(CircuitName{});
  receive(0, retired_frame(name, 0));
  EXPECT_TRUE(status_.ok()) << status_;
  test::LooseHop hop;
  EXPECT_TRUE(absl::IsFailedPrecondition(sender_.join(name, hop.source, "", kRetiringChunk)));
  EXPECT_EQ(sender_.reserve(), (CircuitName{name.slot, 2}));
}

TEST_F(RetiringSender, TellsTheOtherEndWhatItFound) {
  hops_[0].source.notice();
  EXPECT_TRUE(sender_.progress().ok());
  while (hops_[0].deliver_down()) continue;
  EXPECT_EQ(hops_[0].destination.noticed(), absl::AbortedError("node n0 port a: the cable was pulled"));
}

TEST_F(RetiringSender, SendsNothingAgainOfAMessageThatIsDone) {
  lose_first_circuit();
  receive(1, announcement(0, 1000));
  receive(1, acknowledgement(0, 1000));  // all had landed
  EXPECT_TRUE(status_.ok()) << status_;
  sent(1);
  receive(1, retired_frame({0, 1}, 3));
  EXPECT_THAT(sent(1), IsEmpty());
  EXPECT_EQ(sender_.traffic().bytes_again(), 0U);
}

TEST_F(RetiringSender, IsDoneWithWhatThePeerAcknowledgedBeforeItClosedTheFlow) {
  receive(0, announcement(0, 1000));
  receive(1, announcement(0, 1000));
  receive(1, acknowledgement(0, 1000));
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_FALSE(sender_.done(0)) << "both circuits still read the message";
  hops_[1].destination.fail("this end has closed the flow", FailureScope::kFlow);
  while (hops_[1].deliver_up()) continue;
  EXPECT_TRUE(ends_flow(sender_.progress()));
  EXPECT_TRUE(hops_[0].source.fenced());
  EXPECT_TRUE(sender_.done(0));
}

TEST_F(RetiringSender, RefusesCountsThatCannotBe) {
  lose_first_circuit();
  receive(1, retired_frame({0, 1}, 4));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("counted 4 chunks over a circuit that was given 3"));
}

TEST_F(RetiringSender, SendsNothingAgainOfWhatThePeerHasAcknowledged) {
  const test::SentMessage second(1, 256);
  EXPECT_TRUE(sender_.post(second.buffer(), 256).ok());
  receive(0, announcement(0, 1000));
  receive(0, announcement(1, 256));
  sent(0);
  hops_[0].source.notice();
  EXPECT_TRUE(sender_.progress().ok());
  receive(1, announcement(0, 1000));
  sent(1);
  receive(1, acknowledgement(0, 1000));
  receive(1, retired_frame({0, 1}, 2));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("counted 2 chunks"));
  EXPECT_THAT(sent(1), IsEmpty());
}

TEST_F(RetiringSender, RefusesMoreLandedThanGiven) {
  receive(0, announcement(0, 1000));
  receive(0, landed(4));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("reports 4 chunks over a circuit that was given 3"));
}

TEST_F(RetiringSender, RefusesACircuitThatRetiresItself) {
  receive(0, retired_frame({0, 1}, 0));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("cannot have retired"));
}

TEST_F(RetiringSender, RefusesACircuitThatDoesNotExist) {
  receive(0, retired_frame({1, 2}, 0));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("cannot have retired"));
}

TEST_F(RetiringSender, RefusesAnAcknowledgementOfWhatItHasToSendAgain) {
  lose_first_circuit();
  receive(1, announcement(0, 1000));
  receive(1, retired_frame({0, 1}, 0));
  sent(1);
  // Three chunks are in flight over the second circuit, which can take no more: the last one waits.
  hops_[1].source.notice();
  test::LooseHop third;
  join(third);
  status_ = sender_.progress();
  EXPECT_TRUE(third.destination.send_control(retired_frame({1, 1}, 0)).ok());
  EXPECT_TRUE(third.destination.send_control(acknowledgement(0, 1000)).ok());
  while (third.deliver_up()) continue;
  EXPECT_THAT(std::string(sender_.progress().message()), HasSubstr("not what was sent"));
}

TEST_F(RetiringSender, WaitsForACircuitWhereItHasNone) {
  for (test::LooseHop& hop : hops_) hop.source.notice();
  EXPECT_TRUE(sender_.progress().ok());
  EXPECT_EQ(sender_.live(), 0U);
  EXPECT_THAT(std::string(sender_.last_end().message()), HasSubstr("pulled"));
  test::LooseHop third;
  join(third);
  EXPECT_THAT(take_sent(third.source), ElementsAre(retire_frame({1, 1}))) << "the other slot is its own";
}

TEST_F(RetiringSender, AsksForCountsOverACircuitThatWasPolledBefore) {
  hops_[1].source.notice();
  EXPECT_TRUE(sender_.progress().ok());
  EXPECT_EQ(hops_[0].source.unflushed(), 0U);
  EXPECT_THAT(sent(0), Contains(retire_frame({1, 1})));
}

TEST_F(RetiringSender, HasFiveCircuitsAtMost) {
  std::vector<CircuitName> reserved;
  while (const auto name = sender_.reserve()) reserved.push_back(*name);
  EXPECT_EQ(reserved.size(), 3U) << "five in all";
  sender_.release(reserved.back());
  EXPECT_EQ(sender_.reserve(), (CircuitName{4, 2})) << "a name is used once";
}

// The destination is hostile: it moves the primary with every chunk, tells of chunks on one circuit only, and retires
// the others, so that as many ranges as possible are to be sent again.
TEST_F(RetiringSender, HasRoomForAllThatIsToBeSentAgain) {
  test::LooseHop more[2];
  for (test::LooseHop& hop : more) join(hop);
  test::LooseHop* const hops[] = {&hops_[0], &hops_[1], &more[0], &more[1]};
  const test::SentMessage large(1, 1000 * kRetiringChunk);
  EXPECT_TRUE(sender_.post(large.buffer(), large.size()).ok());
  const auto say = [](test::LooseHop& hop, const Frame& frame) {
    EXPECT_TRUE(hop.destination.send_control(frame).ok());
    while (hop.deliver_up()) continue;
  };
  say(*hops[3], announcement(0, 1000));
  say(*hops[3], announcement(1, large.size()));
  EXPECT_TRUE(sender_.progress().ok());
  std::uint64_t landed_over_last = 0;
  for (int i = 0; i < 1000; ++i) {
    for (test::LooseHop* hop : hops) {
      say(*hop, announcement(1, large.size()));
      EXPECT_TRUE(sender_.progress().ok());
      while (hop->deliver_down_unread()) landed_over_last += hop == hops[3] ? 1 : 0;
      if (hop == hops[3]) say(*hop, landed(landed_over_last));
    }
  }
  for (std::uint8_t i = 0; i < 3; ++i) say(*hops[3], retired_frame({i, 1}, 0));
  EXPECT_TRUE(sender_.progress().ok());
}

class RetiringReceiver : public testing::Test {
 protected:
  RetiringReceiver() {
    EXPECT_TRUE(receiver_.join({0, 1}, hops_[0].destination, "node n1 port b").ok());
    EXPECT_TRUE(receiver_.join({1, 1}, hops_[1].destination, "node n1 port b").ok());
    EXPECT_TRUE(receiver_.post(landing_.landing()).ok());
    EXPECT_THAT(said(0), ElementsAre(announcement(0, 1000)));
  }
  void receive(std::size_t circuit, const Frame& frame) {
    test::LooseEnd& source = hops_[circuit].source;
    frame.kind == FrameKind::kChunk ? source.send(frame, message_.buffer()) : void(source.send_control(frame).ok());
    while (hops_[circuit].deliver_down()) continue;
    status_ = receiver_.progress();
  }
  std::vector<Frame> said(std::size_t circuit) { return take_sent(hops_[circuit].destination); }

  test::LooseHop hops_[2];
  FlowReceiver receiver_;
  test::ReceivedMessage landing_{1000};
  const test::SentMessage message_{0, 1000};
  absl::Status status_;
};

TEST_F(RetiringReceiver, DoesNotCountAChunkThatWasCorrupted) {
  receive(0, chunk(0, 0, 256, 1000));
  hops_[0].destination.notice(absl::DataLossError("chunk corrupted"));
  EXPECT_TRUE(receiver_.progress().ok());
  EXPECT_FALSE(receiver_.is_live({0, 1}));
  EXPECT_THAT(said(1), ElementsAre(retired_frame({0, 1}, 1), announcement(0, 1000)));
  EXPECT_EQ(receiver_.corruptions(), 1U);
  EXPECT_EQ(receiver_.last_corruption().message(), "node n1 port b: chunk corrupted");
  // The circuit's end, not the flow's: another one may carry it.
  EXPECT_EQ(hops_[0].destination.out().back().end,
            received_failure(FailureScope::kCircuit, "node n1 port b: chunk corrupted"));
  for (std::uint64_t at : {256, 512}) receive(1, chunk(0, at, 256, 1000));
  receive(1, chunk(0, 768, 232, 1000));
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_TRUE(receiver_.done(0));
}

TEST_F(RetiringReceiver, CountsOnlyDamagedBytesAsCorruptions) {
  hops_[0].destination.notice();
  EXPECT_TRUE(receiver_.progress().ok());
  EXPECT_EQ(receiver_.circuits_ended(), 1U);
  EXPECT_EQ(receiver_.corruptions(), 0U);
}

TEST_F(RetiringReceiver, FencesAndTellsTheCountThenRepeatsItsAnnouncements) {
  receive(0, chunk(0, 0, 256, 1000));
  receive(1, retire_frame({0, 1}));
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_TRUE(hops_[0].destination.fenced());
  EXPECT_THAT(said(1), ElementsAre(retired_frame({0, 1}, 1), announcement(0, 1000)));
  receive(1, retire_frame({0, 1}));
  EXPECT_THAT(said(1), ElementsAre(retired_frame({0, 1}, 1))) << "every question is answered";
}

TEST_F(RetiringReceiver, TellsWhatItFindsItself) {
  hops_[0].destination.notice();
  EXPECT_TRUE(receiver_.progress().ok());
  EXPECT_THAT(said(1), ElementsAre(retired_frame({0, 1}, 0), announcement(0, 1000)));
  test::LooseHop third;
  EXPECT_TRUE(receiver_.join({2, 1}, third.destination, "node n1 port b").ok());
  EXPECT_THAT(take_sent(third.destination), ElementsAre(retired_frame({0, 1}, 0)));
}

TEST_F(RetiringReceiver, AnswersForACircuitThatNeverArrivedAndRefusesItAfterwards) {
  receive(1, retire_frame({5, 3}));
  EXPECT_THAT(said(1), ElementsAre(retired_frame({5, 3}, 0)));
  test::LooseHop late;
  EXPECT_TRUE(absl::IsFailedPrecondition(receiver_.join({5, 3}, late.destination, "node n1 port b")));
  EXPECT_TRUE(receiver_.join({5, 4}, late.destination, "node n1 port b").ok());
}

TEST_F(RetiringReceiver, FencesAnOlderCircuitInTheSlot) {
  test::LooseHop newer;
  EXPECT_TRUE(receiver_.join({0, 2}, newer.destination, "node n1 port b").ok());
  EXPECT_TRUE(hops_[0].destination.fenced());
  EXPECT_EQ(receiver_.primary(), 1U);
  receive(1, retire_frame({0, 1}));
  EXPECT_THAT(said(1), ElementsAre(retired_frame({0, 1}, 0), announcement(0, 1000))) << "and no answer to the question";
  EXPECT_TRUE(receiver_.is_live({0, 2}));
}

TEST_F(RetiringReceiver, RepeatsTheLastAcknowledgementOnANewPrimary) {
  test::ReceivedMessage second(500);
  EXPECT_TRUE(receiver_.post(second.landing()).ok());
  receive(0, chunk(0, 0, 1000, 1000));
  EXPECT_TRUE(receiver_.done(0));
  receiver_.prefer({1, 1});
  EXPECT_THAT(said(1), ElementsAre(acknowledgement(0, 1000), announcement(1, 500)));
}

// The application is done, and makes no progress again.
TEST_F(RetiringReceiver, SendsTheLastAcknowledgementOverACircuitThatWasPolledBefore) {
  receiver_.prefer({1, 1});
  receiver_.prefer({0, 1});
  receive(1, chunk(0, 0, 1000, 1000));
  EXPECT_TRUE(receiver_.done(0));
  EXPECT_EQ(hops_[0].destination.unflushed(), 0U);
  EXPECT_THAT(said(0), Contains(acknowledgement(0, 1000)));
}

TEST_F(RetiringReceiver, TellsEverySixteenChunksUnlessAnAcknowledgementDoes) {
  test::ReceivedMessage large(100 * 128);
  const test::SentMessage bytes(1, 100 * 128);
  receive(0, chunk(0, 0, 128, 128));
  said(0);
  EXPECT_TRUE(receiver_.post(large.landing()).ok());
  said(0);
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_THAT(said(0), IsEmpty()) << i;
    hops_[0].source.send(chunk(1, 128 * i, 128, large.capacity()), SendBuffer{bytes.buffer().data + 128 * i, 0});
    ASSERT_TRUE(hops_[0].deliver_down());
    ASSERT_TRUE(receiver_.progress().ok());
  }
  EXPECT_THAT(said(0), ElementsAre(landed(17))) << "counted since the circuit began";
}

// The source may have so many ranges to send again that it waits for each report.
TEST_F(RetiringReceiver, TellsOfEveryChunkOfMessagesThatACircuitsEndMayHaveHit) {
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
