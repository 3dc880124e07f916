#include "sim/stub_rdma/stub_queue_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/stub_rdma/stub_network.h"
#include "tests/sim/stub_rdma/stub_end.h"

namespace cableway::sim {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using StubQueuePairTest = StubPairTest;

TEST_F(StubQueuePairTest, WritesPostedBytes) {
  ASSERT_TRUE(left_.post(reporting(notifying(left_.write(right_, 100, 50), 42), 9)).ok());
  EXPECT_TRUE(left_.pair->deliver());
  EXPECT_FALSE(left_.pair->deliver());
  for (std::size_t i = 0; i < kStubMemoryBytes; ++i) {
    EXPECT_EQ(right_.memory[i], i >= 100 && i < 150 ? std::byte{7} : std::byte{0}) << i;
  }
  ASSERT_TRUE(right_.poll().ok());
  EXPECT_THAT(right_.notices, ElementsAre(42));
  ASSERT_TRUE(left_.poll().ok());
  EXPECT_THAT(left_.tickets, IsEmpty());
  EXPECT_TRUE(left_.pair->complete());
  EXPECT_FALSE(left_.pair->complete());
  ASSERT_TRUE(left_.poll().ok());
  EXPECT_THAT(left_.tickets, ElementsAre(9));
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
}

TEST_F(StubQueuePairTest, MovesNothingByItself) {
  ASSERT_TRUE(left_.post(reporting(notifying(left_.write(right_, 0, 100), 1), 1)).ok());
  ASSERT_TRUE(left_.poll().ok());
  ASSERT_TRUE(right_.poll().ok());
  EXPECT_THAT(right_.memory, Each(std::byte{0}));
  EXPECT_THAT(right_.notices, IsEmpty());
  EXPECT_THAT(left_.tickets, IsEmpty());
  left_.pair->hold_writes(true);
  EXPECT_FALSE(network_.step());
  left_.pair->hold_writes(false);
  left_.pair->hold_completions(true);
  network_.deliver_all();
  ASSERT_TRUE(left_.poll().ok());
  EXPECT_THAT(left_.tickets, IsEmpty());
  left_.pair->hold_completions(false);
  EXPECT_TRUE(network_.step());
  ASSERT_TRUE(left_.poll().ok());
  EXPECT_THAT(left_.tickets, ElementsAre(1));
}

TEST_F(StubQueuePairTest, ReturnsItsEndpoint) {
  const RdmaEndpoint left = left_.pair->endpoint();
  const RdmaEndpoint right = right_.pair->endpoint();
  EXPECT_NE(left.queue_pair, right.queue_pair);
  EXPECT_NE(left.gid, right.gid);
  EXPECT_EQ(left.mailbox, reinterpret_cast<std::uint64_t>(left_.pair->mailbox().data()));
  EXPECT_EQ(left_.pair->mailbox().size(), RdmaQueuePair::kMailboxBytes);
  RdmaWrite write = left_.write(right_, 0, 64);
  write.to = right.mailbox + 64;
  write.remote_key = right.mailbox_key;
  ASSERT_TRUE(left_.post(write).ok());
  ASSERT_TRUE(left_.pair->deliver());
  EXPECT_EQ(right_.pair->mailbox()[63], std::byte{0});
  EXPECT_EQ(right_.pair->mailbox()[64], std::byte{7});
}

TEST_F(StubQueuePairTest, NoticesArriveAfterAllEarlierBytes) {
  // One byte each, so that notice n must find n + 1 bytes.
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    StubNetwork network({.seed = seed});
    StubEnd left(network.add_device());
    StubEnd right(network.add_device());
    std::tie(left.pair, right.pair) = network.make_pair(left.device, right.device);
    std::fill(left.memory.begin(), left.memory.end(), std::byte{7});
    for (std::uint32_t i = 0; i < 100; ++i) {
      const RdmaWrite write = left.write(right, i, 1);
      ASSERT_TRUE(left.post(i % 3 == 0 ? reporting(notifying(write, i), i) : write).ok());
    }
    while (network.step()) {
      ASSERT_TRUE(right.poll().ok());
      ASSERT_TRUE(left.poll().ok());
      const auto there = std::count(right.memory.begin(), right.memory.end(), std::byte{7});
      EXPECT_GE(there, right.notices.empty() ? 0 : right.notices.back() + 1);
      EXPECT_LE(left.tickets.size(), right.notices.size()) << "complete before it was there";
    }
    std::vector<std::uint32_t> every_third(34);
    for (std::uint32_t i = 0; i < every_third.size(); ++i) every_third[i] = 3 * i;
    EXPECT_EQ(right.notices, every_third);
    EXPECT_THAT(left.tickets, testing::ElementsAreArray(every_third));
  }
}

