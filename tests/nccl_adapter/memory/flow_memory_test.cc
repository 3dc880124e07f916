// Which registrations a flow's memory gets, and which are refused.
#include "nccl_adapter/memory/flow_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <set>

#include "tests/nccl_adapter/fake_hop.h"

namespace cableway::nccl {
namespace {

using host::test::FakeRegistration;
using testing::HasSubstr;
using Kind = NamedMemory::Kind;

constexpr unsigned kWritten = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
const int kFd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // of a dmabuf; only copied

class FlowMemoryTest : public testing::Test {
 protected:
  FlowMemoryTest() { EXPECT_TRUE(flow_.attach(0, *link_).ok()); }

  NamedMemory named(Kind kind) {
    NamedMemory memory{.kind = kind, .data = bytes_.data(), .bytes = bytes_.size()};
    if (kind == Kind::kDmabuf) memory.fd = kFd;
    return memory;
  }
  // What the device was requested to register for `memory` on a flow over RDMA.
  FakeRegistration registered(const NamedMemory& memory, bool lands) {
    MemoryRegion* const region = flow_.add(memory, lands).value();
    for (const FakeRegistration& each : fake_.registrations) {
      if (each.key == region->local_keys[0]) return each;
    }
    ADD_FAILURE() << "the device has no such registration";
    return {};
  }
  std::size_t live() const {
    std::size_t count = 0;
    for (const FakeRegistration& each : fake_.registrations) count += each.is_live ? 1 : 0;
    return count;
  }

