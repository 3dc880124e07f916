#include "tests/conformance/ranks/silence.h"

#include <signal.h>

#include <memory>
#include <thread>
#include <vector>

#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

using std::chrono::seconds;

constexpr std::size_t kBytes = 16 << 20;  // more than all buffers on the path hold

enum class Silence { kNotPosted, kNotPolled, kStopped };

void be_silent(Rank& rank, Line& test, Silence silence, seconds duration) {
  auto [handle, listener] = rank.listen();
  test.send(to_message(handle));
  void* comm = rank.accept(listener);
  // Created first: both ends start their timers at the message.
  Buffer buffer = rank.make_buffer(comm, kBytes, 5);
  EXPECT_TRUE(receive_message(rank, comm, 1000, 1).done);
  Posted posted;
  if (silence != Silence::kNotPosted) posted = post_receive(rank, comm, buffer);
  test.send("silent");
  // It stops itself: before a signal of another process arrived it could have received everything.
  if (silence == Silence::kStopped) {
    ::raise(SIGSTOP);
  } else {
    std::this_thread::sleep_for(duration);
  }
  if (silence == Silence::kNotPosted) posted = post_receive(rank, comm, buffer);
  ASSERT_NE(posted.request, nullptr);
  EXPECT_TRUE(rank.finish(posted.request, seconds(60)).done);
  EXPECT_TRUE(buffer.bytes == pattern(kBytes, 2));
  EXPECT_THAT(warnings(), testing::IsEmpty());
  test.receive();
}

void send_into_silence(Rank& rank, Line& test, const Handle& handle, seconds duration) {
  void* comm = rank.connect(handle);
  Buffer buffer = rank.make_buffer(comm, kBytes, 2);
  EXPECT_TRUE(send_message(rank, comm, 1000, 1).done);
  void* request = post_send(rank, comm, buffer).request;
  ASSERT_NE(request, nullptr);
  // Half of the time it polls, as NCCL does, and half of the time it is silent, too.
  const Outcome meanwhile = rank.finish(request, duration / 2);
  EXPECT_EQ(meanwhile.result, abi::kSuccess);
  EXPECT_FALSE(meanwhile.done);
  std::this_thread::sleep_for(duration / 2);
  EXPECT_TRUE(rank.finish(request, seconds(60)).done);
  EXPECT_THAT(warnings(), testing::IsEmpty());
  test.receive();
}

}  // namespace

void expect_silence_is_tolerated(int version, seconds duration) {
  World world("a");
  for (const char* node : {"a", "b", "c"}) world.start(node);
  std::vector<std::unique_ptr<RankProcess>> processes;
  std::vector<RankProcess*> stopped;
  for (const char* node : {"b", "c"}) {
    for (const Silence silence : {Silence::kNotPosted, Silence::kNotPolled, Silence::kStopped}) {
      processes.push_back(std::make_unique<RankProcess>(
          world, node, version, [&](Rank& rank, Line& test) { be_silent(rank, test, silence, duration); }));
      RankProcess& receiver = *processes.back();
      const Handle handle = receiver.receive_handle();
      processes.push_back(std::make_unique<RankProcess>(
          world, "a", version, [&](Rank& rank, Line& test) { send_into_silence(rank, test, handle, duration); }));
      EXPECT_EQ(receiver.receive(), "silent");
      if (silence != Silence::kStopped) continue;
      receiver.await_stop();
      stopped.push_back(&receiver);
    }
  }
  std::this_thread::sleep_for(duration);
  for (const RankProcess* process : stopped) process->resume();
  for (const auto& process : processes) process->send("end");
  for (const auto& process : processes) process->finish(seconds(120));
}

}  // namespace cableway::nccl::test
