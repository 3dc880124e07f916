// A cluster with a key: ranks get it from their node and need no setting for it, a peer without it cannot set up a
// circuit, and a replayed set-up is refused.
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

constexpr std::size_t kSealedBytes = 300'000;
constexpr seconds kSealedMargin{20};
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
      test.send(to_message(handle));
      void* comm = rank.accept(listener);
      EXPECT_TRUE(receive_message(rank, comm, kSealedBytes, 1).done);
      test.send("received");
      test.receive();
      // No other peer has connected.
      void* none = nullptr;
      EXPECT_EQ(rank.net().accept(listener, &none), abi::kSuccess);
      EXPECT_EQ(none, nullptr);
      EXPECT_TRUE(receive_message(rank, comm, kSealedBytes, 2).done);
    });
    handle_ = receiver_->receive_handle();
    // The rank gets the key from its node, so it ignores a key file that it cannot read.
    ::setenv("CABLEWAY_KEY_FILE", "/nonexistent", 1);
    sender_ = std::make_unique<RankProcess>(world_, "a", GetParam(), [this](Rank& rank, Line& test) {
      void* comm = rank.connect(handle_);
      EXPECT_TRUE(send_message(rank, comm, kSealedBytes, 1).done);
      test.receive();
      EXPECT_TRUE(send_message(rank, comm, kSealedBytes, 2).done);
      EXPECT_THAT(warnings(), testing::IsEmpty());
    });
    ::unsetenv("CABLEWAY_KEY_FILE");
    EXPECT_EQ(receiver_->receive(), "received");
  }

  // Expects that the flow still works and that no other peer has connected.
  void end() {
    receiver_->send("end");
    sender_->send("end");
    receiver_->finish();
    sender_->finish();
  }
  CircuitSetup good_setup() const { return setup_for(handle_, "a", {world_.hop("a", "b"), world_.hop("b", "c")}); }
  // The listeners that set-ups of that path reach, in order, and their senders' addresses.
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
  std::vector<std::byte> bytes(challenge.begin(), challenge.end());
  std::vector<std::byte> frame = as_frame(setup);
  CircuitSeal(key, theirs, mine).append_next(frame);
  bytes.insert(bytes.end(), frame.begin(), frame.end());
  return bytes;
}

TEST_P(SealedTest, FlowsAreRelayedForRanksWithoutAKeyFile) {
  // The log reports neither a missing nor a differing key.
  EXPECT_THAT(log_of("b"), testing::Not(testing::HasSubstr("KEY_MISSING")));
  EXPECT_THAT(log_of("b"), HasSubstr("TOPOLOGY_CHANGED the topology now has 3 nodes"));
  end();
}

TEST_P(SealedTest, AnUntrustedPeerWithoutTheKeyGetsNothing) {
  for (const Place& place : places()) {
    UntrustedPeer plain(place.door, place.from);
    plain.send(as_frame(place.setup));
    const UntrustedPeer::Answer to_plain = plain.receive(kSealedMargin);
    EXPECT_TRUE(to_plain.closed);
    EXPECT_THAT(to_plain.reason, HasSubstr("a set-up without a seal, and this end has a key"));

    UntrustedPeer guessing(place.door, place.from);
    guessing.send(sealed(place.setup, guessing.receive_challenge(kSealedMargin), setup_key(std::string(64, '8'))));
    const UntrustedPeer::Answer to_guessing = guessing.receive(kSealedMargin);
    EXPECT_FALSE(to_guessing.accepted);
    EXPECT_THAT(to_guessing.reason, HasSubstr("the seal of the set-up is wrong"));
  }
  EXPECT_THAT(log_of("b"),
              HasSubstr("CONNECTION_REFUSED refused a connection from " + world_.hop("a", "b").from_address));
  EXPECT_THAT(log_of("b"), HasSubstr("the seal of the set-up is wrong"));
  end();
}

TEST_P(SealedTest, AnOverheardSetUpIsRefused) {
  // Sealed with the right key, but with an error that the relay detects after it has accepted the seal.
  CircuitSetup detour = good_setup();
  detour.hops[1].to_address = world_.hop("b", "a").to_address;
  UntrustedPeer first(world_.relay_door("b", "a"), detour.hops[0].from_address);
  const std::vector<std::byte> overheard = sealed(detour, first.receive_challenge(kSealedMargin), setup_key(kKey));
  first.send(overheard);
  EXPECT_THAT(first.receive(kSealedMargin).reason, HasSubstr("node b: cable"));
  UntrustedPeer again(world_.relay_door("b", "a"), detour.hops[0].from_address);
  again.receive_challenge(kSealedMargin);
  again.send(overheard);
  EXPECT_THAT(again.receive(kSealedMargin).reason, HasSubstr("the seal of the set-up is wrong"));
  end();
}

INSTANTIATE_TEST_SUITE_P(Abi, SealedTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
