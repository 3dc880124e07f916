#include "core/linux/tcp/pipe_slot.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/linux/tcp/relay_memory.h"
#include "tests/core/flow/message_buffers.h"
#include "tests/core/linux/tcp/tcp_circuit.h"
#include "tests/core/linux/unprivileged_child.h"

namespace cableway::host {
namespace {

TEST(PipeSlot, HoldsTheRequestedSize) {
  const auto slot = PipeSlot::create(256U << 10);
  ASSERT_TRUE(slot.ok()) << slot.status();
  EXPECT_GE((*slot)->capacity(), 256 << 10);
  EXPECT_NE(::fcntl((*slot)->read_end(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl((*slot)->write_end(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl((*slot)->read_end(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(PipeSlot, GrowsAndShrinks) {
  const auto slot = PipeSlot::create(kFloorPipeBytes);
  ASSERT_TRUE(slot.ok()) << slot.status();
  EXPECT_EQ((*slot)->capacity(), static_cast<int>(kFloorPipeBytes));
  (*slot)->widen();
  EXPECT_EQ((*slot)->capacity(), static_cast<int>(kWidePipeBytes));
  EXPECT_TRUE((*slot)->narrow());
  EXPECT_EQ((*slot)->capacity(), static_cast<int>(kFloorPipeBytes));
}

TEST(PipeSlot, ShrinksOnceItsContentsFit) {
  const auto slot = PipeSlot::create(kWidePipeBytes);
  ASSERT_TRUE(slot.ok()) << slot.status();
  std::vector<std::byte> bytes(kWidePipeBytes);
  ASSERT_EQ(::write((*slot)->write_end(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_FALSE((*slot)->narrow());
  EXPECT_EQ((*slot)->capacity(), static_cast<int>(kWidePipeBytes));
  const std::size_t most = kWidePipeBytes - kFloorPipeBytes;
  ASSERT_EQ(::read((*slot)->read_end(), bytes.data(), most), static_cast<ssize_t>(most));
  EXPECT_TRUE((*slot)->narrow());
  EXPECT_EQ((*slot)->capacity(), static_cast<int>(kFloorPipeBytes));
}

TEST(PipeSlot, DiscardsWhatADeadCircuitLeftInIt) {
  const auto slot = PipeSlot::create(kFloorPipeBytes);
  ASSERT_TRUE(slot.ok()) << slot.status();
  const std::vector<std::byte> left(40000);
  ASSERT_EQ(::write((*slot)->write_end(), left.data(), left.size()), static_cast<ssize_t>(left.size()));
  (*slot)->head_filled = 100;
  (*slot)->filled = 100 + 40000;
  (*slot)->drained = 50;
  EXPECT_EQ((*slot)->in_pipe(), 40000U);
  (*slot)->clear();
  EXPECT_EQ((*slot)->in_pipe(), 0U);
  std::byte one;
  EXPECT_EQ(::read((*slot)->read_end(), &one, 1), -1) << "the pipe is not empty";
}

// The rest runs without root, since root may have pipes of any size.
TEST(PipeSlot, UsesTheLargestPipeThatThisUserMayHave) {
  const long most = test::kernel_setting("/proc/sys/fs/pipe-max-size");
  ASSERT_GT(most, 65536);
  EXPECT_EQ(test::status_of_child([&] {
              const auto slot = PipeSlot::create(static_cast<std::uint32_t>(most) * 8);
              CHILD_REQUIRE(slot.ok());
              CHILD_REQUIRE((*slot)->capacity() == most);
            }),
            0);
}

TEST(PipeSlot, RelaysThroughTheSmallestPipe) {
  const long soft_pages = test::kernel_setting("/proc/sys/fs/pipe-user-pages-soft");
  if (soft_pages == 0) GTEST_SKIP() << "this kernel does not limit pipes (fs.pipe-user-pages-soft is 0)";
  EXPECT_EQ(test::status_of_child([&] {
              // Uses up this user's pages, until the next pipe has the kernel's smallest size.
              std::vector<std::unique_ptr<PipeSlot>> taken;
              do {
                auto slot = PipeSlot::create(1U << 20);
                CHILD_REQUIRE(slot.ok() && taken.size() < 400);
                taken.push_back(*std::move(slot));
              } while (taken.back()->capacity() > 8192);
              test::TcpCircuit circuit(1, 0, 1U << 20);
              FlowSender sender(circuit.source(), 1U << 18);
              FlowReceiver receiver(circuit.destination());
              const cableway::test::SentMessage message(0, 1000000);
              cableway::test::ReceivedMessage landing(1000000);
              CHILD_REQUIRE(receiver.post(landing.landing()).ok());
              CHILD_REQUIRE(sender.post(message.buffer(), message.size()).ok());
              CHILD_REQUIRE(test::run_until([&] { return sender.done(0); },
                                            [&] {
                                              CHILD_REQUIRE(sender.progress().ok());
                                              circuit.relay();
                                              CHILD_REQUIRE(receiver.progress().ok());
                                            }));
              CHILD_REQUIRE(landing.holds(0, 1000000));
            }),
            0);
}

}  // namespace
}  // namespace cableway::host