  std::array<std::byte, 4096> bytes_{};
  host::test::FakeVerbs verbs_;
  host::test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0");
  const std::shared_ptr<host::VerbsDevice> device_ = verbs_.open(fake_);
  test::FakeHop hop_ = test::make_rdma_hop(device_, fake_.gid);
  const std::unique_ptr<host::HopLink> link_ = test::make_last_link(hop_);
  test::FakeHop tcp_ = test::make_tcp_hop();
  const std::unique_ptr<host::HopLink> tcp_link_ = test::make_last_link(tcp_);
  FlowMemory flow_{nullptr};
};

TEST_F(FlowMemoryTest, SentMemoryIsNotRemotelyAccessible) {
  EXPECT_EQ(registered(named(Kind::kHost), false).access, 0U);
  EXPECT_EQ(registered(named(Kind::kPeer), false).access, 0U);
  EXPECT_EQ(registered(named(Kind::kDmabuf), false).access, 0U);
}

TEST_F(FlowMemoryTest, ReceivingMemoryIsWrittenInOrder) {
  EXPECT_EQ(registered(named(Kind::kHost), true).access, kWritten);
}

TEST_F(FlowMemoryTest, GpuMemoryMayBeReadBackAsWell) {
  EXPECT_EQ(registered(named(Kind::kPeer), true).access, kWritten | IBV_ACCESS_REMOTE_READ);
  EXPECT_EQ(registered(named(Kind::kDmabuf), true).access, kWritten | IBV_ACCESS_REMOTE_READ);
}

TEST_F(FlowMemoryTest, ADmabufIsRegisteredFromItsOffsetAtTheAddressThatNcclUses) {
  NamedMemory memory = named(Kind::kDmabuf);
  memory.offset = 8192;
  const FakeRegistration found = registered(memory, true);
  EXPECT_TRUE(found.dmabuf);
  EXPECT_EQ(found.offset, 8192U);
  EXPECT_EQ(found.address, reinterpret_cast<std::uintptr_t>(bytes_.data()));
  EXPECT_EQ(found.bytes, bytes_.size());
  EXPECT_FALSE(registered(named(Kind::kPeer), true).dmabuf);
}

TEST_F(FlowMemoryTest, FlowsShareEqualRegistrationsOnly) {
  test::FakeHop other_hop = test::make_rdma_hop(device_, fake_.gid);
  const std::unique_ptr<host::HopLink> other_link = test::make_last_link(other_hop);
  FlowMemory other(nullptr);
  ASSERT_TRUE(other.attach(0, *other_link).ok());
  const auto key = [](FlowMemory& flow, const NamedMemory& memory, bool lands) {
    return flow.add(memory, lands).value()->local_keys[0];
  };
  NamedMemory further_on = named(Kind::kDmabuf);
  further_on.offset = 4096;
  std::set<std::uint32_t> keys;
  for (const bool lands : {false, true}) {
    for (const NamedMemory& memory : {named(Kind::kHost), named(Kind::kPeer), named(Kind::kDmabuf), further_on}) {
      const std::uint32_t first = key(flow_, memory, lands);
      NamedMemory again = memory;
      if (again.kind == Kind::kDmabuf) again.fd = ::dup(kFd);  // another descriptor of the same memory
      EXPECT_EQ(key(other, again, lands), first);
      EXPECT_TRUE(keys.insert(first).second);
    }
  }
}

TEST_F(FlowMemoryTest, ARegistrationEndsWithItsLastFlow) {
  const std::size_t before = live();
  test::FakeHop other_hop = test::make_rdma_hop(device_, fake_.gid);
  const std::unique_ptr<host::HopLink> other_link = test::make_last_link(other_hop);
  const std::size_t mailbox = live() - before;
  FlowMemory other(nullptr);
  ASSERT_TRUE(other.attach(0, *other_link).ok());
  MemoryRegion* const first = flow_.add(named(Kind::kDmabuf), false).value();
  MemoryRegion* const second = other.add(named(Kind::kDmabuf), false).value();
  EXPECT_EQ(live(), before + mailbox + 1);
  EXPECT_TRUE(flow_.holds(first));
  EXPECT_FALSE(flow_.holds(second));
  flow_.remove(first);
  EXPECT_EQ(live(), before + mailbox + 1);
  other.remove(second);
  EXPECT_EQ(live(), before + mailbox);
}

TEST_F(FlowMemoryTest, OverTcpHostMemoryIsRecordedAndGpuMemoryIsRefused) {
  FlowMemory tcp(nullptr);
  ASSERT_TRUE(tcp.attach(0, *tcp_link_).ok());
  EXPECT_TRUE(tcp.add(named(Kind::kHost), true).ok());
  for (const Kind kind : {Kind::kPeer, Kind::kDmabuf}) {
    for (const bool lands : {false, true}) {
      const absl::Status refused = tcp.add(named(kind), lands).status();
      EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(refused.message(), HasSubstr("goes over TCP, which cannot carry GPU memory"));
    }
  }
}

TEST_F(FlowMemoryTest, AnExhaustedDeviceNamesTheLimitToRaise) {
  fake_.register_error = ENOMEM;
  const absl::Status refused = flow_.add(named(Kind::kHost), true).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("mlx5_0 cannot register 4096 bytes of memory: Cannot allocate memory"));
  EXPECT_THAT(refused.message(), HasSubstr("the device supports 1000 registrations"));
  fake_.dmabuf_error = ENOMEM;
  EXPECT_THAT(flow_.add(named(Kind::kDmabuf), false).status().message(),
              HasSubstr("mlx5_0 cannot register 4096 bytes of another device's memory: Cannot allocate memory"));
}

TEST_F(FlowMemoryTest, AnUnknownGpuAddressNamesTheModule) {
  fake_.register_error = EFAULT;
  EXPECT_THAT(flow_.add(named(Kind::kPeer), false).status().message(),
              HasSubstr("Bad address; this is GPU memory, which requires the nvidia_peermem module"));
}

TEST_F(FlowMemoryTest, WithoutAFlushQueuePairLandingGpuMemoryIsRefused) {
  fake_.queue_pair_error = EAGAIN;
  const absl::Status refused = flow_.add(named(Kind::kDmabuf), true).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("connection with itself, which flushing GPU memory needs"));
  EXPECT_THAT(refused.message(), HasSubstr("raise rdma.max"));
  EXPECT_TRUE(flow_.add(named(Kind::kDmabuf), false).ok());
  EXPECT_TRUE(flow_.add(named(Kind::kHost), true).ok());
}

