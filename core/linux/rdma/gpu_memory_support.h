// Whether this host's RDMA devices can access GPU memory directly, without copies through host memory. The devices are
// probed before support is reported.
#ifndef CABLEWAY_CORE_LINUX_RDMA_GPU_MEMORY_SUPPORT_H_
#define CABLEWAY_CORE_LINUX_RDMA_GPU_MEMORY_SUPPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/linux/rdma/verbs_ports.h"
#include "core/settings/settings.h"

namespace cableway::host {

struct GpuMemorySupport {
  bool dmabuf = false;       // by a descriptor of the memory
  bool peer_memory = false;  // by its address, through the kernel's nvidia_peermem module
  std::string why_not;       // why neither works, and what is missing; empty if one works

  bool any() const { return dmabuf || peer_memory; }
};

// The host's files, and how devices are opened. Tests supply their own.
struct GpuMemoryHost {
  VerbsHost verbs;
  std::function<absl::StatusOr<std::shared_ptr<VerbsDevice>>(const std::string& name)> open;  // empty: the process's
};

// The support common to all ports with one of `addresses`, which are all the ports where flows may begin or end. None
// unless transport is verbs: TCP can neither send from nor land in GPU memory, and with auto a hop may use TCP. Every
// device must have read memory over a connection with itself (verbs_flush.h). Takes up to 2 s for each device.
// Callable from any thread, during set-up only.
GpuMemorySupport gpu_memory_support(const std::vector<std::string>& addresses, const Settings& settings,
                                    const GpuMemoryHost& host = {});

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_GPU_MEMORY_SUPPORT_H_
