// Untrusted peers at every TCP port that listens on a cable: each gets a reason and is disconnected, and the node and
// the ranks keep serving.
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "core/arrivals/arrivals.h"
#include "tests/conformance/ranks/untrusted_peer.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::size_t kHostileBytes = 300'000;
constexpr milliseconds kSetupLimit{5000};  // docs/protocol.md
constexpr seconds kHostileMargin{20};

// A rank on node a with a flow to one on node c, over the relay b.
class HostileTest : public testing::TestWithParam<int> {
 protected:
  explicit HostileTest(bool fails_at_once = false) {
    if (fails_at_once) world_.fail_at_once();
    for (const char* node : {"a", "b", "c"}) world_.start(node);
    receiver_ = std::make_unique<RankProcess>(world_, "c", GetParam(), receive);
    handle_ = receiver_->receive_handle();
    sender_ = std::make_unique<RankProcess>(world_, "a", GetParam(),
                                            [this](Rank& rank, Line& test) { send(rank, test, handle_); });
    expect_served();
  }

  // The old flow still carries data, and new ones can be opened.
  void expect_served() {
    receiver_->send("go");
    sender_->send(receiver_->receive());
    EXPECT_EQ(sender_->receive(), "sent");
    EXPECT_EQ(receiver_->receive(), "received");
  }
  void end() {
    receiver_->send("end");
    sender_->send("end");
    receiver_->finish();
    sender_->finish();
  }

  std::vector<World::Door> all_doors() const {
    std::vector<World::Door> all;
    for (const char* node : {"a", "b", "c"}) {
      for (const World::Door& door : world_.doors(node)) all.push_back(door);
    }
    EXPECT_EQ(all.size(), 6U);  // three relay ports, one of them at two addresses, and two ranks
    return all;
  }
  // The set-up that the rank on a would send.
  CircuitSetup good_setup() const { return setup_for(handle_, "a", {world_.hop("a", "b"), world_.hop("b", "c")}); }
  UntrustedPeer at_the_relay() const {
    return UntrustedPeer(world_.relay_door("b", "a"), world_.hop("a", "b").from_address);
  }

  World world_{"a"};
  Handle handle_{};
  std::unique_ptr<RankProcess> receiver_;
  std::unique_ptr<RankProcess> sender_;

 private:
  static void receive(Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* comm = rank.accept(listener);
    for (std::string word = test.receive(); word != "end"; word = test.receive()) {
      if (word == "accept") {
        // A peer with a copied handle.
        void* untrusted_peer = rank.accept(listener);
        EXPECT_EQ(receive_message(rank, untrusted_peer, kHostileBytes, 3).result, abi::kRemoteError);
        EXPECT_EQ(rank.net().close_recv(untrusted_peer), abi::kSuccess);
        test.send(warnings().back());
        continue;
      }
      auto [again, another] = rank.listen();
      test.send(to_message(again));
      EXPECT_TRUE(receive_message(rank, comm, kHostileBytes, 1).done);
      void* fresh = rank.accept(another);
      EXPECT_TRUE(receive_message(rank, fresh, kHostileBytes, 2).done);
      EXPECT_EQ(rank.net().close_recv(fresh), abi::kSuccess);
      EXPECT_EQ(rank.net().close_listen(another), abi::kSuccess);
      test.send("received");
    }
  }

  static void send(Rank& rank, Line& test, const Handle& handle) {
    void* comm = rank.connect(handle);
    for (std::string word = test.receive(); word != "end"; word = test.receive()) {
      EXPECT_TRUE(send_message(rank, comm, kHostileBytes, 1).done);
      void* fresh = rank.connect(to_handle(word));
      EXPECT_TRUE(send_message(rank, fresh, kHostileBytes, 2).done);
      EXPECT_EQ(rank.net().close_send(fresh), abi::kSuccess);
      test.send("sent");
    }
    EXPECT_THAT(warnings(), testing::IsEmpty());
  }
};

