// Untrusted peers at every port that listens on a cable: each is answered with a reason and shown out, and the node and
// the ranks serve all the while.
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tests/conformance/ranks/untrusted_peer.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::size_t kBytes = 300'000;
constexpr milliseconds kSetupLimit{5000};  // docs/protocol.md
constexpr seconds kMargin{20};

// A rank on node a with a flow to one on node c, over the relay b.
class HostileTest : public testing::TestWithParam<int> {
 protected:
  HostileTest() {
    for (const char* node : {"a", "b", "c"}) world_.start(node);
    receiver_ = std::make_unique<RankProcess>(world_, "c", GetParam(), receive);
    handle_ = receiver_->hear_handle();
    sender_ = std::make_unique<RankProcess>(world_, "a", GetParam(),
                                            [this](Rank& rank, Line& test) { send(rank, test, handle_); });
    expect_served();
  }

  // The old flow still carries data, and new ones can be opened.
  void expect_served() {
    receiver_->say("go");
    sender_->say(receiver_->hear());
    EXPECT_EQ(sender_->hear(), "sent");
    EXPECT_EQ(receiver_->hear(), "received");
  }
  void end() {
    receiver_->say("end");
    sender_->say("end");
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
  // As the rank on a would set its flow up.
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
    test.say(to_words(handle));
    void* comm = rank.accept(listener);
    for (std::string word = test.hear(); word != "end"; word = test.hear()) {
      if (word == "accept") {
        // Whoever came with a copied handle.
        void* untrusted_peer = rank.accept(listener);
        EXPECT_EQ(receive_message(rank, untrusted_peer, kBytes, 3).result, abi::kRemoteError);
        EXPECT_EQ(rank.net().close_recv(untrusted_peer), abi::kSuccess);
        test.say(warnings().back());
        continue;
      }
      auto [again, another] = rank.listen();
      test.say(to_words(again));
      EXPECT_TRUE(receive_message(rank, comm, kBytes, 1).done);
      void* fresh = rank.accept(another);
      EXPECT_TRUE(receive_message(rank, fresh, kBytes, 2).done);
      EXPECT_EQ(rank.net().close_recv(fresh), abi::kSuccess);
      EXPECT_EQ(rank.net().close_listen(another), abi::kSuccess);
      test.say("received");
    }
  }

