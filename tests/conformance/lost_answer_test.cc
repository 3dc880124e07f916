// A circuit is lost together with its destination's answer to the set-up, or with the flow's last acknowledgement. The
// source sets up another circuit for the same flow. The test plays the source, a neighbour of a real rank.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/circuit/flow_proof.h"
#include "tests/conformance/ranks/untrusted_peer.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::uint32_t kAnsweredBytes = 3000;
constexpr seconds kAnswerMargin{20};

class LostAnswerTest : public testing::TestWithParam<int> {
 protected:
  LostAnswerTest() {
    for (const char* node : {"a", "b"}) world_.start(node);
    receiver_ = std::make_unique<RankProcess>(world_, "b", GetParam(), receive);
    handle_ = receiver_->receive_handle();
    setup_ = setup_for(handle_, "a", {world_.hop("a", "b")});
  }

  // Has the rank execute this command.
  void tell(const std::string& word) {
    receiver_->send(word);
    EXPECT_EQ(receiver_->receive(), word);
  }
  // The flow's next circuit, which the rank has accepted.
  std::unique_ptr<UntrustedPeer> open_next() {
    auto peer = dial_next();
    EXPECT_EQ(kind_of_next(*peer), FrameKind::kSetupOk);
    return peer;
  }
  std::unique_ptr<UntrustedPeer> dial_next() {
    setup_.circuit.generation = ++generation_;
    add_flow_proof(decode_listen_handle(handle_)->cookie, setup_);
    auto peer = std::make_unique<UntrustedPeer>(door(), setup_.hops[0].from_address);
    EXPECT_TRUE(peer->send(as_frame(setup_)));
    return peer;
  }
  World::Door door() const { return {setup_.hops[0].to_address, setup_.hops[0].to_port}; }
  // Sends the flow's first message over this circuit, and waits until the rank has it.
  void send_message_over(UntrustedPeer& peer) {
    receiver_->send("receive");
    EXPECT_EQ(kind_of_next(peer), FrameKind::kAnnounce);
    EXPECT_TRUE(peer.send(Frame{FrameKind::kChunk, kAnsweredBytes, 0, 0, kAnsweredBytes}, pattern(kAnsweredBytes, 1)));
    EXPECT_EQ(receiver_->receive(), "receive");
  }
  // Skips `retired` frames.
  static std::optional<FrameKind> kind_of_next(UntrustedPeer& peer) {
    std::optional<Frame> frame;
    do {
      frame = peer.receive_frame(kAnswerMargin);
    } while (frame.has_value() && frame->kind == FrameKind::kRetired);
    return frame.has_value() ? std::optional(frame->kind) : std::nullopt;
  }

  World world_{"a"};
  Handle handle_{};
  CircuitSetup setup_;
  std::uint32_t generation_ = 0;
  std::unique_ptr<RankProcess> receiver_;

 private:
  static void receive(Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* comm = nullptr;
    for (std::string word = test.receive(); word != "end"; word = test.receive()) {
      if (word == "accept") {
        comm = rank.accept(listener);
        EXPECT_NE(comm, nullptr);
      } else if (word == "find no other flow") {
        void* none = nullptr;
        EXPECT_EQ(rank.net().accept(listener, &none), abi::kSuccess);
        EXPECT_EQ(none, nullptr);
      } else if (word == "close listen") {
        EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
      } else if (word == "receive") {
        EXPECT_TRUE(receive_message(rank, comm, kAnsweredBytes, 1).done);
      } else if (word == "close") {
        EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
      }
      test.send(word);
    }
    EXPECT_THAT(warnings(), testing::IsEmpty());
  }
};

// The connections of the first two set-ups are closed once the rank has accepted them.
TEST_P(LostAnswerTest, ToTheFirstSetUpIsFollowedByAnotherOneOfTheSameFlow) {
  open_next().reset();
  open_next().reset();
  const auto circuit = open_next();
  tell("accept");
  tell("find no other flow");
  send_message_over(*circuit);
  EXPECT_EQ(kind_of_next(*circuit), FrameKind::kAck);
  receiver_->send("end");
  receiver_->finish();
}

TEST_P(LostAnswerTest, MayBeFollowedByAnotherSetUpAfterTheAccept) {
  open_next().reset();
  tell("accept");
  const auto circuit = open_next();
  tell("find no other flow");
  send_message_over(*circuit);
  EXPECT_EQ(kind_of_next(*circuit), FrameKind::kAck);
  receiver_->send("end");
  receiver_->finish();
}

TEST_P(LostAnswerTest, MayBeFollowedByAnotherSetUpAfterTheListenCommIsClosed) {
  open_next().reset();
  tell("accept");
  tell("close listen");
  const auto circuit = open_next();
  send_message_over(*circuit);
  EXPECT_EQ(kind_of_next(*circuit), FrameKind::kAck);
  receiver_->send("end");
  receiver_->finish();
}

// NCCL cannot accept the flow any more: the source learns that its flow is over, and does not wait.
TEST_P(LostAnswerTest, OfAFlowThatWasNeverAcceptedIsTheFlowsEndOnceTheListenCommIsClosed) {
  open_next().reset();
  tell("close listen");
  const UntrustedPeer::Answer answer = dial_next()->receive(kAnswerMargin);
  EXPECT_FALSE(answer.accepted);
  EXPECT_THAT(answer.reason, HasSubstr("its listen comm was closed before it was accepted"));
  EXPECT_EQ(answer.scope, FailureScope::kFlow);
  receiver_->send("end");
  receiver_->finish();
}

// The message has arrived, its acknowledgement is lost with the flow's only circuit, and the rank has closed the flow:
// another circuit brings the acknowledgement, and then that the flow is over, as long as the process lives. Once the
// process has exited, the kernel refuses connections, and the source's flow fails (docs/decisions/0017).
TEST_P(LostAnswerTest, IsTheLastAcknowledgementWhichAnotherCircuitBringsUntilTheProcessExits) {
  auto circuit = open_next();
  tell("accept");
  send_message_over(*circuit);
  circuit.reset();
  tell("close");
  tell("close listen");
  for (int i = 0; i < 2; ++i) {
    circuit = open_next();
    EXPECT_EQ(kind_of_next(*circuit), FrameKind::kAck);
    EXPECT_EQ(circuit->receive_failed(kAnswerMargin), FailureScope::kFlow);
  }
  receiver_->send("end");
  receiver_->finish();
  EXPECT_TRUE(is_refused_at(door()));
}

INSTANTIATE_TEST_SUITE_P(Abi, LostAnswerTest, oldest_and_newest_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