TEST_F(StubQueuePairTest, PairsOvertakeEachOtherDependingOnTheSeed) {
  const auto order_of_arrival = [](std::uint32_t seed) {
    StubNetwork network({.seed = seed});
    StubEnd first(network.add_device());
    StubEnd second(network.add_device());
    StubEnd there(network.add_device());
    StubEnd also_there(there.device);
    std::tie(first.pair, there.pair) = network.make_pair(first.device, there.device);
    std::tie(second.pair, also_there.pair) = network.make_pair(second.device, also_there.device);
    for (std::uint32_t i = 0; i < 10; ++i) {
      EXPECT_TRUE(first.post(notifying(first.write(there, i, 1), i)).ok());
      EXPECT_TRUE(second.post(notifying(second.write(also_there, i, 1), i)).ok());
    }
    std::string order;
    while (network.step()) {
      EXPECT_TRUE(there.poll().ok());
      EXPECT_TRUE(also_there.poll().ok());
      order.append(there.notices.size(), '1').append(also_there.notices.size(), '2');
      there.notices.clear();
      also_there.notices.clear();
    }
    EXPECT_THAT(order, SizeIs(20));
    return order;
  };
  std::size_t first_ahead = 0;
  std::size_t second_ahead = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const std::string order = order_of_arrival(seed);
    EXPECT_EQ(order, order_of_arrival(seed)) << "one seed, one run";
    int lead = 0;
    for (const char pair : order) {
      lead += pair == '1' ? 1 : -1;
      if (lead >= 5) ++first_ahead;
      if (lead <= -5) ++second_ahead;
    }
  }
  EXPECT_GT(first_ahead, 0U);
  EXPECT_GT(second_ahead, 0U);
}

TEST_F(StubQueuePairTest, ReadsMemoryWhenAWriteLandsNotBefore) {
  ASSERT_TRUE(send(0, 100).ok());
  left_.memory[50] = std::byte{8};
  ASSERT_TRUE(left_.pair->deliver());
  EXPECT_EQ(right_.memory[50], std::byte{8}) << "reuse before the completion must show";
}

TEST_F(StubQueuePairTest, DetectsMemoryReusedBeforeCompletion) {
  ASSERT_TRUE(send(0, 100).ok());
  ASSERT_TRUE(left_.pair->deliver());
  left_.memory[50] = std::byte{8};
  ASSERT_TRUE(left_.pair->complete());
  EXPECT_THAT(left_.why(), HasSubstr("changed before its completion"));
  EXPECT_THAT(std::string(network_.misuse().message()), HasSubstr("changed before its completion"));
}

TEST_F(StubQueuePairTest, DetectsMemoryDeregisteredBeforeCompletion) {
  ASSERT_TRUE(send(0, 100).ok());
  ASSERT_TRUE(left_.pair->deliver());
  left_.registered.reset();
  ASSERT_TRUE(left_.pair->complete());
  EXPECT_FALSE(network_.misuse().ok());
}

TEST_F(StubQueuePairTest, CopiesInlinedBytesWhenPosted) {
  std::vector<std::byte> bytes(kMaxInlineBytes, std::byte{9});
  RdmaWrite write = left_.write(right_, 0, bytes.size());
  write.data = bytes.data();
  write.local_key = 0;
  write.inlined = true;
  ASSERT_TRUE(left_.post(write).ok());
  std::fill(bytes.begin(), bytes.end(), std::byte{1});
  network_.deliver_all();
  EXPECT_EQ(right_.memory[kMaxInlineBytes - 1], std::byte{9});
  EXPECT_EQ(left_.pair->counts().inlined_bytes, kMaxInlineBytes);
  EXPECT_EQ(left_.pair->counts().bytes, 0U);
  EXPECT_TRUE(left_.poll().ok());
}

