#include "core/linux/own_sockets.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cableway::linux_ {
namespace {

// As many descriptors as Linux gives a process by default at most (fs.nr_open).
constexpr std::size_t kMaxDescriptors = 1U << 20;

// The inode of the socket that was last noted under each number, 0: none. The kernel counts sockets' inodes up, so a
// number that has been given to something else is told from the one that was noted. Pages that no descriptor has
// touched take no memory.
std::array<std::atomic<std::uint64_t>, kMaxDescriptors> noted_inodes;
std::atomic<std::size_t> noted_end = 0;

std::uint64_t socket_inode(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) return 0;
  return status.st_ino;
}

}  // namespace

void note_own_socket(int socket) {
  const auto number = static_cast<std::size_t>(socket);
  if (socket < 0 || number >= kMaxDescriptors) return;
  noted_inodes[number].store(socket_inode(socket), std::memory_order_relaxed);
  std::size_t end = noted_end.load(std::memory_order_relaxed);
  while (end <= number && !noted_end.compare_exchange_weak(end, number + 1, std::memory_order_relaxed)) {
  }
}

void close_own_sockets() {
  const std::size_t end = noted_end.load(std::memory_order_relaxed);
  for (std::size_t number = 0; number < end; ++number) {
    const std::uint64_t inode = noted_inodes[number].load(std::memory_order_relaxed);
    const int fd = static_cast<int>(number);
    if (inode != 0 && socket_inode(fd) == inode) ::close(fd);
  }
}

}  // namespace cableway::linux_
