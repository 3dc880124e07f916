#include "core/linux/os/own_descriptors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/linux/os/mapping_reader.h"

namespace cableway::host {
namespace {

// Linux's default limit of descriptors per process (fs.nr_open).
constexpr std::size_t kMaxDescriptors = 1U << 20;

// What was last registered under each descriptor number. For a socket it is the inode: socket inode numbers increase
// monotonically, so a reused descriptor number is distinguished from the registered socket. Other descriptors of one
// kind share an inode, and stay registered until they are closed. Untouched pages of the array use no memory.
constexpr std::uint64_t kNothing = 0;
constexpr std::uint64_t kNotMapped = ~std::uint64_t{0};
constexpr std::uint64_t kMapped = kNotMapped - 1;
std::array<std::atomic<std::uint64_t>, kMaxDescriptors> noted;
std::atomic<std::size_t> noted_end = 0;

void note(int fd, std::uint64_t what) {
  const auto number = static_cast<std::size_t>(fd);
  if (fd < 0 || number >= kMaxDescriptors) return;
  noted[number].store(what, std::memory_order_relaxed);
  std::size_t end = noted_end.load(std::memory_order_relaxed);
  while (end <= number && !noted_end.compare_exchange_weak(end, number + 1, std::memory_order_relaxed)) {
  }
}

std::uint64_t socket_inode(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) return kNothing;
  return status.st_ino;
}

struct OwnFile {
  dev_t device = 0;
  ino_t inode = 0;
};

// Files that may have mappings. The capacity exceeds the number of devices of any process.
class OwnFiles {
 public:
  void add(int fd) {
    struct stat status {};
    if (count_ == files_.size() || ::fstat(fd, &status) != 0 || has(status.st_dev, status.st_ino)) return;
    files_[count_++] = {status.st_dev, status.st_ino};
  }
  bool has(dev_t device, ino_t inode) const {
    return std::any_of(files_.begin(), files_.begin() + static_cast<std::ptrdiff_t>(count_),
                       [&](const OwnFile& each) { return each.device == device && each.inode == inode; });
  }
  bool empty() const { return count_ == 0; }

 private:
  std::array<OwnFile, 64> files_{};
  std::size_t count_ = 0;
};

void unmap(const OwnFiles& files) {
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return;
  MappingReader reader(maps);
  for (Mapping found; reader.next(found);) {
    if (!files.has(found.device, found.inode)) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses are parsed from text here.
    ::munmap(reinterpret_cast<void*>(static_cast<std::uintptr_t>(found.begin)), found.end - found.begin);
  }
  ::close(maps);
}

}  // namespace

void note_own_socket(int socket) {
  note(socket, socket_inode(socket));
}

OwnDescriptor::OwnDescriptor(int fd, Mapped mapped) : fd_(fd) {
  note(fd, mapped == Mapped::kYes ? kMapped : kNotMapped);
}

OwnDescriptor::~OwnDescriptor() {
  note(fd_, kNothing);
}

void close_own_descriptors() {
  OwnFiles mapped;
  const std::size_t end = noted_end.load(std::memory_order_relaxed);
  for (std::size_t number = 0; number < end; ++number) {
    // Cleared here, since a descriptor that reuses the number belongs to this process, also when it forks again.
    const std::uint64_t what = noted[number].exchange(kNothing, std::memory_order_relaxed);
    const int fd = static_cast<int>(number);
    if (what == kMapped) mapped.add(fd);
    if (what == kMapped || what == kNotMapped || (what != kNothing && socket_inode(fd) == what)) ::close(fd);
  }
  // Last, because opening /proc/self/maps may need a descriptor, and now one is free.
  if (!mapped.empty()) unmap(mapped);
}

}  // namespace cableway::host
