#include "core/linux/ports/rdma_watch.h"

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/rdma/verbs_devices.h"

namespace cableway::host {
namespace {

using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFirstPause{1};
constexpr std::chrono::seconds kMaxPause{32};
constexpr std::size_t kMaxEventsPerTurn = 64;

bool is_reported(VerbsEvent::Kind kind) {
  return kind == VerbsEvent::Kind::kPortError || kind == VerbsEvent::Kind::kPortActive ||
         kind == VerbsEvent::Kind::kGidChange || kind == VerbsEvent::Kind::kDeviceFatal;
}

// Devices report a change of addresses once for each address, some even twice.
void add_once(VerbsEvent event, std::vector<VerbsEvent>& events) {
  const bool known = std::any_of(events.begin(), events.end(), [&](const VerbsEvent& each) {
    return each.kind == event.kind && each.port == event.port;
  });
  if (event.kind != VerbsEvent::Kind::kGidChange || !known) events.push_back(std::move(event));
}

class OpenVerbsDevice final : public RdmaWatch::Device {
 public:
  explicit OpenVerbsDevice(std::shared_ptr<VerbsDevice> device) : device_(std::move(device)) {}
  ~OpenVerbsDevice() override {
    if (device_->is_lost() || device_->is_removed()) VerbsDevices::of_this_process().give_up(device_);
  }

  int events_fd() const override { return device_->events_fd(); }
  std::optional<VerbsEvent> next_event() override { return device_->next_event(); }
  absl::StatusOr<std::uint32_t> active_mtu(std::uint8_t port) const override { return device_->active_mtu(port); }

 private:
  const std::shared_ptr<VerbsDevice> device_;
};

}  // namespace

RdmaWatch::Open open_verbs_devices() {
  return [](const std::string& name) -> absl::StatusOr<std::unique_ptr<RdmaWatch::Device>> {
    absl::StatusOr<VerbsDevices::Numbered> opened = VerbsDevices::of_this_process().open(name);
    if (!opened.ok()) return opened.status();
    return std::unique_ptr<RdmaWatch::Device>(std::make_unique<OpenVerbsDevice>(std::move(opened->device)));
  };
}

struct RdmaWatch::State : std::enable_shared_from_this<State> {
  // One device: open and followed, or in trouble.
  struct Followed {
    explicit Followed(boost::asio::io_context& io) : readable(io), read_pause(io) {}
    ~Followed() { close(); }

    void close() {
      read_pause.cancel();
      // The device closes the descriptor, so readable must not.
      if (readable.is_open()) readable.release();
      device.reset();
    }

    std::unique_ptr<Device> device;
    boost::asio::posix::stream_descriptor readable;
    boost::asio::steady_timer read_pause;
    std::string trouble;
    std::chrono::seconds pause = kFirstPause;
    Clock::time_point again = Clock::time_point::min();  // earliest time of the next attempt
    bool timed = true;                                   // retried by timer
  };
  using Entry = std::pair<const std::string, std::shared_ptr<Followed>>;

  State(boost::asio::io_context& context, Open open_device, OnEvents report_events)
      : io(context), open(std::move(open_device)), on_events(std::move(report_events)), retry(context) {}

  boost::asio::io_context& io;
  const Open open;
  OnEvents on_events;
  boost::asio::steady_timer retry;
  std::map<std::string, std::shared_ptr<Followed>> followed;

