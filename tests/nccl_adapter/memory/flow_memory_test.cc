// Which registrations a flow's memory gets, and which are refused.
#include "nccl_adapter/memory/flow_memory.h"

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
constexpr int kFd = 7;  // of a dmabuf; never used

class FlowMemoryTest : public testing::Test {
 protected:
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
  const test::FakeHop hop_ = test::make_rdma_hop(device_, fake_.gid);
  const test::FakeHop tcp_ = test::make_tcp_hop();
  FlowMemory flow_{{hop_.link.get()}, nullptr};
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
  const test::FakeHop other_hop = test::make_rdma_hop(device_, fake_.gid);
  FlowMemory other({other_hop.link.get()}, nullptr);
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
      if (again.kind == Kind::kDmabuf) again.fd = kFd + 1;  // another descriptor of the same memory
      EXPECT_EQ(key(other, again, lands), first);
      EXPECT_TRUE(keys.insert(first).second);
    }
  }
}

TEST_F(FlowMemoryTest, ARegistrationEndsWithItsLastFlow) {
  const std::size_t before = live();
  const test::FakeHop other_hop = test::make_rdma_hop(device_, fake_.gid);
  const std::size_t mailbox = live() - before;
  FlowMemory other({other_hop.link.get()}, nullptr);
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
  FlowMemory tcp({tcp_.link.get()}, nullptr);
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
    const test::FakeHop hop = test::make_rdma_hop(device_, fake_.gid);
    FlowMemory flow({hop.link.get()}, nullptr);
    ASSERT_TRUE(flow.add(named(Kind::kDmabuf), true).ok());
    different += fake_.packet_sequences.back() == flush ? 0 : 1;
  }
  EXPECT_GT(different, 0U);
}

}  // namespace
}  // namespace cableway::nccl
