// Needs an RDMA device, such as that of a soft-RoCE guest (rxe can connect to itself); skipped if there is none.
#include "core/linux/rdma/verbs_queue_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tests/core/linux/allocation_counter.h"
#include "tests/core/linux/rdma/verbs_pair.h"

namespace cableway::host {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMaxBytes = 1U << 20;

// Makes connections fail sooner than on a cable.
constexpr VerbsOptions kHasty{.timeout = 12, .retry_count = 1};

class VerbsQueuePairTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<test::UsableDevice> usable = test::usable_device();
    if (!usable.ok()) GTEST_SKIP() << usable.status().message();
    usable_ = *std::move(usable);
    from_.emplace(usable_.device, kMaxBytes, false);
    to_.emplace(usable_.device, kMaxBytes, true);
    for (std::size_t i = 0; i < kMaxBytes; ++i) from_->data()[i] = static_cast<std::byte>(i * 7 + i / 251);
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
           (bytes == kMaxBytes || to_->data()[bytes] == std::byte{0});
  }
  void clear() const { std::memset(to_->data(), 0, kMaxBytes); }

  test::UsableDevice usable_;
  std::optional<test::RegisteredBytes> from_;
  std::optional<test::RegisteredBytes> to_;
};

TEST_F(VerbsQueuePairTest, DescribesItsEndpoint) {
  const auto pair = VerbsQueuePair::create(usable_.device, usable_.gid, 0xabcdef, {}).value();
  EXPECT_EQ(pair->endpoint().packet_sequence, 0xabcdefU);
  EXPECT_EQ(pair->endpoint().gid, usable_.gid.bytes);
  EXPECT_EQ(pair->endpoint().mtu, usable_.device->active_mtu(usable_.gid.port).value());
  EXPECT_EQ(pair->endpoint().mailbox, reinterpret_cast<std::uintptr_t>(pair->mailbox().data()));
  EXPECT_EQ(pair->mailbox().size(), RdmaQueuePair::kMailboxBytes);
}

TEST_F(VerbsQueuePairTest, WritesArriveWholeBeforeTheirNotice) {
  test::VerbsPair pair(usable_);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  std::uint32_t notice = 0xfffffffe;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{127}, std::size_t{128}, std::size_t{129},
                                  std::size_t{65536}, kMaxBytes}) {
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
  // Inline data has been copied.
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
  EXPECT_EQ(done->ticket, 77U) << "the first one requested no completion";
}

TEST_F(VerbsQueuePairTest, NoticesArriveInOrderUpToTheNumberOfReceives) {
  test::VerbsPair pair(usable_);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  constexpr std::uint32_t kMax = RdmaQueuePair::kMaxNotices;
  std::uint32_t next = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<RdmaWrite> writes;
    for (std::uint32_t i = 0; i < kMax; ++i) {
      writes.push_back(noticed(128, next + i));
      writes.back().reports = i + 1 == kMax;
    }
    ASSERT_TRUE(pair.left->post(writes).ok());
    for (std::uint32_t i = 0; i < kMax; ++i) {
      const auto seen = test::next_completion(*pair.right);
      ASSERT_TRUE(seen.ok()) << seen.status();
      ASSERT_EQ(seen->notice, next++);
    }
    ASSERT_TRUE(test::next_completion(*pair.left).ok());
    ASSERT_TRUE(pair.right->expect_notices(kMax).ok());
  }
}

TEST_F(VerbsQueuePairTest, AcceptsTheLimitOfWritesInOneCall) {
  test::VerbsPair pair(usable_);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  std::vector<RdmaWrite> writes(RdmaQueuePair::kMaxWrites, write(256));
  for (std::size_t i = 0; i < writes.size(); ++i) {
    writes[i].data += i * 256;
    writes[i].to += i * 256;
  }
  writes.back().reports = true;
  for (std::uint64_t round = 0; round < 3; ++round) {
    clear();
    writes.back().ticket = round;
    ASSERT_TRUE(pair.left->post(writes).ok());
    const auto done = test::next_completion(*pair.left);
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_EQ(done->ticket, round);
    EXPECT_TRUE(arrived(RdmaQueuePair::kMaxWrites * std::size_t{256}));
  }
}