TEST_P(HostileTest, FramesOutOfPlaceAndOutOfBoundsAreAnsweredWithAReason) {
  struct Opening {
    Frame frame;
    const char* reason;
  };
  const Opening openings[] = {
      {{FrameKind::kChunk, 4096, 0, 0, 4096}, "began with a frame chunk"},
      {{FrameKind::kAnnounce, 0, 0, 0, 4096}, "began with a frame announce"},
      {{FrameKind::kAck, 0, 0, 0, 0}, "began with a frame ack"},
      {{FrameKind::kFailed, 10, 0, 0, 0}, "began with a frame failed"},
      {{FrameKind::kSetupOk, 0, 0, 0, 0}, "began with a frame set-up-ok"},
      {{FrameKind::kSetup, kMaxSetupBytes + 1, 0, 0, 0}, "65537"},
      {{FrameKind::kSetup, 0xFFFFFFFF, 0, 0, 0}, "4294967295"},
      {{FrameKind::kChunk, kMaxChunkBytes + 1, 0, 0, kMaxChunkBytes + 1}, "4194305"},
      {{FrameKind::kSetup, 0, 0, 0, 0}, "set-up: truncated"},
      {{static_cast<FrameKind>(99), 0, 0, 0, 0}, "unknown kind"},
  };
  for (const World::Door& door : all_doors()) {
    for (const Opening& opening : openings) {
      UntrustedPeer untrusted_peer(door);
      EXPECT_TRUE(untrusted_peer.send(opening.frame));
      const UntrustedPeer::Answer answer = untrusted_peer.receive(kHostileMargin);
      EXPECT_TRUE(answer.closed) << opening.reason;
      EXPECT_THAT(answer.reason, HasSubstr(opening.reason));
      EXPECT_EQ(answer.scope, FailureScope::kCircuit);
    }
    UntrustedPeer noisy(door);
    EXPECT_TRUE(noisy.send(pattern(3000, door.port)));
    EXPECT_TRUE(noisy.receive(kHostileMargin).closed);
  }
  expect_served();
  end();
}

TEST_P(HostileTest, ASetUpIsOnlyAcceptedOverItsOwnCable) {
  const CircuitSetup good = good_setup();
  // A copy, sent from another address.
  UntrustedPeer elsewhere(world_.relay_door("b", "a"), "127.0.0.1");
  elsewhere.send(as_frame(good));
  const UntrustedPeer::Answer to_relay = elsewhere.receive(kHostileMargin);
  EXPECT_FALSE(to_relay.accepted);
  EXPECT_THAT(to_relay.reason, HasSubstr("a set-up for cable " + good.hops[0].cable + " from " +
                                         good.hops[0].from_address + " to " + good.hops[0].to_address + " came from "));
  // The relay's set-up to the rank, sent by another process.
  CircuitSetup last = good;
  last.hop = 1;
  UntrustedPeer posing({good.hops[1].to_address, good.hops[1].to_port}, "127.0.0.1");
  posing.send(as_frame(last));
  const UntrustedPeer::Answer to_rank = posing.receive(kHostileMargin);
  EXPECT_FALSE(to_rank.accepted);
  EXPECT_THAT(to_rank.reason, HasSubstr("a set-up for cable " + good.hops[1].cable + " from "));
  EXPECT_EQ(to_rank.scope, FailureScope::kCircuit);
  // From the right address, with a guessed listener, or along cables that do not exist.
  CircuitSetup guessed = good;
  guessed.listener[3] ^= std::byte{1};
  UntrustedPeer guessing = at_the_relay();
  guessing.send(as_frame(guessed));
  const UntrustedPeer::Answer to_guessing = guessing.receive(kHostileMargin);
  EXPECT_THAT(to_guessing.reason, HasSubstr("node c: the process no longer listens for this connection"));
  EXPECT_EQ(to_guessing.scope, FailureScope::kFlow);
  // The listener's name is in every set-up that crosses the cable; its cookie is not.
  CircuitSetup unproven = good;
  unproven.nonce[3] ^= std::byte{1};
  UntrustedPeer listening = at_the_relay();
  listening.send(as_frame(unproven));
  const UntrustedPeer::Answer to_listening = listening.receive(kHostileMargin);
  EXPECT_THAT(to_listening.reason, HasSubstr("node c: the set-up's proof is wrong"));
  EXPECT_EQ(to_listening.scope, FailureScope::kFlow);
  CircuitSetup detour = good;
  detour.hops[1].to_address = world_.hop("b", "a").to_address;
  UntrustedPeer lost = at_the_relay();
  lost.send(as_frame(detour));
  const UntrustedPeer::Answer to_lost = lost.receive(kHostileMargin);
  EXPECT_THAT(to_lost.reason, HasSubstr("node b: cable " + good.hops[1].cable + " leads "));
  EXPECT_EQ(to_lost.scope, FailureScope::kCircuit) << "another path may lead there";
  expect_served();
  end();
}

TEST_P(HostileTest, ASetUpIsAcceptedOnce) {
  // An untrusted peer on the cable may copy a set-up with its proof, and replay it.
  const std::vector<std::byte> overheard = as_frame(good_setup());
  UntrustedPeer first = at_the_relay();
  first.send(overheard);
  EXPECT_TRUE(first.receive(kHostileMargin).accepted);
  UntrustedPeer again = at_the_relay();
  again.send(overheard);
  const UntrustedPeer::Answer answer = again.receive(kHostileMargin);
  EXPECT_FALSE(answer.accepted);
  EXPECT_TRUE(answer.closed);
  EXPECT_THAT(answer.reason, HasSubstr("node c: the set-up is a copy of an earlier one"));
  EXPECT_EQ(answer.scope, FailureScope::kCircuit) << "a copy must not end the flow of the set-up that was copied";
  // Fields that the proof does not cover, since relays change them, do not make a copy a new set-up.
  CircuitSetup later = good_setup();
  later.budget_ms = 4000;
  UntrustedPeer fresh = at_the_relay();
  fresh.send(as_frame(later));
  EXPECT_TRUE(fresh.receive(kHostileMargin).accepted);
  later.budget_ms = 3000;
  UntrustedPeer hurried = at_the_relay();
  hurried.send(as_frame(later));
  EXPECT_THAT(hurried.receive(kHostileMargin).reason, HasSubstr("the set-up is a copy of an earlier one"));
  expect_served();
  end();
}