TEST_F(StubQueuePairTest, AnInvalidWriteEndsBothSides) {
  struct Case {
    const char* name;
    void (*spoil)(RdmaWrite& write, StubEnd& left, StubEnd& right);
  };
  const Case cases[] = {
      {"no such key", [](RdmaWrite& write, StubEnd&, StubEnd&) { write.remote_key += 0x100; }},
      {"no key", [](RdmaWrite& write, StubEnd&, StubEnd&) { write.remote_key = 0; }},
      {"a local key", [](RdmaWrite& write, StubEnd&, StubEnd& to) { write.remote_key = to.registered->keys().local; }},
      {"another device's key",
       [](RdmaWrite& write, StubEnd& from, StubEnd&) { write.remote_key = from.registered->keys().remote; }},
      {"before the memory", [](RdmaWrite& write, StubEnd&, StubEnd&) { --write.to; }},
      {"past the memory", [](RdmaWrite& write, StubEnd&, StubEnd&) { write.to += kStubMemoryBytes - 99; }},
      {"around the end of all memory", [](RdmaWrite& write, StubEnd&, StubEnd&) { write.to = ~std::uint64_t{0} - 1; }},
      {"deregistered", [](RdmaWrite&, StubEnd&, StubEnd& to) { to.registered.reset(); }},
      {"registered again",
       [](RdmaWrite&, StubEnd&, StubEnd& to) {
         to.registered.reset();
         to.registered = to.device.register_writable(to.memory);
       }},
      {"registered for reading",
       [](RdmaWrite& write, StubEnd&, StubEnd& to) {
         to.registered.reset();
         to.registered = to.device.register_memory(to.memory);
         write.remote_key = to.registered->keys().local | 1U << 31;
       }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    StubEnd left(network_.add_device());
    StubEnd right(network_.add_device());
    join(left, right);
    RdmaWrite write = left.write(right, 0, 100);
    ASSERT_TRUE(left.post(reporting(left.write(right, 500, 1), 1)).ok());
    ASSERT_TRUE(left.pair->deliver());
    each.spoil(write, left, right);
    ASSERT_TRUE(left.post(notifying(write, 5)).ok());
    ASSERT_TRUE(left.pair->deliver());
    EXPECT_THAT(left.why(), HasSubstr("remote access error"));
    EXPECT_THAT(right.why(), HasSubstr("wrote where it has no access: remote access error"));
    EXPECT_THAT(left.tickets, ElementsAre(1)) << "what was done before is reported first";
    EXPECT_THAT(right.notices, IsEmpty());
    EXPECT_EQ(std::count(right.memory.begin(), right.memory.end(), std::byte{7}), 1);
    // It stays failed.
    ASSERT_TRUE(left.post(left.write(right, 0, 1)).ok());
    EXPECT_FALSE(left.pair->deliver());
    EXPECT_THAT(left.why(), HasSubstr("remote access error"));
  }
}

TEST_F(StubQueuePairTest, UnregisteredLocalMemoryEndsTheConnection) {
  struct Case {
    const char* name;
    void (*spoil)(RdmaWrite& write, StubEnd& left);
  };
  const Case cases[] = {
      {"no key", [](RdmaWrite& write, StubEnd&) { write.local_key = 0; }},
      {"a remote key", [](RdmaWrite& write, StubEnd& from) { write.local_key = from.registered->keys().remote; }},
      {"past the memory", [](RdmaWrite& write, StubEnd&) { write.data += kStubMemoryBytes - 99; }},
      {"deregistered", [](RdmaWrite&, StubEnd& from) { from.registered.reset(); }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    StubEnd left(network_.add_device());
    StubEnd right(network_.add_device());
    join(left, right);
    RdmaWrite write = left.write(right, 0, 100);
    each.spoil(write, left);
    ASSERT_TRUE(left.post(write).ok());
    ASSERT_TRUE(left.pair->deliver());
    EXPECT_THAT(left.why(), HasSubstr("local protection error"));
    EXPECT_THAT(right.memory, Each(std::byte{0}));
    // The other end does not notice until it writes.
    EXPECT_TRUE(right.poll().ok());
    ASSERT_TRUE(right.post(right.write(left, 0, 1)).ok());
    ASSERT_TRUE(right.pair->deliver());
    EXPECT_THAT(right.why(), HasSubstr("does not answer"));
  }
}

TEST_F(StubQueuePairTest, AReportCoversAllEarlierWrites) {
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (std::uint32_t i = 1; i < RdmaQueuePair::kMaxWrites; ++i) ASSERT_TRUE(send(i, 1).ok());
    ASSERT_TRUE(left_.post(reporting(left_.write(right_, 0, 1), round)).ok());
    network_.deliver_all();
    ASSERT_TRUE(left_.poll().ok());
    EXPECT_THAT(left_.tickets, SizeIs(round));
    EXPECT_EQ(left_.tickets.back(), round);
  }
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
}

TEST_F(StubQueuePairTest, RefusesMoreWritesThanMayBeOutstanding) {
  for (std::uint32_t i = 0; i < RdmaQueuePair::kMaxWrites; ++i) ASSERT_TRUE(send(0, 1).ok());
  network_.deliver_all();
  ASSERT_TRUE(left_.poll().ok());
  EXPECT_FALSE(send(0, 1).ok()) << "done, and never reported";
  EXPECT_THAT(std::string(network_.misuse().message()), HasSubstr("too many outstanding writes"));
}

TEST_F(StubQueuePairTest, RefusesToInlineTooMuch) {
  RdmaWrite write = left_.write(right_, 0, kMaxInlineBytes + 1);
  write.inlined = true;
  EXPECT_FALSE(left_.post(write).ok());
  EXPECT_THAT(std::string(network_.misuse().message()), HasSubstr("inline too many bytes"));
}

TEST_F(StubQueuePairTest, BoundsExpectedNotices) {
  EXPECT_FALSE(right_.pair->expect_notices(1).ok());
  EXPECT_FALSE(network_.misuse().ok());
  const auto notify = [&](std::uint32_t notice) {
    return left_.post(reporting(notifying(left_.write(right_, 0, 0), notice), notice));
  };
  for (std::uint32_t i = 0; i < RdmaQueuePair::kMaxNotices; ++i) ASSERT_TRUE(notify(i).ok());
  network_.deliver_all();
  EXPECT_EQ(right_.pair->room_for_notices(), 0U);
  ASSERT_TRUE(left_.poll().ok());
  EXPECT_FALSE(right_.pair->expect_notices(1).ok()) << "not seen yet";
  ASSERT_TRUE(right_.poll().ok());
  EXPECT_TRUE(right_.pair->expect_notices(2).ok());
  for (const std::uint32_t notice : {1000U, 1001U, 1002U}) ASSERT_TRUE(notify(notice).ok());
  network_.deliver_all();
  EXPECT_THAT(left_.why(), HasSubstr("no room there for a notice"));
  EXPECT_EQ(left_.tickets.back(), 1001U);
  EXPECT_TRUE(right_.poll().ok()) << "its device has nothing to say";
  EXPECT_EQ(right_.notices.back(), 1001U);
}

TEST_F(StubQueuePairTest, FailsTheSelectedWrite) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(left_.post(reporting(notifying(left_.write(right_, 100ULL * i, 100), i), i)).ok());
  }
  left_.pair->hold_completions(true);
  left_.pair->fail_write(2, "the device is on fire");
  network_.deliver_all();
  EXPECT_THAT(left_.why(), HasSubstr("the device is on fire"));
  EXPECT_THAT(left_.tickets, ElementsAre(0, 1)) << "what the other end has confirmed";
  ASSERT_TRUE(right_.poll().ok());
  EXPECT_THAT(right_.notices, ElementsAre(0, 1));
  EXPECT_EQ(std::count(right_.memory.begin(), right_.memory.end(), std::byte{7}), 250) << "half of it is there";
  // The other end detects it when it writes.
  ASSERT_TRUE(right_.post(right_.write(left_, 0, 1)).ok());
  network_.deliver_all();
  EXPECT_THAT(right_.why(), HasSubstr("does not answer"));
}