TEST_F(FlowMemoryTest, EveryFlowHasItsOwnFlushQueuePairWithARandomSequence) {
  ASSERT_TRUE(flow_.add(named(Kind::kDmabuf), true).ok());
  ASSERT_TRUE(flow_.add(named(Kind::kPeer), true).ok());
  ASSERT_EQ(fake_.packet_sequences.size(), 2U);  // the hop's, and the flush's
  const std::uint32_t flush = fake_.packet_sequences[1];
  EXPECT_LT(flush, 1U << 24);
  std::size_t different = 0;
  for (int i = 0; i < 3; ++i) {
    test::FakeHop hop = test::make_rdma_hop(device_, fake_.gid);
    const std::unique_ptr<host::HopLink> link = test::make_last_link(hop);
    FlowMemory flow(nullptr);
    ASSERT_TRUE(flow.attach(0, *link).ok());
    ASSERT_TRUE(flow.add(named(Kind::kDmabuf), true).ok());
    different += fake_.packet_sequences.back() == flush ? 0 : 1;
  }
  EXPECT_GT(different, 0U);
}

TEST_F(FlowMemoryTest, ACircuitThatJoinsLaterHasAllMemoryAndItsOwnKeys) {
  MemoryRegion* const host = flow_.add(named(Kind::kHost), true).value();
  MemoryRegion* const gpu = flow_.add(named(Kind::kPeer), true).value();
  host::test::FakeVerbsDevice& other_fake = verbs_.add("mlx5_1");
  const std::shared_ptr<host::VerbsDevice> other = verbs_.open(other_fake);
  test::FakeHop hop = test::make_rdma_hop(other, other_fake.gid);
  const std::unique_ptr<host::HopLink> link = test::make_last_link(hop);
  EXPECT_EQ(host->remote_keys[3], 0U);
  ASSERT_TRUE(flow_.attach(3, *link).ok());
  for (const MemoryRegion* region : {host, gpu}) {
    EXPECT_NE(region->remote_keys[3], 0U);
    EXPECT_NE(region->registrations[3], region->registrations[0]);
  }
  flow_.detach(3);
  EXPECT_EQ(host->remote_keys[3], 0U);
  EXPECT_EQ(host->registrations[3], nullptr);
  EXPECT_NE(host->registrations[0], nullptr);
}

TEST_F(FlowMemoryTest, AnEndedCircuitsDeviceFlushesForTheMessagesInFlightAndGetsNoNewMemory) {
  MemoryRegion* const before = flow_.add(named(Kind::kPeer), true).value();
  host::test::FakeVerbsDevice& other_fake = verbs_.add("mlx5_1");
  test::FakeHop hop = test::make_rdma_hop(verbs_.open(other_fake), other_fake.gid);
  const std::unique_ptr<host::HopLink> link = test::make_last_link(hop);
  ASSERT_TRUE(flow_.attach(1, *link).ok());
  flow_.circuit_ended(0);
  for (std::size_t i = 0; i < kMaxLandings; ++i) {
    EXPECT_EQ(flow_.flushed(flow_.flush(*before, bytes_.data()).value()).value(), true);
  }
  EXPECT_EQ(fake_.reads, kMaxLandings);
  EXPECT_EQ(other_fake.reads, kMaxLandings);
  EXPECT_TRUE(flow_.flush(*before, bytes_.data()).ok());
  EXPECT_EQ(fake_.reads, kMaxLandings) << "nothing that it wrote is left";
  MemoryRegion* const later = flow_.add(named(Kind::kPeer), true).value();
  EXPECT_EQ(later->registrations[0], nullptr);
  EXPECT_NE(later->registrations[1], nullptr);
}

TEST_F(FlowMemoryTest, AFlushThatItsDeviceHasNotDoneBeforeItsSlotIsUsedAgainFails) {
  MemoryRegion* const region = flow_.add(named(Kind::kPeer), true).value();
  fake_.holds_completions = true;
  const std::uint64_t pending = flow_.flush(*region, bytes_.data()).value();
  flow_.circuit_ended(0);
  test::FakeHop hop = test::make_rdma_hop(device_, fake_.gid);
  const std::unique_ptr<host::HopLink> link = test::make_last_link(hop);
  ASSERT_TRUE(flow_.attach(0, *link).ok());
  EXPECT_THAT(flow_.flushed(pending).status().message(), HasSubstr("was replaced before it was flushed"));
}