class HostileFlowTest : public HostileTest {
 protected:
  HostileFlowTest() : HostileTest(true) {}
};

TEST_P(HostileFlowTest, OfAPeerWithTheHandleHarmsNoOther) {
  const std::string path = world_.path({"a", "b", "c"});
  UntrustedPeer silent = at_the_relay();
  silent.send(as_frame(good_setup()));
  EXPECT_TRUE(silent.receive(kHostileMargin).accepted);
  { const UntrustedPeer gone = std::move(silent); }
  receiver_->send("accept");
  EXPECT_THAT(receiver_->receive(), HasSubstr("flow from node a (" + path + ") failed: " + World::found_at("b", "a")));

  UntrustedPeer talking = at_the_relay();
  talking.send(as_frame(good_setup()));
  EXPECT_TRUE(talking.receive(kHostileMargin).accepted);
  talking.send(pattern(3000, 5));
  receiver_->send("accept");
  EXPECT_THAT(receiver_->receive(), HasSubstr("not a Cableway frame"));
  EXPECT_EQ(talking.receive_failed(kHostileMargin), FailureScope::kCircuit) << "the relay has found it";

  UntrustedPeer unasked = at_the_relay();
  unasked.send(as_frame(good_setup()));
  EXPECT_TRUE(unasked.receive(kHostileMargin).accepted);
  unasked.send(Frame{FrameKind::kChunk, 128, 7, 0, 128}, pattern(128, 6));
  receiver_->send("accept");
  EXPECT_THAT(receiver_->receive(), HasSubstr("failed"));
  EXPECT_EQ(unasked.receive_failed(kHostileMargin), FailureScope::kCircuit) << "found on its connection";

  UntrustedPeer oversized = at_the_relay();
  oversized.send(as_frame(good_setup()));
  EXPECT_TRUE(oversized.receive(kHostileMargin).accepted);
  oversized.send(Frame{FrameKind::kChunk, kMaxChunkBytes + 128, 0, 0, kMaxChunkBytes + 128});
  receiver_->send("accept");
  EXPECT_THAT(receiver_->receive(), HasSubstr(std::to_string(kMaxChunkBytes + 128)));
  expect_served();
  end();
}

TEST_P(HostileTest, SlowSetUpsAreRefusedAndDelayNoOthers) {
  std::vector<UntrustedPeer> slow;
  const std::vector<std::byte> setup = as_frame(good_setup());
  for (const World::Door& door : all_doors()) {
    for (int i = 0; i < 5; ++i) slow.emplace_back(door);
  }
  const auto begin = Clock::now();
  for (std::size_t at = 0; Clock::now() - begin < kSetupLimit / 2; ++at) {
    for (UntrustedPeer& untrusted_peer : slow)
      EXPECT_TRUE(untrusted_peer.send(std::span(setup).subspan(at % kFrameHeaderBytes, 1)));
    expect_served();
    std::this_thread::sleep_for(milliseconds(200));
  }
  for (UntrustedPeer& untrusted_peer : slow) {
    const UntrustedPeer::Answer answer = untrusted_peer.receive(kSetupLimit + kHostileMargin);
    EXPECT_TRUE(answer.closed);
    EXPECT_THAT(answer.reason, HasSubstr("no complete set-up within " + std::to_string(kSetupLimit.count()) + " ms"));
  }
  expect_served();
  end();
}

TEST_P(HostileTest, ConnectionsWithoutASetUpAreBoundedAndKeepNoneOut) {
  constexpr std::size_t kMany = Arrivals::Limits().each + 50;
  std::vector<UntrustedPeer> waiting;
  while (waiting.size() < kMany) waiting.emplace_back(world_.relay_door("b", "a"));
  // Without a reason: the time for a set-up is not over.
  const auto answer = waiting.front().receive(kHostileMargin);
  EXPECT_TRUE(answer.closed) << "the oldest one makes room";
  EXPECT_EQ(answer.reason, "");
  expect_served();
  end();
}

INSTANTIATE_TEST_SUITE_P(Abi, HostileTest, oldest_and_newest_abi(), abi_name);
INSTANTIATE_TEST_SUITE_P(Abi, HostileFlowTest, oldest_and_newest_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
