// Once deregMr and close have returned, the plugin neither writes the memory nor sends from it, whatever was in flight.
#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <tuple>

#include "tests/conformance/ranks/guarded_buffer.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMemoryBytes = 16 << 20;  // more than all buffers on the path hold
constexpr std::byte kUntouched{0x11};
constexpr std::byte kSent{0x22};
constexpr std::byte kPoison{0x33};
constexpr milliseconds kAfterwards{300};

// A flow from a rank to itself with one message in flight.
class Transfer {
 public:
  explicit Transfer(Rank& rank) : rank_(rank) {
    std::tie(sender_, receiver_) = rank.connect_to_self();
    EXPECT_EQ(rank.net().register_host_memory(sender_, from_.data(), kMemoryBytes, &from_handle_), abi::kSuccess);
    EXPECT_EQ(rank.net().register_host_memory(receiver_, to_.data(), kMemoryBytes, &to_handle_), abi::kSuccess);
  }

  void post_receive() {
    EXPECT_EQ(rank_.net().irecv(receiver_, to_.data(), kMemoryBytes, to_handle_, &received_), abi::kSuccess);
    EXPECT_NE(received_, nullptr);
  }
  void post_send() {
    EXPECT_EQ(rank_.net().isend(sender_, from_.data(), kMemoryBytes, from_handle_, &sent_), abi::kSuccess);
    EXPECT_NE(sent_, nullptr);
  }
  // Moves data until a part of the message has landed.
  void run_half_way() {
    const auto end = Clock::now() + kTrafficLimit;
    while (to_.bytes()[kMemoryBytes / 8] == kUntouched && Clock::now() < end) {
      EXPECT_FALSE(turn(sent_).done);
      EXPECT_FALSE(turn(received_).done);
    }
    EXPECT_EQ(to_.bytes()[kMemoryBytes / 8], kSent);
    EXPECT_EQ(to_.bytes()[kMemoryBytes - 1], kUntouched);
  }

  // Each deregisters the memory and closes the comm; from then on every access to the memory is an error.
  void abort_receiver() {
    EXPECT_EQ(rank_.net().deregister(receiver_, to_handle_), abi::kSuccess);
    EXPECT_EQ(rank_.net().close_recv(receiver_), abi::kSuccess);
    to_.fill(kPoison);
    to_.forbid();
  }
  void abort_sender() {
    EXPECT_EQ(rank_.net().deregister(sender_, from_handle_), abi::kSuccess);
    EXPECT_EQ(rank_.net().close_send(sender_), abi::kSuccess);
    from_.fill(kPoison);
    from_.forbid();
  }

  Outcome end_of_send() { return rank_.finish(sent_); }
  Outcome end_of_receive() { return rank_.finish(received_); }
  void close_send() { EXPECT_EQ(rank_.net().close_send(sender_), abi::kSuccess); }
  void close_receive() { EXPECT_EQ(rank_.net().close_recv(receiver_), abi::kSuccess); }

  GuardedBuffer& from() { return from_; }
  GuardedBuffer& to() { return to_; }

 private:
  Outcome turn(void* request) {
    int done = 0;
    int bytes = 0;
    Outcome outcome;
    outcome.result = rank_.net().test(request, &done, &bytes);
    outcome.done = done == 1;
    EXPECT_EQ(outcome.result, abi::kSuccess);
    return outcome;
  }

  Rank& rank_;
  GuardedBuffer from_{kMemoryBytes, kSent};
  GuardedBuffer to_{kMemoryBytes, kUntouched};
  void* sender_ = nullptr;
  void* receiver_ = nullptr;
  void* from_handle_ = nullptr;
  void* to_handle_ = nullptr;
  void* sent_ = nullptr;
  void* received_ = nullptr;
};

bool all_are(const GuardedBuffer& buffer, std::byte value) {
  return std::all_of(buffer.bytes().begin(), buffer.bytes().end(), [&](std::byte byte) { return byte == value; });
}

class MemoryTest : public testing::TestWithParam<int> {
 protected:
  void with_transfer(const std::function<void(Transfer&)>& act) {
    world_.start("a");
    RankProcess(world_, "a", GetParam(), [&](Rank& rank, Line&) {
      Transfer transfer(rank);
      act(transfer);
    }).finish();
  }