TEST_F(VerbsQueuePairTest, WakesASleepingThread) {
  test::VerbsPair pair(usable_);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  pollfd sleeper{pair.right->fd(), POLLIN, 0};
  RdmaCompletion completion{};
  for (std::uint32_t notice = 0; notice < 3; ++notice) {
    ASSERT_TRUE(pair.right->arm().ok());
    EXPECT_EQ(pair.right->poll({&completion, 1}).value(), 0U);
    EXPECT_EQ(::poll(&sleeper, 1, 0), 0);
    const std::array<RdmaWrite, 1> writes{noticed(64, notice)};
    ASSERT_TRUE(pair.left->post(writes).ok());
    EXPECT_EQ(::poll(&sleeper, 1, 20000), 1);
    pair.right->take_events();
    EXPECT_EQ(::poll(&sleeper, 1, 0), 0);
    EXPECT_EQ(pair.right->poll({&completion, 1}).value(), 1U);
    EXPECT_EQ(completion.notice, notice);
  }
}

TEST_F(VerbsQueuePairTest, AllocatesNothingOnceItIsJoined) {
  test::VerbsPair pair(usable_);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  const std::array<RdmaWrite, 2> writes{write(4096), noticed(64, 1)};
  std::array<RdmaCompletion, 4> completions;
  const std::uint64_t before = test::allocations();
  for (int round = 0; round < 500; ++round) {
    bool fine = pair.left->post(writes).ok();
    for (std::size_t noticed = 0, written = 0; fine && noticed + written < 2;) {
      const auto here = pair.left->poll(completions);
      const auto there = pair.right->poll(completions);
      fine = here.ok() && there.ok();
      written += fine ? *here : 0;
      noticed += fine ? *there : 0;
    }
    ASSERT_TRUE(fine && pair.right->expect_notices(1).ok());
  }
  EXPECT_EQ(test::allocations() - before, 0U);
}

