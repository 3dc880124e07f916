// The plugin's functions, implemented once, in types independent of the ABI version. The tables of the versions
// (net_v8.cc .. net_v12.cc) are thin shims over these.
//
// Nothing here throws; every failure is logged before it is returned, because NCCL shows the operator only an error
// code.
//
// In a child that was forked after init (fork_guard.h), every call that requests something is refused with
// kInvalidUsage; calls that release something do nothing and succeed, so that destructors at exit do not fail.
#ifndef CABLEWAY_NCCL_ADAPTER_PLUGIN_NET_ENTRY_H_
#define CABLEWAY_NCCL_ADAPTER_PLUGIN_NET_ENTRY_H_

#include <cstddef>
#include <cstdint>

#include "core/flow/frame.h"
#include "nccl_adapter/abi/net_abi.h"

namespace cableway::nccl::entry {

// v11 and later: each communicator has its own context. `communicator`: NCCL's id of it, which the tuner gets, too.
abi::Result init(void** context, std::uint64_t communicator, abi::Logger logger);
abi::Result finalize(void* context);
// v8 to v10: the shared context.
abi::Result init_legacy(abi::Logger logger);
void* legacy_context();

abi::Result devices(int* count);

// One virtual device that hides the ports: NCCL would pair NIC i with NIC i, regardless of the cabling.
struct Device {
  std::uint64_t guid = 0;
  int speed_mbps = 0;
  int ptr_support = abi::kPtrHost;
};
abi::Result describe_device(int dev, Device* device);

abi::Result listen(void* context, int dev, void* handle, void** listen_comm);
abi::Result connect(void* context, int dev, void* handle, void** send_comm, abi::DeviceHandle** device_comm);
abi::Result accept(void* listen_comm, void** recv_comm, abi::DeviceHandle** device_comm);
abi::Result reg_mr(void* comm, void* data, std::size_t size, int type, void** mhandle);
abi::Result reg_mr_dma_buf(void* comm, void* data, std::size_t size, int type, std::uint64_t offset, int fd,
                           void** mhandle);
abi::Result dereg_mr(void* comm, void* mhandle);
abi::Result isend(void* send_comm, void* data, std::size_t size, void* mhandle, void** request);
abi::Result irecv(void* recv_comm, int n, void** data, std::size_t capacity, void** mhandles, void** request);
abi::Result iflush(void* recv_comm, int n, void** data, int* sizes, void** mhandles, void** request);
abi::Result test(void* request, int* done, int* sizes);
abi::Result close_send(void* send_comm);
abi::Result close_recv(void* recv_comm);
abi::Result close_listen(void* listen_comm);

// Fills any version's properties.
template <typename Properties>
abi::Result get_properties(int dev, Properties* properties) {
  Device device;
  if (const abi::Result result = describe_device(dev, &device); result != abi::kSuccess) return result;
  static char name[] = "cableway0";
  *properties = Properties{};
  properties->name = name;
  properties->guid = device.guid;
  properties->ptr_support = device.ptr_support;
  properties->speed = device.speed_mbps;
  properties->port = 1;
  properties->max_comms = 65536;
  properties->max_recvs = 1;
  properties->device_type = abi::kDeviceHost;
  properties->device_version = abi::kDeviceInvalidVersion;
  if constexpr (requires { properties->virtual_device; }) {
    properties->virtual_device.count = 1;
    properties->virtual_device.devices[0] = dev;
    properties->max_p2p_bytes = kMaxMessageBytes;
    properties->max_coll_bytes = kMaxMessageBytes;
  }
  if constexpr (requires { properties->max_multi_request_size; }) properties->max_multi_request_size = 1;
  if constexpr (requires { properties->rail_id; }) {
    properties->rail_id = abi::kRailUndefined;
    properties->plane_id = abi::kPlaneUndefined;
  }
  return abi::kSuccess;
}

}  // namespace cableway::nccl::entry

#endif  // CABLEWAY_NCCL_ADAPTER_PLUGIN_NET_ENTRY_H_
