// RDMA devices whose events a test controls.
#ifndef CABLEWAY_TESTS_CORE_LINUX_FAKE_RDMA_DEVICES_H_
#define CABLEWAY_TESTS_CORE_LINUX_FAKE_RDMA_DEVICES_H_

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/linux/os/unique_fd.h"
#include "core/linux/ports/rdma_watch.h"

namespace cableway::host::test {

class FakeRdmaDevices {
 public:
  struct Device {
    UniqueFd fd{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    std::deque<VerbsEvent> events;
    bool readable_for_ever = false;  // like a broken descriptor
    absl::Status trouble;            // the status of opening it
    int open_now = 0;
    int tries = 0;
    int polls = 0;  // calls of next_event()
  };

  Device& operator[](const std::string& name) { return devices_[name]; }

  void raise(const std::string& name, VerbsEvent::Kind kind, std::uint8_t port = 0) {
    devices_[name].events.push_back({kind, nullptr, port, "RDMA device " + name + ": event"});
    wake(name);
  }
  // Makes its descriptor readable.
  void wake(const std::string& name) {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(devices_[name].fd.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

  // This must outlive it.
  RdmaWatch::Open open() {
    return [this](const std::string& name) -> absl::StatusOr<std::unique_ptr<RdmaWatch::Device>> {
      Device& device = devices_[name];
      ++device.tries;
      if (!device.trouble.ok()) return device.trouble;
      return std::unique_ptr<RdmaWatch::Device>(std::make_unique<Opened>(device));
    };
  }

 private:
  class Opened final : public RdmaWatch::Device {
   public:
    explicit Opened(FakeRdmaDevices::Device& device) : device_(device) { ++device_.open_now; }
    ~Opened() override { --device_.open_now; }

    int events_fd() const override { return device_.fd.get(); }
    std::optional<VerbsEvent> next_event() override {
      ++device_.polls;
      if (device_.events.empty()) {
        std::uint64_t count = 0;
        if (!device_.readable_for_ever) static_cast<void>(!::read(device_.fd.get(), &count, sizeof count));
        return std::nullopt;
      }
      VerbsEvent event = std::move(device_.events.front());
      device_.events.pop_front();
      return event;
    }
    absl::StatusOr<std::uint32_t> active_mtu(std::uint8_t port) const override { return 1024U * port; }

   private:
    FakeRdmaDevices::Device& device_;
  };

  std::map<std::string, Device> devices_;
};

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_FAKE_RDMA_DEVICES_H_