TEST_F(VerbsQueuePairTest, AfterAFenceNothingIsWritten) {
  test::VerbsPair pair(usable_, kHasty);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  pair.right->fence();
  pair.right->fence();
  const std::array<RdmaWrite, 1> writes{reporting(65536, 1)};
  ASSERT_TRUE(pair.left->post(writes).ok());
  const auto done = test::next_completion(*pair.left);
  EXPECT_EQ(done.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(done.status().message(), HasSubstr("the cable, or the host behind it, does not answer"));
  EXPECT_EQ(to_->data()[0], std::byte{0});
  EXPECT_TRUE(std::all_of(to_->bytes().begin(), to_->bytes().end(), [](std::byte b) { return b == std::byte{0}; }));

  RdmaCompletion completion{};
  EXPECT_EQ(pair.right->poll({&completion, 1}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(pair.right->post(writes).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(pair.right->expect_notices(1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(pair.left->poll({&completion, 1}).status(), done.status()) << "final";
  EXPECT_EQ(pair.left->post(writes), done.status()) << "final";
}

TEST_F(VerbsQueuePairTest, AFenceEndsWritesInFlight) {
  test::VerbsPair pair(usable_, kHasty);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  std::vector<RdmaWrite> writes(64, reporting(kMaxBytes, 1));
  ASSERT_TRUE(pair.left->post(writes).ok());
  pair.right->fence();
  clear();
  while (test::next_completion(*pair.left).ok()) {
  }
  EXPECT_TRUE(std::all_of(to_->bytes().begin(), to_->bytes().end(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST_F(VerbsQueuePairTest, CompletionsAreReportedBeforeTheFailure) {
  test::VerbsPair pair(usable_, kHasty);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  std::array<RdmaWrite, 3> writes{reporting(64, 1), reporting(64, 2), reporting(64, 3)};
  writes[1].remote_key ^= 0xa5;
  ASSERT_TRUE(pair.left->post(writes).ok());
  const auto first = test::next_completion(*pair.left);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->ticket, 1U);
  const auto second = test::next_completion(*pair.left);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(second.status().message(), HasSubstr("the neighbour refused a write to its memory"));
  // The other end's connection is dead as well, without a fault of its own requests.
  const auto there = test::next_completion(*pair.right);
  EXPECT_EQ(there.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(there.status().message(), HasSubstr("the device ended the connection"));
}

TEST_F(VerbsQueuePairTest, MemoryWithoutWriteAccessIsNotWritten) {
  test::VerbsPair pair(usable_, kHasty);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  const test::RegisteredBytes readable(usable_.device, 4096, false);
  RdmaWrite wrong = reporting(64, 1);
  wrong.to = readable.address();
  wrong.remote_key = readable.keys().remote;
  const std::array<RdmaWrite, 1> writes{wrong};
  ASSERT_TRUE(pair.left->post(writes).ok());
  EXPECT_THAT(test::next_completion(*pair.left).status().message(),
              HasSubstr("the neighbour refused a write to its memory"));
  EXPECT_EQ(readable.data()[0], std::byte{0});
}

TEST_F(VerbsQueuePairTest, APeerThatVanishesDoesNotAnswer) {
  test::VerbsPair pair(usable_);
  ASSERT_TRUE(pair.joined.ok()) << pair.joined;
  pair.right.reset();
  const std::array<RdmaWrite, 1> writes{noticed(64, 1)};
  ASSERT_TRUE(pair.left->post(writes).ok());
  EXPECT_THAT(test::next_completion(*pair.left).status().message(),
              HasSubstr("the cable, or the host behind it, does not answer (transport retry counter exceeded"));
}

TEST_F(VerbsQueuePairTest, AnInvalidEndpointIsRefused) {
  for (const RdmaEndpoint& other :
       {RdmaEndpoint{1U << 24, 1, {}, 1024, 0, 0}, RdmaEndpoint{1, 1U << 24, {}, 1024, 0, 0},
        RdmaEndpoint{1, 1, {}, 1000, 0, 0}, RdmaEndpoint{1, 1, {}, 8192, 0, 0}}) {
    const auto pair = VerbsQueuePair::create(usable_.device, usable_.gid, 1, {}).value();
    EXPECT_EQ(pair->connect(other).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(VerbsQueuePairTest, ARemovedAddressIsRefused) {
  VerbsGid gid = usable_.gid;
  gid.bytes[15] ^= std::byte{1};
  const auto pair = VerbsQueuePair::create(usable_.device, gid, 1, {});
  EXPECT_EQ(pair.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(pair.status().message(), HasSubstr("any more; the port's address may have been removed"));
}

TEST(VerbsQueuePairOptions, AreBounded) {
  const auto refused = [](int gid_index, VerbsOptions options) {
    return std::string(VerbsQueuePair::create(nullptr, VerbsGid{gid_index, {}}, 1, options).status().message());
  };
  EXPECT_EQ(refused(256, {}), "GID index is 256; expected 0 to 255");
  EXPECT_EQ(refused(-1, {}), "GID index is -1; expected 0 to 255");
  EXPECT_EQ(refused(0, {.service_level = 8}), "RDMA service level is 8; expected 0 to 7");
  EXPECT_EQ(refused(0, {.timeout = 0}), "RDMA timeout is 0; expected 1 to 31");
  EXPECT_EQ(refused(0, {.timeout = 32}), "RDMA timeout is 32; expected 1 to 31");
  EXPECT_EQ(refused(0, {.retry_count = 8}), "RDMA retry count is 8; expected 0 to 7");
}

}  // namespace
}  // namespace cableway::host
