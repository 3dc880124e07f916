#include "tools/collperf/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace cableway::collperf {

absl::StatusOr<HostMemory> HostMemory::allocate(std::uint64_t input, std::uint64_t output, std::uint64_t staging) {
  HostMemory memory;
  // Empty operations send empty messages, which need registered memory as well.
  input = std::max<std::uint64_t>(input, 1);
  output = std::max<std::uint64_t>(output, 1);
  const std::array<std::uint64_t, kAreas> sizes = {input, output, output, staging, staging};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint64_t mapped = sizes[i] + kGuardBytes;
    void* const data = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot allocate a buffer of ", mapped,
                                                       " bytes: ", std::generic_category().message(errno),
                                                       "; choose smaller --sizes"));
    }
    memory.areas_[i] = {static_cast<std::uint8_t*>(data), sizes[i], mapped};
  }
  return memory;
}

HostMemory::~HostMemory() {
  for (const Area& area : areas_) {
    if (area.data != nullptr) munmap(area.data, area.mapped_bytes);
  }
}

}  // namespace cableway::collperf