TEST_F(StubQueuePairTest, FailsWithItsDevice) {
  ASSERT_TRUE(left_.post(reporting(left_.write(right_, 0, 1), 3)).ok());
  network_.deliver_all();
  left_.pair->fail(absl::InternalError("device fatal"));
  EXPECT_EQ(left_.why(), "device fatal");
  EXPECT_THAT(left_.tickets, ElementsAre(3));
}

TEST_F(StubQueuePairTest, OnlyAWriterDetectsADestroyedPeer) {
  ASSERT_TRUE(left_.post(reporting(left_.write(right_, 0, 1), 1)).ok());
  ASSERT_TRUE(left_.post(reporting(left_.write(right_, 1, 1), 2)).ok());
  ASSERT_TRUE(left_.pair->deliver());
  right_.pair.reset();
  EXPECT_TRUE(left_.poll().ok());
  ASSERT_TRUE(left_.pair->deliver());
  EXPECT_THAT(left_.why(), HasSubstr("does not answer"));
  EXPECT_THAT(left_.tickets, IsEmpty()) << "nobody has confirmed the first";
}

TEST_F(StubQueuePairTest, TheNextAcknowledgementCoversALostOne) {
  left_.pair->lose_acknowledgements(true);
  ASSERT_TRUE(left_.post(reporting(left_.write(right_, 0, 1), 1)).ok());
  ASSERT_TRUE(left_.pair->deliver());
  left_.pair->lose_acknowledgements(false);
  ASSERT_TRUE(left_.post(reporting(left_.write(right_, 1, 1), 2)).ok());
  ASSERT_TRUE(left_.pair->deliver());
  right_.pair->fence();
  network_.deliver_all();
  ASSERT_TRUE(left_.poll().ok());
  EXPECT_THAT(left_.tickets, ElementsAre(1, 2));
}

