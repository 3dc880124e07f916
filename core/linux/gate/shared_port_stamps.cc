#include "core/linux/gate/shared_port_stamps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

constexpr std::size_t kBytes = sizeof(PortStampPage);
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr int kReadOnly = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
constexpr unsigned kNoExecution = 8;  // MFD_NOEXEC_SEAL, which the headers of Debian 12 lack

absl::StatusOr<PortStampPage*> map(int file) {
  const int flags = MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0);
  void* const mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (mapped == MAP_FAILED) return absl::ErrnoToStatus(errno, "cannot map the page of port stamps");
  return static_cast<PortStampPage*>(mapped);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedPortStamps>> SharedPortStamps::create() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int made = ::memfd_create("cableway-port-stamps", kFlags | kNoExecution);
  // Kernels before 6.3 do not know that flag; later ones may require it (vm.memfd_noexec).
  if (made < 0 && errno == EINVAL) made = ::memfd_create("cableway-port-stamps", kFlags);
  UniqueFd file(made);
  if (!file.valid() || ::ftruncate(file.get(), kBytes) != 0 || ::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make the page of port stamps");
  }
  absl::StatusOr<PortStampPage*> page = map(file.get());
  if (!page.ok()) return page.status();
  return std::unique_ptr<SharedPortStamps>(new SharedPortStamps(std::move(file), *page));
}

absl::StatusOr<std::unique_ptr<SharedPortStamps>> SharedPortStamps::create_unshared() {
  absl::StatusOr<PortStampPage*> page = map(-1);
  if (!page.ok()) return page.status();
  return std::unique_ptr<SharedPortStamps>(new SharedPortStamps(UniqueFd(), *page));
}

SharedPortStamps::~SharedPortStamps() {
  ::munmap(page_, kBytes);
}

absl::Status SharedPortStamps::adopt(const UniqueFd& file) {
  is_shared_ = false;
  if (!file.valid()) return absl::NotFoundError("the node has passed no page of port stamps");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return absl::ErrnoToStatus(errno, "the node's page of port stamps");
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  const bool is_sealed = seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && (seals & kReadOnly) == 0;
  if (status.st_size != static_cast<off_t>(kBytes) || !is_sealed) {
    return absl::InvalidArgumentError(
        absl::StrCat("the node's page of port stamps is not a sealed file of ", kBytes, " bytes"));
  }
  absl::StatusOr<PortStampPage*> page = map(file.get());
  if (!page.ok()) return page.status();
  if (::mremap(*page, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, page_) == MAP_FAILED) {
    absl::Status failed = absl::ErrnoToStatus(errno, "cannot move the page of port stamps");
    ::munmap(*page, kBytes);
    return failed;
  }
  is_shared_ = true;
  return absl::OkStatus();
}

}  // namespace cableway::host
