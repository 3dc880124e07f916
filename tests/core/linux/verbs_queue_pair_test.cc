// Needs an RDMA device, as a soft-RoCE guest has (rxe takes what it sends itself); skipped where there is none.
#include "core/linux/verbs_queue_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "tests/core/linux/allocation_counter.h"
#include "tests/core/linux/verbs_pair.h"

namespace cableway::linux_ {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMostBytes = 1U << 20;

// Connections that fail do so sooner than they would on a cable.
constexpr VerbsOptions kHasty{.timeout = 12, .retry_count = 1};

class VerbsQueuePairTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<test::UsableDevice> usable = test::usable_device();
    if (!usable.ok()) GTEST_SKIP() << usable.status().message();
    usable_ = *std::move(usable);
    from_.emplace(usable_.device, kMostBytes, false);
    to_.emplace(usable_.device, kMostBytes, true);
    for (std::size_t i = 0; i < kMostBytes; ++i) from_->data()[i] = static_cast<std::byte>(i * 7 + i / 251);
  }

  RdmaWrite write(std::size_t bytes) const {
    RdmaWrite write;
    write.data = from_->data();
    write.bytes = static_cast<std::uint32_t>(bytes);
    write.local_key = from_->keys().local;
    write.to = to_->address();
    write.remote_key = to_->keys().remote;
    return write;
  }
  RdmaWrite reporting(std::size_t bytes, std::uint64_t ticket) const {
    RdmaWrite reported = write(bytes);
    reported.reports = true;
    reported.ticket = ticket;
    return reported;
  }
  RdmaWrite noticed(std::size_t bytes, std::uint32_t notice) const {
    RdmaWrite noticed = reporting(bytes, notice);
    noticed.notifies = true;
    noticed.notice = notice;
    return noticed;
  }
  bool arrived(std::size_t bytes) const {
    return std::memcmp(to_->data(), from_->data(), bytes) == 0 &&
           (bytes == kMostBytes || to_->data()[bytes] == std::byte{0});
  }
  void clear() const { std::memset(to_->data(), 0, kMostBytes); }

  test::UsableDevice usable_;
  std::optional<test::RegisteredBytes> from_;
  std::optional<test::RegisteredBytes> to_;
};

TEST_F(VerbsQueuePairTest, TellsItsEnd) {
  const auto pair = VerbsQueuePair::create(usable_.device, usable_.gid, 0xabcdef, {}).value();
  EXPECT_EQ(pair->endpoint().packet_sequence, 0xabcdefU);
  EXPECT_EQ(pair->endpoint().gid, usable_.gid.bytes);
  EXPECT_EQ(pair->endpoint().mtu, usable_.device->active_mtu().value());
  EXPECT_EQ(pair->endpoint().mailbox, reinterpret_cast<std::uintptr_t>(pair->mailbox().data()));
  EXPECT_EQ(pair->mailbox().size(), RdmaQueuePair::kMailboxBytes);
}

TEST_F(VerbsQueuePairTest, WritesArriveWholeBeforeTheirNotice) {
  test::VerbsPair pair(usable_);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  std::uint32_t notice = 0xfffffffe;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{127}, std::size_t{128}, std::size_t{129},
                                  std::size_t{65536}, kMostBytes}) {
    SCOPED_TRACE(bytes);
    clear();
    const std::array<RdmaWrite, 1> writes{noticed(bytes, ++notice)};
    ASSERT_TRUE(pair.left->post(writes).ok());
    const auto seen = test::next_completion(*pair.right);
    ASSERT_TRUE(seen.ok()) << seen.status();
    EXPECT_EQ(seen->kind, RdmaCompletion::Kind::kNoticed);
    EXPECT_EQ(seen->notice, notice);
    EXPECT_TRUE(arrived(bytes));
    const auto done = test::next_completion(*pair.left);
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_EQ(done->kind, RdmaCompletion::Kind::kWritten);
    EXPECT_EQ(done->ticket, notice);
  }
}

TEST_F(VerbsQueuePairTest, AFrameFollowsItsPayloadIntoTheMailbox) {
  test::VerbsPair pair(usable_);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  const RdmaEndpoint there = pair.right->endpoint();
  std::array<std::byte, 48> frame{};
  frame.fill(std::byte{0x5a});
  RdmaWrite second;
  second.data = frame.data();
  second.bytes = frame.size();
  second.to = there.mailbox + 3 * RdmaQueuePair::kMailboxPlaceBytes;
  second.remote_key = there.mailbox_key;
  second.inlined = second.notifies = second.reports = true;
  second.notice = 3;
  second.ticket = 77;
  const std::array<RdmaWrite, 2> writes{write(65536), second};
  ASSERT_TRUE(pair.left->post(writes).ok());
  // What is inlined has been taken.
  frame.fill(std::byte{0});
  const auto seen = test::next_completion(*pair.right);
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_EQ(seen->notice, 3U);
  EXPECT_TRUE(arrived(65536));
  const auto place = pair.right->mailbox().subspan(3 * RdmaQueuePair::kMailboxPlaceBytes, 49);
  EXPECT_EQ(place[0], std::byte{0x5a});
  EXPECT_EQ(place[47], std::byte{0x5a});
  EXPECT_EQ(place[48], std::byte{0});
  const auto done = test::next_completion(*pair.left);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->ticket, 77U) << "the first one asked for no report";
}

}  // namespace
}  // namespace cableway::linux_