TEST_F(StubQueuePairTest, ALostAcknowledgementIsRequestedAgain) {
  left_.pair->lose_acknowledgements(true);
  ASSERT_TRUE(left_.post(reporting(left_.write(right_, 0, 1), 1)).ok());
  ASSERT_TRUE(left_.pair->deliver());
  EXPECT_TRUE(left_.pair->complete());
  ASSERT_TRUE(left_.poll().ok());
  EXPECT_THAT(left_.tickets, IsEmpty());
  EXPECT_TRUE(left_.pair->complete());
  ASSERT_TRUE(left_.poll().ok());
  EXPECT_THAT(left_.tickets, ElementsAre(1));
}

TEST_F(StubQueuePairTest, ADestroyedPeerCannotRepeatALostAcknowledgement) {
  left_.pair->lose_acknowledgements(true);
  ASSERT_TRUE(left_.post(reporting(notifying(left_.write(right_, 0, 1), 5), 1)).ok());
  ASSERT_TRUE(left_.pair->deliver());
  ASSERT_TRUE(right_.poll().ok());
  EXPECT_THAT(right_.notices, ElementsAre(5)) << "it is there";
  right_.pair->fence();
  network_.deliver_all();
  EXPECT_THAT(left_.why(), HasSubstr("does not answer"));
  EXPECT_THAT(left_.tickets, IsEmpty());
}

TEST_F(StubQueuePairTest, WritesNothingHereAfterAFence) {
  ASSERT_TRUE(left_.post(notifying(left_.write(right_, 0, 100), 1)).ok());
  right_.pair->fence();
  network_.deliver_all();
  EXPECT_THAT(right_.memory, Each(std::byte{0}));
  EXPECT_THAT(right_.why(), HasSubstr("closed"));
  EXPECT_THAT(std::string(right_.post(right_.write(left_, 0, 1)).message()), HasSubstr("closed"));
  EXPECT_THAT(std::string(right_.pair->expect_notices(1).message()), HasSubstr("closed"));
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
}

TEST_F(StubQueuePairTest, ReadsNothingAfterAFence) {
  ASSERT_TRUE(send(0, 100).ok());
  left_.pair->fence();
  std::fill(left_.memory.begin(), left_.memory.end(), std::byte{1});
  left_.registered.reset();
  network_.deliver_all();
  EXPECT_THAT(right_.memory, Each(std::byte{0}));
  EXPECT_TRUE(right_.poll().ok());
}

TEST_F(StubQueuePairTest, WritesOnTheWireLandAfterTheSendersFence) {
  std::size_t late_seen = 0;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    for (const bool both : {false, true}) {
      StubNetwork network({.seed = seed, .max_late_writes = 2});
      StubEnd left(network.add_device());
      StubEnd right(network.add_device());
      std::tie(left.pair, right.pair) = network.make_pair(left.device, right.device);
      std::fill(left.memory.begin(), left.memory.end(), std::byte{7});
      for (std::uint32_t i = 0; i < 4; ++i) {
        ASSERT_TRUE(left.post(notifying(left.write(right, 100ULL * i, 100), i)).ok());
      }
      ASSERT_TRUE(left.pair->deliver());
      left.pair->fence();
      std::fill(left.memory.begin(), left.memory.end(), std::byte{1});
      left.registered.reset();
      left.pair.reset();
      if (both) right.pair->fence();
      while (network.step()) continue;
      const auto there = std::count(right.memory.begin(), right.memory.end(), std::byte{7});
      if (both) {
        EXPECT_EQ(there, 100);
        continue;
      }
      ASSERT_TRUE(right.poll().ok());
      ASSERT_THAT(right.notices, testing::AnyOf(SizeIs(1), SizeIs(2), SizeIs(3)));
      EXPECT_EQ(there, static_cast<std::ptrdiff_t>(100 * right.notices.size()));
      late_seen = std::max(late_seen, right.notices.size() - 1);
    }
  }
  EXPECT_EQ(late_seen, 2U);
}