  static void send(Rank& rank, Line& test, const Handle& handle) {
    void* comm = rank.connect(handle);
    for (std::string word = test.hear(); word != "end"; word = test.hear()) {
      EXPECT_TRUE(send_message(rank, comm, kBytes, 1).done);
      void* fresh = rank.connect(to_handle(word));
      EXPECT_TRUE(send_message(rank, fresh, kBytes, 2).done);
      EXPECT_EQ(rank.net().close_send(fresh), abi::kSuccess);
      test.say("sent");
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
      {{FrameKind::kSetup, 0, 0, 0, 0}, "set-up: cut short"},
      {{static_cast<FrameKind>(99), 0, 0, 0, 0}, "unknown kind"},
  };
  for (const World::Door& door : all_doors()) {
    for (const Opening& opening : openings) {
      UntrustedPeer untrusted_peer(door);
      EXPECT_TRUE(untrusted_peer.say(opening.frame));
      const UntrustedPeer::Answer answer = untrusted_peer.hear(kMargin);
      EXPECT_TRUE(answer.closed) << opening.reason;
      EXPECT_THAT(answer.reason, HasSubstr(opening.reason));
    }
    UntrustedPeer noisy(door);
    EXPECT_TRUE(noisy.say(pattern(3000, door.port)));
    EXPECT_TRUE(noisy.hear(kMargin).closed);
  }
  expect_served();
  end();
}

TEST_P(HostileTest, ASetUpIsOnlyGoodOverItsOwnCable) {
  const CircuitSetup good = good_setup();
  // Copied, and sent from elsewhere.
  UntrustedPeer elsewhere(world_.relay_door("b", "a"), "127.0.0.1");
  elsewhere.say(as_frame(good));
  const UntrustedPeer::Answer to_relay = elsewhere.hear(kMargin);
  EXPECT_FALSE(to_relay.accepted);
  EXPECT_THAT(to_relay.reason, HasSubstr("a set-up for cable " + good.hops[0].cable + " from " +
                                         good.hops[0].from_address + " to " + good.hops[0].to_address + " came from "));
  // The relay's own words to the rank, said by somebody else.
  CircuitSetup last = good;
  last.hop = 1;
  UntrustedPeer posing({good.hops[1].to_address, good.hops[1].to_port}, "127.0.0.1");
  posing.say(as_frame(last));
  const UntrustedPeer::Answer to_rank = posing.hear(kMargin);
  EXPECT_FALSE(to_rank.accepted);
  EXPECT_THAT(to_rank.reason, HasSubstr("a set-up for cable " + good.hops[1].cable + " from "));
  // From the right place, with a guess, or along cables that are not there.
  CircuitSetup guessed = good;
  guessed.listener[3] ^= std::byte{1};
  UntrustedPeer guessing = at_the_relay();
  guessing.say(as_frame(guessed));
  EXPECT_THAT(guessing.hear(kMargin).reason, HasSubstr("node c: the process no longer listens for this connection"));
  // The listener's name is in every set-up that crosses the cable; its cookie is not.
  CircuitSetup unproven = good;
  unproven.nonce[3] ^= std::byte{1};
  UntrustedPeer listening = at_the_relay();
  listening.say(as_frame(unproven));
  EXPECT_THAT(listening.hear(kMargin).reason, HasSubstr("node c: the set-up's proof is wrong"));
  CircuitSetup detour = good;
  detour.hops[1].to_address = world_.hop("b", "a").to_address;
  UntrustedPeer lost = at_the_relay();
  lost.say(as_frame(detour));
  EXPECT_THAT(lost.hear(kMargin).reason, HasSubstr("node b knows cable " + good.hops[1].cable + " as "));
  expect_served();
  end();
}

TEST_P(HostileTest, ASetUpIsGoodOnce) {
  // Whoever sits on the cable may copy a set-up, the proof as well, and say it again.
  const std::vector<std::byte> overheard = as_frame(good_setup());
  UntrustedPeer first = at_the_relay();
  first.say(overheard);
  EXPECT_TRUE(first.hear(kMargin).accepted);
  UntrustedPeer again = at_the_relay();
  again.say(overheard);
  const UntrustedPeer::Answer answer = again.hear(kMargin);
  EXPECT_FALSE(answer.accepted);
  EXPECT_TRUE(answer.closed);
  EXPECT_THAT(answer.reason, HasSubstr("node c: the set-up is a copy of an earlier one"));
  // What the proof does not cover, as relays change it, makes no new set-up of an old one.
  CircuitSetup later = good_setup();
  later.budget_ms = 4000;
  UntrustedPeer fresh = at_the_relay();
  fresh.say(as_frame(later));
  EXPECT_TRUE(fresh.hear(kMargin).accepted);
  later.budget_ms = 3000;
  UntrustedPeer hurried = at_the_relay();
  hurried.say(as_frame(later));
  EXPECT_THAT(hurried.hear(kMargin).reason, HasSubstr("the set-up is a copy of an earlier one"));
  expect_served();
  end();
}

TEST_P(HostileTest, AFlowOfWhoeverKnowsTheHandleHarmsNoOther) {
  const std::string path = world_.path({"a", "b", "c"});
  UntrustedPeer silent = at_the_relay();
  silent.say(as_frame(good_setup()));
  EXPECT_TRUE(silent.hear(kMargin).accepted);
  { const UntrustedPeer gone = std::move(silent); }
  receiver_->say("accept");
  EXPECT_THAT(receiver_->hear(), HasSubstr("flow from node a (" + path + ") failed: " + World::found_at("b", "a")));

  UntrustedPeer talking = at_the_relay();
  talking.say(as_frame(good_setup()));
  EXPECT_TRUE(talking.hear(kMargin).accepted);
  talking.say(pattern(3000, 5));
  receiver_->say("accept");
  EXPECT_THAT(receiver_->hear(), HasSubstr("not a Cableway frame"));

  UntrustedPeer unasked = at_the_relay();
  unasked.say(as_frame(good_setup()));
  EXPECT_TRUE(unasked.hear(kMargin).accepted);
  unasked.say(Frame{FrameKind::kChunk, 128, 7, 0, 128}, pattern(128, 6));
  receiver_->say("accept");
  EXPECT_THAT(receiver_->hear(), HasSubstr("failed"));

  UntrustedPeer oversized = at_the_relay();
  oversized.say(as_frame(good_setup()));
  EXPECT_TRUE(oversized.hear(kMargin).accepted);
  oversized.say(Frame{FrameKind::kChunk, kMaxChunkBytes + 128, 0, 0, kMaxChunkBytes + 128});
  receiver_->say("accept");
  EXPECT_THAT(receiver_->hear(), HasSubstr(std::to_string(kMaxChunkBytes + 128)));
  expect_served();
  end();
}

TEST_P(HostileTest, SetUpsThatTrickleInAreShownOutAndDelayNobody) {
  std::vector<UntrustedPeer> slow;
  const std::vector<std::byte> setup = as_frame(good_setup());
  for (const World::Door& door : all_doors()) {
    for (int i = 0; i < 5; ++i) slow.emplace_back(door);
  }
  const auto begin = Clock::now();
  for (std::size_t at = 0; Clock::now() - begin < kSetupLimit / 2; ++at) {
    for (UntrustedPeer& untrusted_peer : slow)
      EXPECT_TRUE(untrusted_peer.say(std::span(setup).subspan(at % kFrameHeaderBytes, 1)));
    expect_served();
    std::this_thread::sleep_for(milliseconds(200));
  }
  for (UntrustedPeer& untrusted_peer : slow) {
    const UntrustedPeer::Answer answer = untrusted_peer.hear(kSetupLimit + kMargin);
    EXPECT_TRUE(answer.closed);
    EXPECT_THAT(answer.reason, HasSubstr("no complete set-up within " + std::to_string(kSetupLimit.count()) + " ms"));
  }
  expect_served();
  end();
}

TEST_P(HostileTest, ConnectionsWithoutASetUpAreBoundedAndLeaveRoomWhenTheyGo) {
  constexpr std::size_t kMax = 256;  // to one address (docs/protocol.md)
  const World::Door door = world_.relay_door("b", "a");
  std::vector<UntrustedPeer> waiting;
  UntrustedPeer::Answer answer;
  // On a slow machine the first ones may have been shown out when the last one comes: then all of them come again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    waiting.clear();
    while (waiting.size() < kMax) waiting.emplace_back(door);
    answer = UntrustedPeer(door).hear(kMargin);
    if (!testing::Value(answer.reason, HasSubstr("no complete set-up"))) break;
  }
  EXPECT_TRUE(answer.closed);
  EXPECT_THAT(answer.reason, HasSubstr("too many connections without a set-up over this cable"));
  waiting.clear();
  std::this_thread::sleep_for(milliseconds(200));
  expect_served();
  end();
}

INSTANTIATE_TEST_SUITE_P(Abi, HostileTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
