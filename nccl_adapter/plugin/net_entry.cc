#include "nccl_adapter/plugin/net_entry.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nccl_adapter/abi/result.h"
#include "nccl_adapter/plugin/context.h"
#include "nccl_adapter/process/fork_guard.h"
#include "routing/topology/node_id.h"

namespace cableway::nccl::entry {
namespace {

// Runs `call`, which returns an absl::Status, passes a failure or exception to `log_failure` and converts the status to
// a result.
template <typename LogFailure, typename Call>
abi::Result guarded(LogFailure log_failure, Call call) {
  absl::Status status;
  try {
    status = in_forked_child() ? forked_child_error() : call();
  } catch (const std::exception& error) {
    status = absl::ResourceExhaustedError(error.what());
  }
  if (!status.ok()) log_failure(status);
  return to_result(status);
}

template <typename Call>
abi::Result logged(const Log& log, const char* function, Call call) {
  return guarded([&](const absl::Status& status) { log.warn(absl::StrCat(function, ": ", status.message())); }, call);
}

// For calls that move data: a failed flow logs its reason once.
template <typename Call>
abi::Result logged_by(FlowComm& comm, Call call) {
  const auto log_failure = [&](const absl::Status& status) {
    if (!in_forked_child()) return comm.log_failure(status);
    comm.context().log().warn(std::string(status.message()));
  };
  return guarded(log_failure, call);
}

absl::Status check_device(int dev) {
  if (dev == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("device ", dev, " does not exist; there is one, 0"));
}

int pointers(const host::GpuMemorySupport& gpu_memory) {
  int kinds = abi::kPtrHost;
  if (gpu_memory.peer_memory) kinds |= abi::kPtrCuda;
  if (gpu_memory.dmabuf) kinds |= abi::kPtrDmaBuf;
  return kinds;
}

Context* as_context(void* context) {
  return static_cast<Context*>(context);
}
FlowComm* as_flow(void* comm) {
  return static_cast<FlowComm*>(comm);
}
ListenComm* as_listener(void* comm) {
  return static_cast<ListenComm*>(comm);
}

absl::Status keep_registered(void* comm, const NamedMemory& memory, void** mhandle) {
  absl::StatusOr<MemoryRegion*> region = as_flow(comm)->register_memory(memory);
  if (region.ok()) *mhandle = *region;
  return region.status();
}

abi::Result wrong_number_of_buffers(const FlowComm& comm, const char* function, int n) {
  comm.context().log().warn(absl::StrCat(function, " of ", n, " buffers, but the device accepts at most 1"));
  return abi::kInvalidUsage;
}

}  // namespace

abi::Result init(void** context, std::uint64_t communicator, abi::Logger logger) {
  const Log log(logger);
  return logged(log, "init", [&]() -> absl::Status {
    *context = nullptr;
    absl::StatusOr<std::unique_ptr<Context>> made = Context::create(log, communicator);
    if (!made.ok()) return made.status();
    *context = made->release();
    return absl::OkStatus();
  });
}

abi::Result finalize(void* context) {
  if (in_forked_child()) return abi::kSuccess;
  // NCCL 2.28 also finalizes contexts that failed to initialise.
  delete as_context(context);
  return abi::kSuccess;
}

abi::Result init_legacy(abi::Logger logger) {
  const Log log(logger);
  return logged(log, "init", [&] { return Context::legacy(log).status(); });
}

void* legacy_context() {
  return Context::legacy();
}

abi::Result devices(int* count) {
  *count = 1;
  return abi::kSuccess;
}

abi::Result describe_device(int dev, Device* device) {
  // NCCL passes no logger to this call.
  return logged(Log(nullptr), "getProperties", [&]() -> absl::Status {
    if (absl::Status status = check_device(dev); !status.ok()) return status;
    const absl::StatusOr<std::shared_ptr<const Process>> process = Context::this_process();
    if (!process.ok()) return process.status();
    const Welcome& node = (*process)->node();
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    device->guid = routing::node_id(node.cluster, node.node).value;
    device->speed_mbps = static_cast<int>(std::min(node.rate_mbps, kMax));
    device->ptr_support = pointers((*process)->gpu_memory());
    return absl::OkStatus();
  });
}

abi::Result listen(void* context, int dev, void* handle, void** listen_comm) {
  *listen_comm = nullptr;
  if (context == nullptr) return abi::kInvalidUsage;
  return logged(as_context(context)->log(), "listen", [&]() -> absl::Status {
    if (absl::Status status = check_device(dev); !status.ok()) return status;
    absl::StatusOr<ListenComm*> listener = as_context(context)->listen(handle);
    if (listener.ok()) *listen_comm = *listener;
    return listener.status();
  });
}

abi::Result connect(void* context, int dev, void* handle, void** send_comm, abi::DeviceHandle** device_comm) {
  *send_comm = nullptr;
  if (device_comm != nullptr) *device_comm = nullptr;
  if (context == nullptr) return abi::kInvalidUsage;
  return logged(as_context(context)->log(), "connect", [&]() -> absl::Status {
    if (absl::Status status = check_device(dev); !status.ok()) return status;
    absl::StatusOr<SendComm*> comm = as_context(context)->connect(handle);
    if (comm.ok()) *send_comm = static_cast<FlowComm*>(*comm);
    return comm.status();
  });
}

abi::Result accept(void* listen_comm, void** recv_comm, abi::DeviceHandle** device_comm) {
  *recv_comm = nullptr;
  if (device_comm != nullptr) *device_comm = nullptr;
  ListenComm* listener = as_listener(listen_comm);
  return logged(listener->context().log(), "accept", [&]() -> absl::Status {
    absl::StatusOr<RecvComm*> comm = listener->context().accept(listener);
    if (comm.ok()) *recv_comm = static_cast<FlowComm*>(*comm);
    return comm.status();
  });
}

abi::Result reg_mr(void* comm, void* data, std::size_t size, int type, void** mhandle) {
  *mhandle = nullptr;
  return logged(as_flow(comm)->context().log(), "regMr", [&]() -> absl::Status {
    if (type != abi::kPtrHost && type != abi::kPtrCuda) {
      return absl::InvalidArgumentError(absl::StrCat("memory of type ", type, "; expected 1 (host) or 2 (CUDA)"));
    }
    const auto kind = type == abi::kPtrCuda ? NamedMemory::Kind::kPeer : NamedMemory::Kind::kHost;
    return keep_registered(comm, {.kind = kind, .data = data, .bytes = size}, mhandle);
  });
}

abi::Result reg_mr_dma_buf(void* comm, void* data, std::size_t size, int type, std::uint64_t offset, int fd,
                           void** mhandle) {
  *mhandle = nullptr;
  return logged(as_flow(comm)->context().log(), "regMrDmaBuf", [&]() -> absl::Status {
    if (type != abi::kPtrCuda) {
      return absl::InvalidArgumentError(absl::StrCat("a dmabuf of type ", type, "; expected 2 (CUDA)"));
    }
    if (fd < 0) return absl::InvalidArgumentError(absl::StrCat("the dmabuf's descriptor is ", fd));
    constexpr auto kKind = NamedMemory::Kind::kDmabuf;
    return keep_registered(comm, {.kind = kKind, .data = data, .bytes = size, .fd = fd, .offset = offset}, mhandle);
  });
}

abi::Result dereg_mr(void* comm, void* mhandle) {
  if (in_forked_child()) return abi::kSuccess;
  return logged(as_flow(comm)->context().log(), "deregMr",
                [&] { return as_flow(comm)->deregister_memory(static_cast<MemoryRegion*>(mhandle)); });
}

abi::Result isend(void* send_comm, void* data, std::size_t size, void* mhandle, void** request) {
  *request = nullptr;
  auto* comm = static_cast<SendComm*>(as_flow(send_comm));
  return logged_by(*comm, [&]() -> absl::Status {
    absl::StatusOr<Request*> posted = comm->send(data, size, static_cast<MemoryRegion*>(mhandle));
    if (posted.ok()) *request = *posted;
    return posted.status();
  });
}

abi::Result irecv(void* recv_comm, int n, void** data, std::size_t capacity, void** mhandles, void** request) {
  // From v9 on *request may contain a hint on entry; null means that nothing was posted.
  *request = nullptr;
  auto* comm = static_cast<RecvComm*>(as_flow(recv_comm));
  if (n != 1) return wrong_number_of_buffers(*comm, "irecv", n);
  return logged_by(*comm, [&]() -> absl::Status {
    absl::StatusOr<Request*> posted = comm->receive(data[0], capacity, static_cast<MemoryRegion*>(mhandles[0]));
    if (posted.ok()) *request = *posted;
    return posted.status();
  });
}

abi::Result iflush(void* recv_comm, int n, void** data, int* sizes, void** mhandles, void** request) {
  // A null request means that the flush is done.
  *request = nullptr;
  auto* comm = static_cast<RecvComm*>(as_flow(recv_comm));
  if (n != 1) return wrong_number_of_buffers(*comm, "iflush", n);
  if (sizes[0] == 0) return abi::kSuccess;
  return logged_by(*comm, [&]() -> absl::Status {
    absl::StatusOr<Request*> posted = comm->flush(data[0], static_cast<MemoryRegion*>(mhandles[0]));
    if (posted.ok()) *request = *posted;
    return posted.status();
  });
}

abi::Result test(void* request, int* done, int* sizes) {
  *done = 0;
  auto* pending = static_cast<Request*>(request);
  return logged_by(*pending->comm, [&]() -> absl::Status {
    absl::StatusOr<Completion> completion = pending->comm->test(pending);
    if (!completion.ok()) return completion.status();
    *done = completion->done ? 1 : 0;
    if (completion->done && sizes != nullptr) *sizes = static_cast<int>(completion->bytes);
    return absl::OkStatus();
  });
}

abi::Result close_send(void* send_comm) {
  if (in_forked_child()) return abi::kSuccess;
  const Log log = as_flow(send_comm)->context().log();
  return logged(log, "closeSend", [&] { return as_flow(send_comm)->context().close(as_flow(send_comm)); });
}

abi::Result close_recv(void* recv_comm) {
  if (in_forked_child()) return abi::kSuccess;
  const Log log = as_flow(recv_comm)->context().log();
  return logged(log, "closeRecv", [&] { return as_flow(recv_comm)->context().close(as_flow(recv_comm)); });
}

abi::Result close_listen(void* listen_comm) {
  if (in_forked_child()) return abi::kSuccess;
  const Log log = as_listener(listen_comm)->context().log();
  return logged(log, "closeListen",
                [&] { return as_listener(listen_comm)->context().close(as_listener(listen_comm)); });
}

}  // namespace cableway::nccl::entry
