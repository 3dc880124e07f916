#include "core/linux/os/folder_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {
namespace {

using boost::system::error_code;

constexpr int kMaxReadsPerTurn = 16;

}  // namespace

struct FolderWatch::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, UniqueFd fd, std::function<void()> on_change)
      : notifications(io, fd.release()), changed(std::move(on_change)) {}

  boost::asio::posix::stream_descriptor notifications;
  std::function<void()> changed;

  void wait();
  bool drain();
};

void FolderWatch::State::wait() {
  notifications.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [weak = weak_from_this()](error_code stopped) {
                             const auto self = weak.lock();
                             if (stopped || !self || !self->changed) return;
                             if (self->drain()) self->wait();
                             // A copy, because the call may destroy the watch.
                             const auto call = self->changed;
                             call();
                           });
}

// False: no more events will arrive.
bool FolderWatch::State::drain() {
  alignas(inotify_event) std::array<char, 4096> bytes{};
  for (int reads = 0; reads < kMaxReadsPerTurn; ++reads) {
    const ssize_t got =
        uninterrupted([&] { return ::read(notifications.native_handle(), bytes.data(), bytes.size()); });
    if (got <= 0) return got < 0 && errno == EAGAIN;
  }
  return true;
}

absl::StatusOr<std::unique_ptr<FolderWatch>> FolderWatch::start(boost::asio::io_context& io, const std::string& folder,
                                                                std::function<void()> changed) {
  UniqueFd fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot watch ", folder));
  constexpr std::uint32_t kWhat = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR;
  if (::inotify_add_watch(fd.get(), folder.c_str(), kWhat) < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot watch ", folder));
  }
  auto state = std::make_shared<State>(io, std::move(fd), std::move(changed));
  state->wait();
  return std::unique_ptr<FolderWatch>(new FolderWatch(std::move(state)));
}

FolderWatch::FolderWatch(std::shared_ptr<State> state) : state_(std::move(state)) {}

FolderWatch::~FolderWatch() {
  state_->changed = nullptr;
  state_->notifications.close();
}

}  // namespace cableway::host