TEST_F(StubQueuePairTest, WaitsForAPeerThatIsNotConnectedYet) {
  const auto early = network_.make_queue_pair(left_.device);
  const auto late = network_.make_queue_pair(right_.device);
  EXPECT_THAT(std::string(early->post({}).message()), HasSubstr("not connected"));
  ASSERT_TRUE(early->connect(late->endpoint()).ok());
  const RdmaWrite write = notifying(left_.write(right_, 0, 1), 1);
  ASSERT_TRUE(early->post({&write, 1}).ok());
  EXPECT_FALSE(early->deliver());
  ASSERT_TRUE(late->connect(early->endpoint()).ok());
  EXPECT_TRUE(early->deliver());
  EXPECT_EQ(late->counts().notices, 1U);
  EXPECT_FALSE(late->connect(early->endpoint()).ok()) << "once";
}

TEST_F(StubQueuePairTest, FindsNoPeerThatIsConnectedElsewhere) {
  const auto untrusted_peer = network_.make_queue_pair(left_.device);
  ASSERT_TRUE(untrusted_peer->connect(right_.pair->endpoint()).ok());
  const RdmaWrite write = left_.write(right_, 0, 1);
  ASSERT_TRUE(untrusted_peer->post({&write, 1}).ok());
  EXPECT_TRUE(untrusted_peer->deliver());
  std::array<RdmaCompletion, 1> completions;
  EXPECT_THAT(std::string(untrusted_peer->poll(completions).status().message()), HasSubstr("does not answer"));
  EXPECT_THAT(right_.memory, Each(std::byte{0}));
}

TEST_F(StubQueuePairTest, RefusesInvalidEndpoints) {
  const auto pair = network_.make_queue_pair(left_.device);
  RdmaEndpoint other = right_.pair->endpoint();
  other.packet_sequence = 1U << 24;
  EXPECT_THAT(std::string(pair->connect(other).message()), HasSubstr("24 bits expected"));
  other = right_.pair->endpoint();
  other.mtu = 1500;
  EXPECT_THAT(std::string(pair->connect(other).message()), HasSubstr("packets of 1500 bytes"));
}

TEST(StubNetworkWithoutPayload, MovesOnlyInlinedBytes) {
  StubNetwork network({.moves_payload = false});
  StubEnd left(network.add_device());
  StubEnd right(network.add_device());
  std::tie(left.pair, right.pair) = network.make_pair(left.device, right.device);
  std::fill(left.memory.begin(), left.memory.end(), std::byte{7});
  RdmaWrite inlined = left.write(right, 100, 10);
  inlined.inlined = true;
  const std::array<RdmaWrite, 2> writes{left.write(right, 0, 100), reporting(notifying(inlined, 5), 6)};
  ASSERT_TRUE(left.pair->post(writes).ok());
  network.deliver_all();
  ASSERT_TRUE(left.poll().ok());
  ASSERT_TRUE(right.poll().ok());
  EXPECT_THAT(left.tickets, ElementsAre(6));
  EXPECT_THAT(right.notices, ElementsAre(5));
  EXPECT_EQ(right.memory[0], std::byte{0});
  EXPECT_EQ(right.memory[100], std::byte{7});
  EXPECT_EQ(left.pair->counts().posts, 1U);
  EXPECT_EQ(left.pair->counts().writes, 2U);
  EXPECT_EQ(left.pair->counts().bytes, 100U);
  // Its keys are still checked.
  RdmaWrite outside = left.write(right, 0, 100);
  outside.remote_key = 1;
  ASSERT_TRUE(left.post(outside).ok());
  network.deliver_all();
  EXPECT_THAT(left.why(), HasSubstr("remote access error"));
}

}  // namespace
}  // namespace cableway::sim
