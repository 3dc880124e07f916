// A forked child keeps nothing of its parent's RDMA devices.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "core/linux/os/own_descriptors.h"
#include "core/linux/os/unique_fd.h"
#include "core/linux/rdma/verbs_queue_pair.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

// How many of these are still open in a child after it has closed the registered ones.
int left_in_child(const std::vector<int>& descriptors) {
  const pid_t child = ::fork();
  if (child == 0) {
    close_own_descriptors();
    ::_exit(static_cast<int>(std::count_if(descriptors.begin(), descriptors.end(), is_open)));
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class VerbsDescriptorsTest : public testing::Test {
 protected:
  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0", VerbsGid{3, {std::byte{0xfe}, std::byte{0x80}}});
};

TEST_F(VerbsDescriptorsTest, AChildKeepsNone) {
  const std::shared_ptr<VerbsDevice> device = verbs_.open(fake_);
  const auto pair = VerbsQueuePair::create(device, fake_.gid, 1, {}).value();
  const std::vector<int> own{device->context()->cmd_fd, device->events_fd(), pair->fd()};
  EXPECT_EQ(left_in_child(own), 0);
  EXPECT_TRUE(std::all_of(own.begin(), own.end(), is_open)) << "in the parent";
}

TEST_F(VerbsDescriptorsTest, APolledQueuePairUsesNone) {
  const std::shared_ptr<VerbsDevice> device = verbs_.open(fake_);
  const int next = UniqueFd(::eventfd(0, EFD_CLOEXEC)).get();
  const auto polled = VerbsQueuePair::create(device, fake_.gid, 1, {}, Idle::kPolls).value();
  EXPECT_EQ(polled->fd(), -1);
  EXPECT_EQ(UniqueFd(::eventfd(0, EFD_CLOEXEC)).get(), next);
  const auto sleeping = VerbsQueuePair::create(device, fake_.gid, 1, {}, Idle::kSleeps).value();
  EXPECT_EQ(sleeping->fd(), next);
}

// Otherwise a child would close later descriptors with the same numbers.
TEST_F(VerbsDescriptorsTest, ClosedDescriptorsAreNoLongerRegistered) {
  std::vector<int> numbers;
  {
    const std::shared_ptr<VerbsDevice> device = verbs_.open(fake_);
    const auto pair = VerbsQueuePair::create(device, fake_.gid, 1, {}).value();
    numbers = {device->context()->cmd_fd, device->events_fd(), pair->fd()};
  }
  std::array<UniqueFd, 3> others;
  std::vector<int> given;
  for (UniqueFd& each : others) {
    each = UniqueFd(::eventfd(0, EFD_CLOEXEC));
    given.push_back(each.get());
  }
  std::sort(numbers.begin(), numbers.end());
  ASSERT_EQ(given, numbers) << "the lowest free numbers are given next";
  EXPECT_EQ(left_in_child(given), 3);
}

}  // namespace
}  // namespace cableway::host
