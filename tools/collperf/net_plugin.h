// NetPlugin: a loaded NCCL net plugin behind one interface, for every version of the function table.
//
// The calls and their rules are NCCL's own (nccl_adapter/abi/net_abi.h); differences between the versions are hidden.
// Data calls (isend, irecv, test) return NCCL's plain result codes; result_error() turns one into a status with a
// readable message.
#ifndef CABLEWAY_TOOLS_COLLPERF_NET_PLUGIN_H_
#define CABLEWAY_TOOLS_COLLPERF_NET_PLUGIN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nccl_adapter/abi/net_abi.h"

namespace cableway::collperf {

struct DeviceProperties {
  std::string name;
  std::string pci_path;
  std::uint64_t guid = 0;
  int ptr_support = 0;
  int speed_mbps = 0;
  float latency_us = 0;
  int max_comms = 0;
  int max_recvs = 0;
};

class NetPlugin {
 public:
  virtual ~NetPlugin() = default;

  virtual int abi_version() const = 0;
  virtual std::string name() const = 0;

  // This object stores the plugin's context from init() and passes it back. finalize() does nothing before v11.
  virtual nccl::abi::Result init(std::uint64_t comm_id, nccl::abi::Logger logger) = 0;
  virtual nccl::abi::Result finalize() = 0;
  virtual nccl::abi::Result devices(int* count) = 0;
  virtual nccl::abi::Result get_properties(int device, DeviceProperties* properties) = 0;
  // Does nothing if the plugin has no such function.
  virtual nccl::abi::Result set_net_attr(nccl::abi::NetAttr* attr) = 0;

  virtual nccl::abi::Result listen(int device, void* handle, void** listen_comm) = 0;
  virtual nccl::abi::Result connect(int device, void* handle, void** send_comm) = 0;
  virtual nccl::abi::Result accept(void* listen_comm, void** recv_comm) = 0;
  virtual nccl::abi::Result register_host_memory(void* comm, void* data, std::size_t bytes, void** mhandle) = 0;
  virtual nccl::abi::Result deregister(void* comm, void* mhandle) = 0;
  virtual nccl::abi::Result close_send(void* comm) = 0;
  virtual nccl::abi::Result close_recv(void* comm) = 0;
  virtual nccl::abi::Result close_listen(void* comm) = 0;

  virtual nccl::abi::Result isend(void* comm, void* data, std::size_t bytes, void* mhandle, void** request) = 0;
  // From v9 on, *request on entry is a hint to the plugin. One buffer: no grouped receives.
  virtual nccl::abi::Result irecv(void* comm, void* data, std::size_t bytes, void* mhandle, void** request) = 0;
  virtual nccl::abi::Result test(void* request, int* done, int* sizes) = 0;
};

// A NetPlugin over `table`, the data object that a library exports as ncclNetPlugin_v<version>. Fails if the version is
// not 8 to 12, or the table lacks a function that NCCL calls without a check.
absl::StatusOr<std::unique_ptr<NetPlugin>> wrap_plugin_table(int version, const void* table);

// "isend to rank 2 (channel 0) failed: remote error (6); the plugin's last warning: ...".
absl::Status result_error(nccl::abi::Result result, const std::string& what);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_NET_PLUGIN_H_
