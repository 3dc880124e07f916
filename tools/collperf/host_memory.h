// HostMemory: the page-aligned buffers of a rank, allocated once for all operations of the run.
//
// Output and staging exist twice, because receives of one operation are posted while the previous one still runs
// (engine.h). Each output is followed by kGuardBytes that are not registered with the plugin.
#ifndef CABLEWAY_TOOLS_COLLPERF_HOST_MEMORY_H_
#define CABLEWAY_TOOLS_COLLPERF_HOST_MEMORY_H_

#include <array>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "sim/workload/schedule.h"
#include "sim/workload/schedule_progress.h"

namespace cableway::collperf {

using workload::Region;

inline constexpr std::uint64_t kGuardBytes = 4096;

inline constexpr int kAreas = 5;

// The area of `region` for the operation with this number.
constexpr int area_of(Region region, std::uint64_t operation) {
  const int parity = static_cast<int>(operation % workload::kOperationsOpen);
  switch (region) {
    case Region::kInput:
      return 0;
    case Region::kOutput:
      return 1 + parity;
    case Region::kStaging:
      return 3 + parity;
  }
  return 0;
}

class HostMemory {
 public:
  struct Area {
    std::uint8_t* data = nullptr;
    std::uint64_t bytes = 0;         // registered and used
    std::uint64_t mapped_bytes = 0;  // with the guard
  };

  static absl::StatusOr<HostMemory> allocate(std::uint64_t input, std::uint64_t output, std::uint64_t staging);

  HostMemory(HostMemory&& other) noexcept : areas_(std::exchange(other.areas_, {})) {}
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory();

  const Area& area(int index) const { return areas_[static_cast<std::size_t>(index)]; }

 private:
  HostMemory() = default;

  std::array<Area, kAreas> areas_{};
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_HOST_MEMORY_H_
