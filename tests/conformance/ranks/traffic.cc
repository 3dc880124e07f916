#include "tests/conformance/ranks/traffic.h"

#include <gtest/gtest.h>

#include <thread>

namespace cableway::nccl::test {
namespace {

using Clock = std::chrono::steady_clock;

// Retries what is not ready, as NCCL does.
template <typename Post>
Outcome post_and_finish(Rank& rank, Post post) {
  const auto end = Clock::now() + kTrafficLimit;
  Posted posted;
  while ((posted = post()).request == nullptr && posted.result == abi::kSuccess && Clock::now() < end) {
    std::this_thread::yield();
  }
  if (posted.request == nullptr) return Outcome{posted.result, false, -1};
  return rank.finish(posted.request, kTrafficLimit);
}

}  // namespace

Posted post_send(Rank& rank, void* comm, Buffer& buffer) {
  Posted posted;
  posted.result = rank.net().isend(comm, buffer.bytes.data(), buffer.bytes.size(), buffer.mhandle, &posted.request);
  return posted;
}

Posted post_receive(Rank& rank, void* comm, Buffer& buffer) {
  Posted posted;
  posted.result = rank.net().irecv(comm, buffer.bytes.data(), buffer.bytes.size(), buffer.mhandle, &posted.request);
  return posted;
}

Outcome send_message(Rank& rank, void* comm, std::size_t bytes, std::uint64_t seed) {
  Buffer from = rank.make_buffer(comm, bytes, seed);
  const Outcome outcome = post_and_finish(rank, [&] { return post_send(rank, comm, from); });
  EXPECT_EQ(rank.net().deregister(comm, from.mhandle), abi::kSuccess);
  return outcome;
}

Outcome receive_message(Rank& rank, void* comm, std::size_t bytes, std::uint64_t seed) {
  Buffer to = rank.make_buffer(comm, bytes, seed + 1);
  const Outcome outcome = post_and_finish(rank, [&] { return post_receive(rank, comm, to); });
  EXPECT_EQ(rank.net().deregister(comm, to.mhandle), abi::kSuccess);
  if (outcome.done) {
    EXPECT_EQ(outcome.bytes, static_cast<int>(bytes));
    EXPECT_TRUE(to.bytes == pattern(bytes, seed)) << "other bytes arrived than were sent";
  }
  return outcome;
}

bool finish_both(Rank& rank, void* sent, void* received) {
  Outcome sending;
  Outcome receiving;
  const auto end = Clock::now() + kTrafficLimit;
  while (!(sending.done && receiving.done) && Clock::now() < end) {
    if (!sending.done) sending = rank.finish(sent, std::chrono::milliseconds(1));
    if (!receiving.done) receiving = rank.finish(received, std::chrono::milliseconds(1));
    if (sending.result != abi::kSuccess || receiving.result != abi::kSuccess) return false;
  }
  return sending.done && receiving.done;
}

bool pass_message(Rank& rank, void* sender, void* receiver, std::size_t bytes, std::uint64_t seed) {
  Buffer from = rank.make_buffer(sender, bytes, seed);
  Buffer to = rank.make_buffer(receiver, bytes, seed + 1);
  const Posted receive = post_receive(rank, receiver, to);
  const Posted send = post_send(rank, sender, from);
  if (receive.request == nullptr || send.request == nullptr) return false;
  const bool passed = finish_both(rank, send.request, receive.request);
  EXPECT_EQ(rank.net().deregister(sender, from.mhandle), abi::kSuccess);
  EXPECT_EQ(rank.net().deregister(receiver, to.mhandle), abi::kSuccess);
  return passed && to.bytes == from.bytes;
}

void* connect_when_possible(Rank& rank, const Handle& handle) {
  const auto end = Clock::now() + std::chrono::seconds(20);
  abi::Result refused = abi::kSuccess;
  void* comm = rank.connect(handle, &refused);
  while (comm == nullptr && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    comm = rank.connect(handle, &refused);
  }
  return comm;
}

Outcome send_until_failure(Rank& rank, void* comm, std::size_t bytes, std::chrono::seconds limit) {
  Buffer from = rank.make_buffer(comm, bytes, 1);
  const auto end = Clock::now() + limit;
  Outcome outcome;
  while (outcome.result == abi::kSuccess && Clock::now() < end) {
    const Posted posted = post_send(rank, comm, from);
    outcome = Outcome{posted.result, false, -1};
    if (posted.request != nullptr) {
      outcome = rank.finish(posted.request, std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()));
    }
  }
  EXPECT_EQ(rank.net().deregister(comm, from.mhandle), abi::kSuccess);
  return outcome;
}

}  // namespace cableway::nccl::test
