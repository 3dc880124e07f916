#include "core/linux/os/own_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <functional>

#include "core/linux/os/unique_fd.h"

namespace cableway::host {
namespace {

std::array<UniqueFd, 2> socket_pair() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

// Whether `check` holds in a child.
bool in_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(OwnDescriptorsTest, AChildClosesRegisteredDescriptorsOnly) {
  const auto [noted, other] = socket_pair();
  note_own_socket(noted.get());
  EXPECT_TRUE(in_child([first = noted.get(), second = other.get()] {
    close_own_descriptors();
    return !is_open(first) && is_open(second);
  }));
  // The parent's connection is still up.
  EXPECT_EQ(::send(noted.get(), "x", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(::recv(other.get(), &byte, 1, 0), 1);
}

TEST(OwnDescriptorsTest, AChildsOwnFileUnderARegisteredNumberStaysOpenInItsChild) {
  const UniqueFd noted(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const OwnDescriptor own(noted.get(), OwnDescriptor::Mapped::kYes);
  EXPECT_TRUE(in_child([number = noted.get()] {
    close_own_descriptors();
    if (::open("/dev/zero", O_RDWR | O_CLOEXEC) != number) return false;
    void* const mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
    return mapped != MAP_FAILED && in_child([number, mapped] {
             close_own_descriptors();
             return is_open(number) && *static_cast<volatile char*>(mapped) == 0;
           });
  }));
}

TEST(OwnDescriptorsTest, TheEndOfAConnectionIsSeenWhileTheChildLives) {
  auto [noted, other] = socket_pair();
  note_own_socket(noted.get());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close_own_descriptors();
    // Until the parent is done with its other end.
    ::pause();
  }
  noted.reset();
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(other.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  EXPECT_EQ(::recv(other.get(), &byte, 1, 0), 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(OwnDescriptorsTest, AReusedNumberStaysOpen) {
  auto [noted, other] = socket_pair();
  const int number = noted.get();
  note_own_socket(number);
  noted.reset();
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(file.get(), number) << "the lowest free number is given next";
  EXPECT_TRUE(in_child([number] {
    close_own_descriptors();
    return is_open(number);
  }));
  const auto [another, peer] = socket_pair();
  ASSERT_GE(another.get(), 0);
  EXPECT_TRUE(in_child([first = another.get(), second = peer.get()] {
    close_own_descriptors();
    return is_open(first) && is_open(second);
  }));
}

TEST(OwnDescriptorsTest, OtherFilesAreNotRegisteredAsSockets) {
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  note_own_socket(file.get());
  note_own_socket(-1);
  EXPECT_TRUE(in_child([number = file.get()] {
    close_own_descriptors();
    return is_open(number);
  }));
}

TEST(OwnDescriptorsTest, OtherDescriptorsAreClosedWhileRegistered) {
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd other(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto closes_it = [first = file.get(), second = other.get()] {
    close_own_descriptors();
    return !is_open(first) && is_open(second);
  };
  {
    const OwnDescriptor noted(file.get());
    EXPECT_TRUE(in_child(closes_it));
    EXPECT_TRUE(is_open(file.get())) << "in the parent";
  }
  EXPECT_FALSE(in_child(closes_it));
}

// A new file, mapped entirely.
struct MappedFile {
  MappedFile() {
    EXPECT_EQ(::ftruncate(file.get(), kBytes), 0);
    bytes = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    EXPECT_NE(bytes, MAP_FAILED);
  }
  ~MappedFile() { ::munmap(bytes, kBytes); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool is_mapped() const { return ::msync(bytes, kBytes, MS_ASYNC) == 0; }

  static constexpr std::size_t kBytes = 65536;
  UniqueFd file{::memfd_create("mapped", MFD_CLOEXEC)};
  void* bytes = nullptr;
};

TEST(OwnDescriptorsTest, AChildsMappingsOfThemAreRemoved) {
  const MappedFile own;
  const MappedFile own_but_for_that;
  const MappedFile other;
  void* const again = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, own.file.get(), 4096);
  const OwnDescriptor noted(own.file.get(), OwnDescriptor::Mapped::kYes);
  const OwnDescriptor only_closed(own_but_for_that.file.get());
  ASSERT_TRUE(own.is_mapped());
  EXPECT_TRUE(in_child([&] {
    close_own_descriptors();
    return !own.is_mapped() && ::msync(again, 4096, MS_ASYNC) != 0 && !is_open(own.file.get());
  }));
  EXPECT_TRUE(in_child([&] {
    close_own_descriptors();
    return own_but_for_that.is_mapped() && other.is_mapped() && is_open(other.file.get());
  }));
  EXPECT_TRUE(own.is_mapped()) << "in the parent";
  ::munmap(again, 4096);
}

}  // namespace
}  // namespace cableway::host
