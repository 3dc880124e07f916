#include "tests/core/linux/network_namespace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace cableway::host::test {
namespace {

std::string become_root_of_a_user_namespace() {
  const auto user = ::geteuid();
  const auto group = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) return absl::StrCat("no user namespaces here: ", std::strerror(errno));
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  return "";
}

std::string prepare() {
#ifdef CABLEWAY_EMULATED
  return "the emulator does not support netlink well enough";
#endif
  if (std::system("PATH=$PATH:/usr/sbin:/sbin ip -V >/dev/null 2>&1") != 0) return "no iproute2 here";
  const UniqueFd before(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (::geteuid() != 0) {
    if (std::string why = become_root_of_a_user_namespace(); !why.empty()) return why;
  }
  if (::unshare(CLONE_NEWNET) != 0) return absl::StrCat("no network namespaces here: ", std::strerror(errno));
  // May fail in a process that is not root: then the tests continue from this empty namespace.
  static_cast<void>(::setns(before.get(), CLONE_NEWNET));
  return "";
}

void run_lines(const std::string& tool, const std::string& lines) {
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    const std::string command = absl::StrCat(tool, " ", line);
    EXPECT_EQ(std::system(absl::StrCat("PATH=$PATH:/usr/sbin:/sbin ", command).c_str()), 0) << command;
  }
}

UniqueFd this_namespace() {
  return UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
}

}  // namespace

std::string why_no_network_namespaces() {
  static const std::string why = prepare();
  return why;
}

NetworkNamespace::NetworkNamespace() : before_(this_namespace()) {
  EXPECT_EQ(::unshare(CLONE_NEWNET), 0) << std::strerror(errno);
  self_ = this_namespace();
  ip("link set lo up");
}

NetworkNamespace::~NetworkNamespace() {
  static_cast<void>(::setns(before_.get(), CLONE_NEWNET));
}

void NetworkNamespace::enter() const {
  EXPECT_EQ(::setns(self_.get(), CLONE_NEWNET), 0) << std::strerror(errno);
}

std::string NetworkNamespace::path() const {
  return absl::StrCat("/proc/", ::getpid(), "/fd/", self_.get());
}

void ip(const std::string& lines) {
  run_lines("ip", lines);
}

void tc(const std::string& lines) {
  run_lines("tc", lines);
}

void wait_until_running(const std::string& interface) {
  const UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (::ioctl(any.get(), SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << interface << " does not come up";
    ::usleep(1000);
  }
}

void set_sysctl(const std::string& name, const std::string& value) {
  std::ofstream file(absl::StrCat("/proc/sys/net/", name));
  file << value << std::flush;
  EXPECT_TRUE(file.good()) << name;
}

bool runs_until(boost::asio::io_context& io, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    io.restart();
    io.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace cableway::host::test
