// Memory in whole pages, shared with nothing else: memory registered with a device is withheld from forked children by
// the page.
#ifndef CABLEWAY_CORE_LINUX_OS_MAPPED_PAGES_H_
#define CABLEWAY_CORE_LINUX_OS_MAPPED_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {

class MappedPages {
 public:
  // At least `bytes`, zero-filled. ResourceExhausted if the kernel has not enough memory.
  static absl::StatusOr<MappedPages> create(std::size_t bytes) {
    void* const start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start != MAP_FAILED) return MappedPages({static_cast<std::byte*>(start), bytes});
    return absl::ResourceExhaustedError(absl::StrCat("no room for ", bytes, " bytes of memory"));
  }

  MappedPages() = default;
  MappedPages(MappedPages&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedPages& operator=(MappedPages&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedPages() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  }

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedPages(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_MAPPED_PAGES_H_
