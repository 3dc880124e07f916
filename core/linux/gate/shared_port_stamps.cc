#include "core/linux/gate/shared_port_stamps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace cableway::host {
namespace {

constexpr std::size_t kBytes = sizeof(PortStampPage);
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// `at`: null for a new mapping, else what it replaces.
absl::StatusOr<PortStampPage*> map(int file, PortStampPage* at) {
  const int flags = MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0) | (at == nullptr ? 0 : MAP_FIXED);
  void* const mapped = ::mmap(at, kBytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (mapped == MAP_FAILED) return absl::ErrnoToStatus(errno, "cannot map the page of port stamps");
  return static_cast<PortStampPage*>(mapped);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedPortStamps>> SharedPortStamps::create() {
  UniqueFd file(::memfd_create("cableway-port-stamps", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid() || ::ftruncate(file.get(), kBytes) != 0 || ::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make the page of port stamps");
  }
  absl::StatusOr<PortStampPage*> page = map(file.get(), nullptr);
  if (!page.ok()) return page.status();
  return std::unique_ptr<SharedPortStamps>(new SharedPortStamps(std::move(file), *page));
}

absl::StatusOr<std::unique_ptr<SharedPortStamps>> SharedPortStamps::create_unshared() {
  absl::StatusOr<PortStampPage*> page = map(-1, nullptr);
  if (!page.ok()) return page.status();
  return std::unique_ptr<SharedPortStamps>(new SharedPortStamps(UniqueFd(), *page));
}

SharedPortStamps::~SharedPortStamps() {
  ::munmap(page_, kBytes);
}

absl::Status SharedPortStamps::adopt(const UniqueFd& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return absl::ErrnoToStatus(errno, "the node's page of port stamps");
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (status.st_size != static_cast<off_t>(kBytes) || seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return absl::InvalidArgumentError("the node's page of port stamps is not a sealed file of 4096 bytes");
  }
  return map(file.get(), page_).status();
}

}  // namespace cableway::host
