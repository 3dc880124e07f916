#include "core/linux/relay/rdma_relay_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/linux/rdma/rdma_transport.h"
#include "core/linux/tcp/tcp_transport.h"
#include "core/rdma/registered_slot.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

using testing::Each;
using testing::Field;

constexpr std::uint64_t kRelayMemory = 64ULL << 20;  // 16 leases
constexpr unsigned kWritten = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

class RdmaRelayMemoryTest : public testing::Test {
 protected:
  // An end of a hop on that device.
  std::unique_ptr<HostEnd> end_on(const test::FakeVerbsDevice& fake, std::size_t number) const {
    return make_rdma_end({verbs_.open(fake), number, nullptr, {}});
  }

  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& up_ = verbs_.add("mlx5_0");
  test::FakeVerbsDevice& down_ = verbs_.add("mlx5_1");
  const std::unique_ptr<HostEnd> tcp_ = make_tcp_end();
};

TEST_F(RdmaRelayMemoryTest, UpstreamWritesMayBeReorderedAndDownstreamMayNotWrite) {
  const auto memory = RdmaRelayMemory::reserve(kRelayMemory).value();
  const auto upstream = end_on(up_, 0);
  const auto downstream = end_on(down_, 1);
  const auto floor = memory->make_floor(*upstream, *downstream).value();
  ASSERT_EQ(up_.registrations.size(), 2U);  // the leases, and the floor
  EXPECT_THAT(up_.registrations, Each(Field(&test::FakeRegistration::access, kWritten | IBV_ACCESS_RELAXED_ORDERING)));
  ASSERT_EQ(down_.registrations.size(), 2U);
  EXPECT_THAT(down_.registrations, Each(Field(&test::FakeRegistration::access, 0U)));
}

TEST_F(RdmaRelayMemoryTest, LeasesAreWritableFromADevicesFirstUpstreamHop) {
  const auto memory = RdmaRelayMemory::reserve(kRelayMemory).value();
  const auto there = end_on(up_, 0);
  const auto here = end_on(down_, 1);
  const auto downstream = memory->make_floor(*there, *here).value();
  const auto& lease = static_cast<const RegisteredSlot&>(*memory->pool().lease());
  EXPECT_EQ(lease.keys(1).remote, 0U) << "not remotely writable";
  const std::uint32_t read_by = lease.keys(1).local;
  ASSERT_NE(read_by, 0U);

  const auto upstream = memory->make_floor(*here, *there).value();
  ASSERT_EQ(down_.registrations.size(), 4U) << "the leases and the floor, twice";
  const test::FakeRegistration& leases = down_.registrations[2];
  EXPECT_EQ(leases.access, kWritten | IBV_ACCESS_RELAXED_ORDERING);
  EXPECT_EQ(leases.bytes, memory->pool().size() * RdmaRelayMemory::kSlotBytes);
  EXPECT_EQ(lease.keys(1).remote, leases.key);
  EXPECT_EQ(lease.keys(1).local, read_by) << "writes in flight still use it";
  EXPECT_THAT(down_.registrations, Each(Field(&test::FakeRegistration::is_live, true)));
  // The other device's leases were remotely writable from the beginning.
  EXPECT_EQ(up_.registrations.size(), 3U) << "the leases, and two floors";
  EXPECT_EQ(lease.keys(0).local, lease.keys(0).remote);
  EXPECT_EQ(memory->status().registered, (memory->pool().size() + 2) * std::uint64_t{RdmaRelayMemory::kSlotBytes})
      << "memory counts once";

  ASSERT_TRUE(memory->make_floor(*here, *there).ok() && memory->make_floor(*there, *here).ok());
  EXPECT_EQ(down_.registrations.size(), 6U) << "two floors more";
}

TEST_F(RdmaRelayMemoryTest, LeasesOfAFailedDeviceAreReleased) {
  const auto memory = RdmaRelayMemory::reserve(kRelayMemory).value();
  {
    const auto there = end_on(up_, 0);
    const auto here = end_on(down_, 1);
    ASSERT_TRUE(memory->make_floor(*there, *here).ok() && memory->make_floor(*here, *there).ok());
    here->slot_device().device->give_up();
  }
  memory->release_lost();
  EXPECT_THAT(down_.registrations, Each(Field(&test::FakeRegistration::is_live, false)));
  EXPECT_TRUE(up_.registrations[0].is_live);
  EXPECT_GT(memory->status().registered, 0U);
}

TEST_F(RdmaRelayMemoryTest, HasAtLeastOneLeaseAndAtMostTheLimit) {
  EXPECT_EQ(RdmaRelayMemory::reserve(1).value()->status().leases, 1U);
  EXPECT_EQ(RdmaRelayMemory::reserve(kRelayMemory).value()->status().leases, 16U);
  // The default, and more.
  for (const std::uint64_t bytes : {1ULL << 31, 1ULL << 40}) {
    EXPECT_EQ(RdmaRelayMemory::reserve(bytes).value()->status().leases, RdmaRelayMemory::kMaxLeases);
  }
}

TEST_F(RdmaRelayMemoryTest, RelaxedOrderingIsNotRequestedFromAnOldLibrary) {
  verbs_.library().reg_mr_iova2 = nullptr;
  const auto memory = RdmaRelayMemory::reserve(kRelayMemory).value();
  const auto upstream = end_on(up_, 0);
  ASSERT_TRUE(memory->make_floor(*upstream, *tcp_).ok());
  EXPECT_THAT(up_.registrations, Each(Field(&test::FakeRegistration::access, kWritten)));
}

TEST_F(RdmaRelayMemoryTest, EveryCircuitsOwnSlotHasItsOwnKeysForItsLifetime) {
  const auto memory = RdmaRelayMemory::reserve(kRelayMemory).value();
  const auto upstream = end_on(up_, 0);
  auto first = memory->make_floor(*upstream, *tcp_).value();
  const auto second = memory->make_floor(*upstream, *tcp_).value();
  const std::uint32_t first_key = static_cast<const RegisteredSlot&>(*first).keys(0).remote;
  EXPECT_NE(first_key, static_cast<const RegisteredSlot&>(*second).keys(0).remote);
  first.reset();
  for (const test::FakeRegistration& each : up_.registrations) EXPECT_EQ(each.is_live, each.key != first_key);
}

}  // namespace
}  // namespace cableway::host
