// Whether this host's RDMA devices can read and write the memory of GPUs, so that nothing has to be copied through the
// host. Asked of the devices before it is promised to anybody.
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
  bool peer_memory = false;  // by its address, as the kernel's nvidia_peermem module tells the adapter's driver
  std::string why_not;       // neither, and what would have to be otherwise; empty where there is one

  bool any() const { return dmabuf || peer_memory; }
};

// Where to look, and how devices are opened. Tests have their own.
struct GpuMemoryHost {
  VerbsHost verbs;
  std::function<absl::StatusOr<std::shared_ptr<VerbsDevice>>(const std::string& name)> open;  // empty: the process's
};

// What holds for every port with one of `addresses`, which are all that flows may begin or end at. Nothing is promised
// unless transport is verbs: over TCP no GPU's memory can be sent from or landed in, and with auto a hop may turn out
// to be TCP. Every device has to have read memory over a connection with itself (verbs_flush.h). Takes up to 2 s for
// each device. Any thread; set-up only.
GpuMemorySupport gpu_memory_support(const std::vector<std::string>& addresses, const Settings& settings,
                                    const GpuMemoryHost& host = {});

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_GPU_MEMORY_SUPPORT_H_
