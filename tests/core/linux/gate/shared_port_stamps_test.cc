#include "core/linux/gate/shared_port_stamps.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "core/gate/port_stamps.h"

namespace cableway::host {
namespace {

constexpr Instant kSomeTime{std::chrono::hours(5)};

std::unique_ptr<SharedPortStamps> of_a_node() {
  return SharedPortStamps::create().value();
}
std::unique_ptr<SharedPortStamps> of_a_process() {
  return SharedPortStamps::create_unshared().value();
}

// A file such as a faulty node might pass.
UniqueFd file_with(off_t bytes, int seals) {
  UniqueFd file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(file.get(), bytes), 0);
  EXPECT_EQ(::fcntl(file.get(), F_ADD_SEALS, seals), 0);
  return file;
}

bool in_use(SharedPortStamps& stamps) {
  return EgressPort(stamps.page(), "eth1").in_use_until(kSomeTime) > kSomeTime;
}

TEST(SharedPortStamps, WhatOneStampsAllSee) {
  const auto node = of_a_node();
  const auto first = of_a_process();
  const auto second = of_a_process();
  ASSERT_TRUE(first->adopt(node->file()).ok());
  ASSERT_TRUE(second->adopt(node->file()).ok());
  EXPECT_TRUE(first->is_shared());
  EgressPort(first->page(), "eth1").use(kSomeTime, std::chrono::milliseconds(1));
  EXPECT_TRUE(in_use(*node));
  EXPECT_TRUE(in_use(*second));
}

// A circuit keeps its port for as long as it lives, and the node may be another one by then.
TEST(SharedPortStamps, ARestartedNodesPageTakesThePlaceOfTheOldOne) {
  const auto process = of_a_process();
  const EgressPort port(process->page(), "eth1");
  ASSERT_TRUE(process->adopt(of_a_node()->file()).ok());
  const auto restarted = of_a_node();
  ASSERT_TRUE(process->adopt(restarted->file()).ok());
  port.use(kSomeTime, std::chrono::milliseconds(1));
  EXPECT_TRUE(in_use(*restarted));
}

TEST(SharedPortStamps, AProcessWithoutAPageOfANodeSharesNothing) {
  const auto node = of_a_node();
  const auto process = of_a_process();
  EXPECT_FALSE(process->is_shared());
  EgressPort(node->page(), "eth1").use(kSomeTime, std::chrono::milliseconds(1));
  EXPECT_FALSE(in_use(*process));
}

// Access to a page that its owner may cut off, or made read-only, would end the process.
TEST(SharedPortStamps, RefusesWhatIsNoSealedPage) {
  const auto node = of_a_node();
  const auto process = of_a_process();
  ASSERT_TRUE(process->adopt(node->file()).ok());
  EXPECT_TRUE(absl::IsNotFound(process->adopt(UniqueFd())));
  EXPECT_FALSE(process->is_shared());
  const UniqueFd files[] = {file_with(sizeof(PortStampPage), 0), file_with(100, F_SEAL_SHRINK),
                            file_with(2 * sizeof(PortStampPage), F_SEAL_SHRINK),
                            file_with(sizeof(PortStampPage), F_SEAL_SHRINK | F_SEAL_WRITE),
                            UniqueFd(::eventfd(0, EFD_CLOEXEC))};
  for (const UniqueFd& file : files) EXPECT_TRUE(absl::IsInvalidArgument(process->adopt(file)));
  EgressPort(process->page(), "eth1").use(kSomeTime, std::chrono::milliseconds(1));  // the page is still there
}

TEST(SharedPortStamps, TheFileCannotBeResized) {
  const auto node = of_a_node();
  EXPECT_NE(::ftruncate(node->file().get(), 0), 0);
  EXPECT_NE(::ftruncate(node->file().get(), 2 * sizeof(PortStampPage)), 0);
}

}  // namespace
}  // namespace cableway::host