  World world_{"a"};
  const std::string self_ = "node a (a -local-> a) failed: ";
};

TEST_P(MemoryTest, ThatAReceiverDeregistersIsNoLongerWritten) {
  with_transfer([&](Transfer& transfer) {
    transfer.post_receive();
    transfer.post_send();
    transfer.run_half_way();
    transfer.abort_receiver();
    EXPECT_EQ(transfer.end_of_send().result, abi::kRemoteError);
    std::this_thread::sleep_for(kAfterwards);
    transfer.to().allow();
    EXPECT_TRUE(all_are(transfer.to(), kPoison));
    expect_warning("flow from " + self_ + "its memory was deregistered while in use");
    // The sender gets the receiver's reason, or sees the connection end in the middle of a frame.
    expect_warning("flow to " + self_);
    transfer.close_send();
  });
}

TEST_P(MemoryTest, ThatASenderDeregistersIsNoLongerSent) {
  with_transfer([&](Transfer& transfer) {
    transfer.post_receive();
    transfer.post_send();
    transfer.run_half_way();
    transfer.abort_sender();
    EXPECT_EQ(transfer.end_of_receive().result, abi::kRemoteError);
    std::this_thread::sleep_for(kAfterwards);
    const auto bytes = transfer.to().bytes();
    // Only what was sent before, and nothing that was written there afterwards.
    const auto first_missing = std::find(bytes.begin(), bytes.end(), kUntouched);
    EXPECT_TRUE(std::all_of(bytes.begin(), first_missing, [](std::byte byte) { return byte == kSent; }));
    EXPECT_TRUE(std::all_of(first_missing, bytes.end(), [](std::byte byte) { return byte == kUntouched; }));
    expect_warning("flow to " + self_ + "its memory was deregistered while in use");
    expect_warning("flow from " + self_);
    transfer.close_receive();
  });
}

TEST_P(MemoryTest, OfAReceiveWithoutDataIsNotAccessed) {
  with_transfer([&](Transfer& transfer) {
    transfer.post_receive();
    transfer.abort_receiver();
    transfer.post_send();
    EXPECT_EQ(transfer.end_of_send().result, abi::kRemoteError);
    std::this_thread::sleep_for(kAfterwards);
    transfer.to().allow();
    EXPECT_TRUE(all_are(transfer.to(), kPoison));
    expect_warning("flow to " + self_);
    transfer.close_send();
  });
}

TEST_P(MemoryTest, OfASendThatWaitsForItsReceiveIsNotAccessed) {
  with_transfer([&](Transfer& transfer) {
    transfer.post_send();
    transfer.abort_sender();
    transfer.post_receive();
    EXPECT_EQ(transfer.end_of_receive().result, abi::kRemoteError);
    std::this_thread::sleep_for(kAfterwards);
    EXPECT_TRUE(all_are(transfer.to(), kUntouched));
    expect_warning("flow from " + self_);
    transfer.close_receive();
  });
}

TEST_P(MemoryTest, OfBothEndsIsNotAccessedIfBothAbort) {
  with_transfer([&](Transfer& transfer) {
    transfer.post_receive();
    transfer.post_send();
    transfer.run_half_way();
    const auto begin = Clock::now();
    transfer.abort_sender();
    transfer.abort_receiver();
    EXPECT_LT(Clock::now() - begin, seconds(5));
    std::this_thread::sleep_for(kAfterwards);
    transfer.to().allow();
    EXPECT_TRUE(all_are(transfer.to(), kPoison));
  });
}

INSTANTIATE_TEST_SUITE_P(Abi, MemoryTest, every_abi(), abi_name);

class FinalizeMemoryTest : public MemoryTest {};

// An abort may free memory and leave its comms to finalize, which then must not move any more data.
TEST_P(FinalizeMemoryTest, ThatIsFreedIsNotAccessedByFinalize) {
  world_.start("a");
  RankProcess(world_, "a", GetParam(), [](Rank& rank, Line&) {
    // Finalize runs in the rank's destructor, after this, and the memory must not be readable there.
    Transfer& transfer = *new Transfer(rank);
    transfer.post_receive();
    transfer.post_send();
    transfer.run_half_way();
    transfer.from().forbid();
    transfer.to().forbid();
  }).finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, FinalizeMemoryTest, abis_with_finalize(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
