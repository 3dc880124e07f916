#include "tools/cablewayd/systemd_notice.h"

#include <dlfcn.h>
#include <systemd/sd-daemon.h>

#include <cstdint>
#include <cstdlib>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

constexpr char kLibrary[] = "libsystemd.so.0";

// A state is lines of KEY=VALUE.
std::string in_one_line(std::string text) {
  for (char& character : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(character))) character = ' ';
  }
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SystemdNotice>> SystemdNotice::open(boost::asio::io_context& io) {
  const char* const socket = std::getenv("NOTIFY_SOCKET");
  if (socket == nullptr || *socket == '\0') {
    return absl::WrapUnique(new SystemdNotice(io, nullptr, std::chrono::microseconds{0}));
  }
  // Never closed: a process has one, and notifies until it ends.
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return absl::FailedPreconditionError(absl::StrCat("systemd expects notices (NOTIFY_SOCKET is set), but ", kLibrary,
                                                      " cannot be loaded: ", reason == nullptr ? "unknown" : reason,
                                                      ". Install libsystemd0, or use Type=exec in the unit"));
  }
  const auto notify = reinterpret_cast<decltype(&::sd_notify)>(::dlsym(library, "sd_notify"));
  const auto watchdog_enabled =
      reinterpret_cast<decltype(&::sd_watchdog_enabled)>(::dlsym(library, "sd_watchdog_enabled"));
  if (notify == nullptr || watchdog_enabled == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(kLibrary, " lacks sd_notify or sd_watchdog_enabled"));
  }
  std::uint64_t watchdog_us = 0;
  if (watchdog_enabled(0, &watchdog_us) <= 0) watchdog_us = 0;
  return absl::WrapUnique(new SystemdNotice(io, notify, std::chrono::microseconds(watchdog_us)));
}

void SystemdNotice::ready() {
  send("READY=1");
  if (notify_ != nullptr && watchdog_.count() > 0) answer_watchdog();
}

void SystemdNotice::reloading() {
  send("RELOADING=1");
}

void SystemdNotice::stopping(const std::string& reason) {
  send(absl::StrCat("STOPPING=1\nSTATUS=", in_one_line(reason)));
}

void SystemdNotice::send(const std::string& state) {
  if (notify_ != nullptr) static_cast<void>(notify_(0, state.c_str()));
}

// sd_watchdog_enabled(3) recommends half of the time.
void SystemdNotice::answer_watchdog() {
  send("WATCHDOG=1");
  timer_.expires_after(watchdog_ / 2);
  timer_.async_wait([this](boost::system::error_code stopped) {
    if (!stopped) answer_watchdog();
  });
}

}  // namespace cableway
