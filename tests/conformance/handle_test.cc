// connect() with a handle that listen() did not return: refused at once if the bytes are wrong, and after an attempt if
// only the network can tell.
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "core/circuit/circuit_setup.h"
#include "core/settings/settings.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

constexpr std::size_t kCheckedBytes = 100;  // body and checksum (docs/protocol.md)

// The result of a connect that must fail in its first call.
abi::Result connect_once(Rank& rank, Handle handle) {
  void* comm = &rank;
  const abi::Result result = rank.net().connect(0, handle.data(), &comm);
  EXPECT_EQ(comm, nullptr);
  return result;
}

class HandleTest : public testing::TestWithParam<int> {
 protected:
  // Runs `act` on node a, beside node b, which runs no rank.
  void on_node_a(const std::function<void(Rank&)>& act) {
    world_.start("a");
    world_.start("b");
    RankProcess(world_, "a", GetParam(), [&](Rank& rank, Line&) { act(rank); }).finish();
  }

  World world_{"a"};
};

TEST_P(HandleTest, OfZerosIsRefusedAtOnce) {
  on_node_a([](Rank& rank) {
    EXPECT_EQ(connect_once(rank, Handle{}), abi::kInvalidArgument);
    expect_warning("connect: the handle is not one of Cableway's: do all ranks load this plugin?");
  });
}

TEST_P(HandleTest, OfAnotherVersionNamesBothVersions) {
  on_node_a([](Rank& rank) {
    auto [handle, listener] = rank.listen();
    const std::uint16_t newer = kProtocolVersion + 1;
    std::memcpy(&handle[4], &newer, sizeof newer);
    EXPECT_EQ(connect_once(rank, handle), abi::kInvalidUsage);
    expect_warning("the handle is of protocol version " + std::to_string(newer) + ", expected " +
                   std::to_string(kProtocolVersion));
    EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
  });
}

TEST_P(HandleTest, WithAnyBitFlippedIsRefusedAtOnce) {
  on_node_a([](Rank& rank) {
    auto [handle, listener] = rank.listen();
    for (std::size_t bit = 0; bit < kCheckedBytes * 8; ++bit) {
      Handle flipped = handle;
      flipped[bit / 8] ^= std::byte{1} << (bit % 8);
      const std::size_t reported = warnings().size();
      EXPECT_NE(connect_once(rank, flipped), abi::kSuccess) << "bit " << bit;
      EXPECT_EQ(warnings().size(), reported + 1) << "bit " << bit;
    }
    EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
  });
}

TEST_P(HandleTest, CutShortIsRefusedAtOnce) {
  on_node_a([](Rank& rank) {
    auto [handle, listener] = rank.listen();
    for (std::size_t bytes = 0; bytes < kCheckedBytes; ++bytes) {
      Handle cut{};
      std::memcpy(cut.data(), handle.data(), bytes);
      if (cut == handle) continue;  // the checksum ended in zeros
      EXPECT_NE(connect_once(rank, cut), abi::kSuccess) << bytes;
    }
    expect_warning("the handle is damaged");
    EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
  });
}

TEST_P(HandleTest, WithTheConnectingSidesBytesOverwrittenIsRefusedAtOnce) {
  on_node_a([](Rank& rank) {
    auto [handle, listener] = rank.listen();
    handle[kListenHandleScratch] = std::byte{1};
    EXPECT_EQ(connect_once(rank, handle), abi::kInvalidArgument);
    expect_warning("the handle is damaged: no connection is being opened with it");
    EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
  });
}

Handle handle_of(const ListenHandle& handle) {
  return std::bit_cast<Handle>(encode_listen_handle(handle));
}

// As a listen of this rank would give it, but for what `change` does to it.
Handle changed_handle(Rank& rank, const std::function<void(ListenHandle&)>& change) {
  auto [handle, listener] = rank.listen();
  absl::StatusOr<ListenHandle> parsed = decode_listen_handle(handle);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(rank.net().close_listen(listener), abi::kSuccess);
  change(*parsed);
  return handle_of(*parsed);
}