// Half of a message may have landed over the first device, the rest over another one.
TEST_F(FlowMemoryTest, AnEndedCircuitsDeviceFlushesBeforeItsSlotIsUsedAgain) {
  MemoryRegion* const region = flow_.add(named(Kind::kPeer), true).value();
  ASSERT_TRUE(flow_.add(named(Kind::kHost), true).ok());
  host::test::FakeVerbsDevice& other_fake = verbs_.add("mlx5_1");
  test::FakeHop hop = test::make_rdma_hop(verbs_.open(other_fake), other_fake.gid);
  const std::unique_ptr<host::HopLink> link = test::make_last_link(hop);
  flow_.circuit_ended(0);
  ASSERT_TRUE(flow_.attach(0, *link).ok());
  EXPECT_EQ(fake_.reads, 1U);
  EXPECT_EQ(flow_.flushed(flow_.flush(*region, bytes_.data()).value()).value(), true);
  EXPECT_EQ(fake_.reads, 1U);
  EXPECT_EQ(other_fake.reads, 1U);
}

TEST_F(FlowMemoryTest, WhatAnEndedCircuitsDeviceCannotFlushIsNotHandedOver) {
  MemoryRegion* const region = flow_.add(named(Kind::kPeer), true).value();
  fake_.holds_completions = true;
  flow_.circuit_ended(0);
  host::test::FakeVerbsDevice& other_fake = verbs_.add("mlx5_1");
  test::FakeHop hop = test::make_rdma_hop(verbs_.open(other_fake), other_fake.gid);
  const std::unique_ptr<host::HopLink> link = test::make_last_link(hop);
  ASSERT_TRUE(flow_.attach(0, *link).ok());
  for (std::size_t i = 0; i < kMaxLandings; ++i) {
    EXPECT_THAT(flow_.flush(*region, bytes_.data()).status().message(),
                HasSubstr("cannot flush what it wrote into GPU memory: it does not answer"));
  }
  EXPECT_TRUE(flow_.flush(*region, bytes_.data()).ok()) << "nothing that it wrote is left";
}

TEST_F(FlowMemoryTest, ADmabufIsRegisteredLaterThoughItsOwnerHasClosedIt) {
  host::UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  NamedMemory memory = named(Kind::kDmabuf);
  memory.fd = file.get();
  MemoryRegion* const region = flow_.add(memory, false).value();
  file.reset();
  EXPECT_NE(::fcntl(region->named.fd, F_GETFD), -1);
  test::FakeHop hop = test::make_rdma_hop(device_, fake_.gid);
  const std::unique_ptr<host::HopLink> link = test::make_last_link(hop);
  ASSERT_TRUE(flow_.attach(1, *link).ok());
  EXPECT_NE(region->local_keys[1], 0U);
  const int copy = region->named.fd;
  flow_.remove(region);
  EXPECT_EQ(::fcntl(copy, F_GETFD), -1);
}

TEST_F(FlowMemoryTest, ACircuitOverTcpCannotJoinAFlowWithGpuMemory) {
  MemoryRegion* const host = flow_.add(named(Kind::kHost), true).value();
  EXPECT_TRUE(flow_.attach(1, *tcp_link_).ok());
  ASSERT_TRUE(flow_.add(named(Kind::kPeer), true).status().message().find("GPU memory") != std::string::npos);
  flow_.detach(1);
  ASSERT_TRUE(flow_.add(named(Kind::kPeer), true).ok());
  EXPECT_THAT(flow_.attach(1, *tcp_link_).message(), HasSubstr("goes over TCP, which cannot carry GPU memory"));
  EXPECT_NE(host->registrations[0], nullptr);
}

}  // namespace
}  // namespace cableway::nccl
