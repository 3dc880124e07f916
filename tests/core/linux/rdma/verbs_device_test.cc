// Needs an RDMA device, such as that of a soft-RoCE guest; skipped if there is none.
#include "core/linux/rdma/verbs_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/rdma/verbs_devices.h"
#include "tests/core/linux/rdma/verbs_pair.h"

namespace cableway::host {
namespace {

using testing::HasSubstr;

class VerbsDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<test::UsableDevice> usable = test::usable_device();
    if (!usable.ok()) GTEST_SKIP() << usable.status().message();
    device_ = usable->device;
  }

  std::shared_ptr<VerbsDevice> device_;
};

TEST_F(VerbsDeviceTest, NamesAMissingDevice) {
  EXPECT_THAT(VerbsDevice::open("mlx9_9").status().message(), HasSubstr("libibverbs has no RDMA device mlx9_9"));
}

TEST_F(VerbsDeviceTest, IsOpenedOnceByAProcess) {
  VerbsDevices devices;
  EXPECT_FALSE(devices.open("mlx9_9").ok());
  const auto first = devices.open(device_->name());
  const auto second = devices.open(device_->name());
  ASSERT_TRUE(first.ok() && second.ok()) << first.status();
  EXPECT_EQ(first->number, 0U);
  EXPECT_EQ(second->number, 0U);
  EXPECT_EQ(first->device, second->device);
  EXPECT_EQ(devices.opened().size(), 1U);
}

TEST_F(VerbsDeviceTest, AGivenUpDeviceIsReopenedAndClosedAfterItsLastUser) {
  VerbsDevices devices;
  auto first = devices.open(device_->name());
  ASSERT_TRUE(first.ok()) << first.status();
  devices.give_up(first->device);
  EXPECT_TRUE(first->device->is_lost());
  EXPECT_EQ(devices.opened().at(0), nullptr);
  const auto second = devices.open(device_->name());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(second->device, first->device);
  EXPECT_EQ(second->number, 1U) << "the first is still in use";
  const std::weak_ptr<VerbsDevice> closed = first->device;
  first = absl::NotFoundError("let go");
  EXPECT_TRUE(closed.expired());
  devices.give_up(second->device);
  const auto third = devices.open(device_->name());
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(third->number, 0U) << "the first is no longer in use";
}

TEST_F(VerbsDeviceTest, RefusesAMissingPort) {
  EXPECT_FALSE(device_->active_mtu(200).ok());
  EXPECT_FALSE(device_->is_removed());
}

TEST_F(VerbsDeviceTest, RegistersReadOnlyMemory) {
  const MappedPages pages = MappedPages::create(4096).value();
  ASSERT_EQ(::mprotect(pages.bytes().data(), 4096, PROT_READ), 0);
  EXPECT_TRUE(VerbsMemory::add(device_, pages.bytes().data(), 4096, {}).ok());
  EXPECT_FALSE(VerbsMemory::add(device_, pages.bytes().data(), 4096, {.remote_write = true}).ok());
}

TEST_F(VerbsDeviceTest, RelaxedOrderingIsUsedOrIgnored) {
  const MappedPages pages = MappedPages::create(4096).value();
  const auto memory =
      VerbsMemory::add(device_, pages.bytes().data(), 4096, {.remote_write = true, .relaxed_ordering = true});
  EXPECT_TRUE(memory.ok()) << memory.status();
}

TEST_F(VerbsDeviceTest, RefusesAnEmptyRegistration) {
  EXPECT_EQ(VerbsMemory::add(device_, this, 0, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(VerbsDeviceTest, DmabufSupportMatchesRegistration) {
  const auto memory = VerbsMemory::add_dmabuf(device_, -1, 0, 4096, 0, {.remote_write = true});
  EXPECT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code() == absl::StatusCode::kUnimplemented, !device_->supports_dmabuf()) << memory.status();
}

TEST_F(VerbsDeviceTest, ReportsNoEventsByItself) {
  EXPECT_EQ(device_->next_event(), std::nullopt);
  EXPECT_FALSE(device_->is_lost());
  EXPECT_TRUE(device_->health(1).ok());
}

// Changes an address of this host, so it runs only if CABLEWAY_TEST_INTERFACE names the interface behind the device,
// which the test may then change.
TEST_F(VerbsDeviceTest, ReportsAChangedAddressAndAFailedPort) {
  const char* const interface = std::getenv("CABLEWAY_TEST_INTERFACE");
  if (interface == nullptr) GTEST_SKIP() << "the test may not change this host's addresses";
  const auto next = [&](VerbsEvent::Kind kind) -> std::string {
    pollfd waiting{device_->events_fd(), POLLIN, 0};
    while (::poll(&waiting, 1, 10000) == 1) {
      const auto event = device_->next_event();
      if (event.has_value() && event->kind == kind) return event->words;
    }
    return "nothing";
  };
  ASSERT_EQ(std::system(absl::StrCat("ip address add 192.0.2.1/32 dev ", interface).c_str()), 0);
  EXPECT_EQ(next(VerbsEvent::Kind::kGidChange), absl::StrCat("RDMA device ", device_->name(), ": GID table change"));
  EXPECT_GT(device_->gid_changes(), 0U);
  EXPECT_TRUE(device_->health(1).ok());
  ASSERT_EQ(std::system(absl::StrCat("ip address del 192.0.2.1/32 dev ", interface).c_str()), 0);
  ASSERT_EQ(std::system(absl::StrCat("ip link set ", interface, " down").c_str()), 0);
  EXPECT_EQ(next(VerbsEvent::Kind::kPortError), absl::StrCat("RDMA device ", device_->name(), ": port error"));
  EXPECT_EQ(device_->health(1), absl::UnavailableError(absl::StrCat("RDMA device ", device_->name(), ": port error")));
  EXPECT_THAT(device_->active_mtu(1).status().message(), HasSubstr("is not active: its port is in state 1, not 4"));
  ASSERT_EQ(std::system(absl::StrCat("ip link set ", interface, " up").c_str()), 0);
  EXPECT_EQ(next(VerbsEvent::Kind::kPortActive), absl::StrCat("RDMA device ", device_->name(), ": port active"));
  EXPECT_TRUE(device_->health(1).ok());
}

}  // namespace
}  // namespace cableway::host