Handle handle_to(Rank& rank, const std::string& node, std::uint16_t port) {
  return changed_handle(rank, [&](ListenHandle& handle) {
    handle.node = node;
    handle.port = port;
  });
}

// From version 11 on the tuner knows the communicator, and is on by default.
TEST_P(HandleTest, HasTheMarkOfTheTuner) {
  on_node_a([](Rank& rank) {
    changed_handle(rank, [](ListenHandle& handle) {
      EXPECT_EQ(handle.tuner.cabling, GetParam() >= 11 ? 1 : 0);
      EXPECT_EQ(handle.tuner.sizes != 0, GetParam() >= 11);
    });
  });
}

// NCCL would hang if one rank's tuner chose a tree and another's the ring.
TEST_P(HandleTest, OfAProcessWhoseTunerChoosesOtherwiseIsRefusedAtOnce) {
  on_node_a([](Rank& rank) {
    constexpr auto kMesh = static_cast<std::uint8_t>(TunerSetting::kMesh);
    const Handle cabling = changed_handle(rank, [](ListenHandle& handle) { handle.tuner.cabling = kMesh; });
    EXPECT_EQ(connect_once(rank, cabling), abi::kInvalidUsage);
    expect_warning("connect: the tuner of node a is mesh, this one's ");
    const Handle sizes = changed_handle(rank, [](ListenHandle& handle) { ++handle.tuner.sizes; });
    EXPECT_EQ(connect_once(rank, sizes), abi::kInvalidUsage);
    expect_warning("connect: the tuner of node a has other sizes than this one's");
  });
}

TEST_P(HandleTest, OfANodeThatDoesNotExistNamesThoseThatDo) {
  on_node_a([](Rank& rank) {
    abi::Result result = abi::kSuccess;
    EXPECT_EQ(rank.connect(handle_to(rank, "nobody", 4000), &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    expect_warning("connect: node a knows of no node \"nobody\" in its cluster; known nodes: a");
  });
}

TEST_P(HandleTest, OfAPortWithoutAListenerNamesNodeAddressAndCable) {
  on_node_a([this](Rank& rank) {
    const Hop hop = world_.hop("a", "b");
    abi::Result result = abi::kSuccess;
    EXPECT_EQ(rank.connect(handle_to(rank, "b", 1), &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    expect_warning("no circuit " + world_.path({"a", "b"}) + ": node a cannot reach node b at " + hop.to_address +
                   " TCP port 1 over cable " + hop.cable + ": Connection refused");
  });
}

TEST_P(HandleTest, OfANodesOwnPortIsRefusedByThatNode) {
  on_node_a([this](Rank& rank) {
    abi::Result result = abi::kSuccess;
    EXPECT_EQ(rank.connect(handle_to(rank, "b", world_.relay_door("b", "a").port), &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    expect_warning("a set-up for a process on node b came to its relay port");
  });
}

TEST_P(HandleTest, WithAnotherCookieIsRefusedByThePeer) {
  on_node_a([](Rank& rank) {
    auto [handle, listener] = rank.listen();
    absl::StatusOr<ListenHandle> parsed = decode_listen_handle(handle);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    parsed->cookie[0] ^= std::byte{1};
    abi::Result result = abi::kSuccess;
    EXPECT_EQ(rank.connect(handle_of(*parsed), &result), nullptr);
    EXPECT_EQ(result, abi::kRemoteError);
    expect_warning("node a: the process no longer listens for this connection");
    // The listener is unharmed.
    void* sender = rank.connect(handle);
    void* receiver = rank.accept(listener);
    EXPECT_TRUE(pass_message(rank, sender, receiver, 1000, 5));
  });
}

INSTANTIATE_TEST_SUITE_P(Abi, HandleTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
