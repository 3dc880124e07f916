// A cluster with a key: ranks get it from their node and need not be told of it, whoever has none sets nothing up, and
// nothing that was overheard is any use.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "core/circuit/circuit_seal.h"
#include "core/crypto/control_key.h"
#include "tests/conformance/ranks/untrusted_peer.h"
#include "tests/conformance/suite.h"
#include "tests/core/linux/temporary_folder.h"

namespace cableway::nccl::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::size_t kBytes = 300'000;
constexpr seconds kMargin{20};
const std::string kKey(64, '7');

// A rank on node a with a flow to one on node c, over the relay b.
class SealedTest : public testing::TestWithParam<int> {
 protected:
  SealedTest() {
    ::setenv("CABLEWAY_KEY_FILE", folder_.file("key", kKey, 0600).c_str(), 1);
    for (const char* node : {"a", "b", "c"}) {
      ::setenv("CABLEWAY_LOG_FILE", folder_.path(node).c_str(), 1);
      world_.start(node);
    }
    ::unsetenv("CABLEWAY_LOG_FILE");
    ::unsetenv("CABLEWAY_KEY_FILE");
    receiver_ = std::make_unique<RankProcess>(world_, "c", GetParam(), [](Rank& rank, Line& test) {
      auto [handle, listener] = rank.listen();
      test.say(to_words(handle));
      void* comm = rank.accept(listener);
      EXPECT_TRUE(receive_message(rank, comm, kBytes, 1).done);
      test.say("received");
      test.hear();
      // Nobody but the sender has come.
      void* none = nullptr;
      EXPECT_EQ(rank.net().accept(listener, &none), abi::kSuccess);
      EXPECT_EQ(none, nullptr);
      EXPECT_TRUE(receive_message(rank, comm, kBytes, 2).done);
    });
    handle_ = receiver_->hear_handle();
    // What it cannot read is none of its business: the key is the node's to give.
    ::setenv("CABLEWAY_KEY_FILE", "/nonexistent", 1);
    sender_ = std::make_unique<RankProcess>(world_, "a", GetParam(), [this](Rank& rank, Line& test) {
      void* comm = rank.connect(handle_);
      EXPECT_TRUE(send_message(rank, comm, kBytes, 1).done);
      test.hear();
      EXPECT_TRUE(send_message(rank, comm, kBytes, 2).done);
      EXPECT_THAT(warnings(), testing::IsEmpty());
    });
    ::unsetenv("CABLEWAY_KEY_FILE");
    EXPECT_EQ(receiver_->hear(), "received");
  }

  // The flow is as it was, and nobody has come beside it.
  void end() {
    receiver_->say("end");
    sender_->say("end");
    receiver_->finish();
    sender_->finish();
  }
  CircuitSetup good_setup() const { return setup_for(handle_, "a", {world_.hop("a", "b"), world_.hop("b", "c")}); }
  // Where set-ups of that path arrive, one after the other, and where they come from.
  struct Place {
    World::Door door;
    std::string from;
    CircuitSetup setup;
  };
  std::vector<Place> places() const {
    const CircuitSetup setup = good_setup();
    CircuitSetup last = setup;
    last.hop = 1;
    return {{world_.relay_door("b", "a"), setup.hops[0].from_address, setup},
            {{last.hops[1].to_address, last.hops[1].to_port}, last.hops[1].from_address, last}};
  }
  std::string log_of(const std::string& node) const {
    std::ifstream file(folder_.path(node));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  World world_{"a"};
  host::test::TemporaryFolder folder_;
  Handle handle_{};
  std::unique_ptr<RankProcess> receiver_;
  std::unique_ptr<RankProcess> sender_;
};

SubKey setup_key(const std::string& text) {
  return ControlKey::parse(text)->subkey(KeyUse::kCircuitSetup);
}

std::vector<std::byte> sealed(const CircuitSetup& setup, const Challenge& theirs, const SubKey& key) {
  const Challenge mine{};
  const FrameBytes challenge = encode_challenge(mine);
  std::vector<std::byte> said(challenge.begin(), challenge.end());
  std::vector<std::byte> frame = as_frame(setup);
  CircuitSeal(key, theirs, mine).append_next(frame);
  said.insert(said.end(), frame.begin(), frame.end());
  return said;
}

TEST_P(SealedTest, FlowsAreRelayedForRanksThatAreToldOfNoKey) {
  // Neither that there is no key, nor that somebody has another.
  EXPECT_THAT(log_of("b"), testing::Not(testing::HasSubstr("KEY_MISSING")));
  EXPECT_THAT(log_of("b"), HasSubstr("TOPOLOGY_CHANGED the topology now has 3 nodes"));
  end();
}

TEST_P(SealedTest, AnUntrustedPeerWithoutTheKeyGetsNothing) {
  for (const Place& place : places()) {
    UntrustedPeer plain(place.door, place.from);
    plain.say(as_frame(place.setup));
    const UntrustedPeer::Answer to_plain = plain.hear(kMargin);
    EXPECT_TRUE(to_plain.closed);
    EXPECT_THAT(to_plain.reason, HasSubstr("a set-up without a seal, and this end has a key"));

    UntrustedPeer guessing(place.door, place.from);
    guessing.say(sealed(place.setup, guessing.hear_challenge(kMargin), setup_key(std::string(64, '8'))));
    const UntrustedPeer::Answer to_guessing = guessing.hear(kMargin);
    EXPECT_FALSE(to_guessing.accepted);
    EXPECT_THAT(to_guessing.reason, HasSubstr("the seal of the set-up is wrong"));
  }
  EXPECT_THAT(log_of("b"),
              HasSubstr("CONNECTION_REFUSED refused a connection from " + world_.hop("a", "b").from_address));
  EXPECT_THAT(log_of("b"), HasSubstr("the seal of the set-up is wrong"));
  end();
}

TEST_P(SealedTest, WhatWasOverheardIsOfNoUse) {
  // One that the key was at hand for, up to a mistake that the relay finds behind the seal: so the seal was right.
  CircuitSetup detour = good_setup();
  detour.hops[1].to_address = world_.hop("b", "a").to_address;
  UntrustedPeer first(world_.relay_door("b", "a"), detour.hops[0].from_address);
  const std::vector<std::byte> overheard = sealed(detour, first.hear_challenge(kMargin), setup_key(kKey));
  first.say(overheard);
  EXPECT_THAT(first.hear(kMargin).reason, HasSubstr("node b knows cable"));
  UntrustedPeer again(world_.relay_door("b", "a"), detour.hops[0].from_address);
  again.hear_challenge(kMargin);
  again.say(overheard);
  EXPECT_THAT(again.hear(kMargin).reason, HasSubstr("the seal of the set-up is wrong"));
  end();
}

INSTANTIATE_TEST_SUITE_P(Abi, SealedTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