  bool try_open(Entry& entry);
  void defer(Followed& device, std::string trouble);
  void wait(const Entry& entry);
  void woken(const std::string& name, const std::shared_ptr<Followed>& device);
  void pause_reading(const std::string& name, const std::shared_ptr<Followed>& device);
  void arm_retry();
  void retry_due();
  void report(const std::string& name, const std::vector<VerbsEvent>& events);
};

bool RdmaWatch::State::try_open(Entry& entry) {
  Followed& device = *entry.second;
  absl::StatusOr<std::unique_ptr<Device>> opened = open(entry.first);
  if (!opened.ok()) {
    device.timed = !absl::IsNotFound(opened.status());
    defer(device, std::string(opened.status().message()));
    return false;
  }
  device.device = *std::move(opened);
  error_code refused;
  device.readable.assign(device.device->events_fd(), refused);
  if (refused) {
    device.device.reset();
    defer(device, absl::StrCat("RDMA device ", entry.first, " cannot be polled: ", refused.message()));
    return false;
  }
  device.trouble.clear();
  device.pause = kFirstPause;
  device.timed = true;
  wait(entry);
  return true;
}

void RdmaWatch::State::defer(Followed& device, std::string trouble) {
  device.trouble = std::move(trouble);
  device.again = Clock::now() + device.pause;
  device.pause = std::min(2 * device.pause, kMaxPause);
}

void RdmaWatch::State::wait(const Entry& entry) {
  entry.second->readable.async_wait(
      boost::asio::posix::stream_descriptor::wait_read,
      [weak = weak_from_this(), name = entry.first, device = std::weak_ptr(entry.second)](error_code stopped) {
        const auto self = weak.lock();
        const auto still = device.lock();
        if (stopped || !self || !still || still->device == nullptr) return;
        self->woken(name, still);
      });
}

void RdmaWatch::State::woken(const std::string& name, const std::shared_ptr<Followed>& device) {
  std::vector<VerbsEvent> events;
  std::size_t read = 0;
  for (; read < kMaxEventsPerTurn && device->device != nullptr; ++read) {
    std::optional<VerbsEvent> event = device->device->next_event();
    if (!event) break;
    if (event->kind == VerbsEvent::Kind::kDeviceFatal) {
      device->close();
      defer(*device, absl::StrCat(event->words, ": it has failed and has not recovered yet"));
      arm_retry();
    }
    if (is_reported(event->kind)) add_once(*std::move(event), events);
  }
  if (device->device != nullptr) read == 0 ? pause_reading(name, device) : wait({name, device});
  if (!events.empty()) report(name, events);
}

// Pauses: a descriptor that is readable but has no events must not keep the thread busy.
void RdmaWatch::State::pause_reading(const std::string& name, const std::shared_ptr<Followed>& device) {
  device->read_pause.expires_after(kFirstPause);
  device->read_pause.async_wait([weak = weak_from_this(), name, of = std::weak_ptr(device)](error_code stopped) {
    const auto self = weak.lock();
    const auto still = of.lock();
    if (stopped || !self || !still || still->device == nullptr) return;
    self->wait({name, still});
  });
}

void RdmaWatch::State::arm_retry() {
  Clock::time_point first = Clock::time_point::max();
  for (const auto& [name, device] : followed) {
    if (device->device == nullptr && device->timed) first = std::min(first, device->again);
  }
  if (first == Clock::time_point::max()) {
    retry.cancel();
    return;
  }
  retry.expires_at(first);
  retry.async_wait([weak = weak_from_this()](error_code stopped) {
    const auto self = weak.lock();
    if (!stopped && self) self->retry_due();
  });
}

void RdmaWatch::State::retry_due() {
  std::vector<std::string> back;
  for (Entry& entry : followed) {
    const Followed& device = *entry.second;
    if (device.device != nullptr || !device.timed || device.again > Clock::now()) continue;
    if (try_open(entry)) back.push_back(entry.first);
  }
  arm_retry();
  for (const std::string& name : back) report(name, {});
}

void RdmaWatch::State::report(const std::string& name, const std::vector<VerbsEvent>& events) {
  if (!on_events) return;
  // A copy, because the call may destroy the watch.
  const auto self = shared_from_this();
  const OnEvents call = on_events;
  call(name, events);
}

RdmaWatch::RdmaWatch(boost::asio::io_context& io, Open open, OnEvents on_events)
    : state_(std::make_shared<State>(io, std::move(open), std::move(on_events))) {}

RdmaWatch::~RdmaWatch() {
  state_->on_events = nullptr;
  state_->retry.cancel();
  state_->followed.clear();
}

void RdmaWatch::follow(const std::set<std::string>& devices) {
  std::erase_if(state_->followed, [&](const auto& entry) { return !devices.contains(entry.first); });
  for (const std::string& name : devices) {
    if (!state_->followed.contains(name)) state_->followed[name] = std::make_shared<State::Followed>(state_->io);
  }
  for (State::Entry& entry : state_->followed) {
    const State::Followed& each = *entry.second;
    if (each.device == nullptr && (!each.timed || each.again <= Clock::now())) state_->try_open(entry);
  }
  state_->arm_retry();
}

std::string RdmaWatch::trouble(const std::string& device) const {
  const auto found = state_->followed.find(device);
  return found == state_->followed.end() ? "" : found->second->trouble;
}

std::uint32_t RdmaWatch::active_mtu(const std::string& device, std::uint8_t port) const {
  const auto found = state_->followed.find(device);
  if (found == state_->followed.end() || found->second->device == nullptr) return 0;
  return found->second->device->active_mtu(port).value_or(0);
}

}  // namespace cableway::host
