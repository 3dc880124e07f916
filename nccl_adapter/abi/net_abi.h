// The function tables of NCCL's network plugin interface, versions 8 to 12: what a plugin exports, as constant data
// objects named ncclNetPlugin_v8 .. ncclNetPlugin_v12 with C linkage, and what NCCL calls through.
//
//   extern "C" __attribute__((visibility("default"))) extern const cableway::nccl::abi::NetV11 ncclNetPlugin_v11;
//
// Contract, as NCCL keeps it (every version):
//  - init, devices, getProperties: called by a communicator's init thread under a process-wide mutex. Up to v10 init
//    runs once per process; from v11 on once per communicator, and finalize(ctx) follows even a failed init.
//  - listen, connect, accept, regMr, regMrDmaBuf, deregMr, close*: called by the communicator's service thread.
//  - isend, irecv, iflush, test: called by its progress thread. Communicators run at the same time.
//  - connect and accept never block: kSuccess with a null comm means "call again"; the handle keeps its bytes between
//    calls.
//  - isend and irecv that cannot start yet return kSuccess with *request null. From v9 on *request may hold
//    kOptionalRecvCompletion on entry to irecv.
//  - test always writes *done; after *done = 1 the request no longer exists. A receive reports its true sizes.
//  - Any result but kSuccess stops the communicator for good.
//
// The members keep NCCL's names, so that they are found in its documentation.
#ifndef CABLEWAY_NCCL_ADAPTER_ABI_NET_ABI_H_
#define CABLEWAY_NCCL_ADAPTER_ABI_NET_ABI_H_

#include "nccl_adapter/abi/net_abi_types.h"

namespace cableway::nccl::abi {

// The symbols under which the tables are exported.
inline constexpr char kNetSymbolV8[] = "ncclNetPlugin_v8";
inline constexpr char kNetSymbolV9[] = "ncclNetPlugin_v9";
inline constexpr char kNetSymbolV10[] = "ncclNetPlugin_v10";
inline constexpr char kNetSymbolV11[] = "ncclNetPlugin_v11";
inline constexpr char kNetSymbolV12[] = "ncclNetPlugin_v12";

struct NetV8 {
  const char* name;
  Result (*init)(Logger logger);
  Result (*devices)(int* count);
  Result (*getProperties)(int dev, PropertiesV8* properties);
  Result (*listen)(int dev, void* handle, void** listen_comm);
  Result (*connect)(int dev, void* handle, void** send_comm, DeviceHandle** device_comm);
  Result (*accept)(void* listen_comm, void** recv_comm, DeviceHandle** device_comm);
  Result (*regMr)(void* comm, void* data, std::size_t size, int type, void** mhandle);
  Result (*regMrDmaBuf)(void* comm, void* data, std::size_t size, int type, std::uint64_t offset, int fd,
                        void** mhandle);  // null without kPtrDmaBuf
  Result (*deregMr)(void* comm, void* mhandle);
  Result (*isend)(void* send_comm, void* data, int size, int tag, void* mhandle, void** request);
  Result (*irecv)(void* recv_comm, int n, void** data, int* sizes, int* tags, void** mhandles, void** request);
  Result (*iflush)(void* recv_comm, int n, void** data, int* sizes, void** mhandles, void** request);
  Result (*test)(void* request, int* done, int* sizes);
  Result (*closeSend)(void* send_comm);
  Result (*closeRecv)(void* recv_comm);
  Result (*closeListen)(void* listen_comm);
  Result (*getDeviceMr)(void* comm, void* mhandle, void** device_mhandle);  // may be null
  Result (*irecvConsumed)(void* recv_comm, int n, void* request);           // may be null
};
static_assert(sizeof(NetV8) == 152 && kIsPlainData<NetV8>);
static_assert(offsetof(NetV8, name) == 0 && offsetof(NetV8, init) == 8);
static_assert(offsetof(NetV8, devices) == 16 && offsetof(NetV8, getProperties) == 24);
static_assert(offsetof(NetV8, listen) == 32 && offsetof(NetV8, connect) == 40);
static_assert(offsetof(NetV8, accept) == 48 && offsetof(NetV8, regMr) == 56);
static_assert(offsetof(NetV8, regMrDmaBuf) == 64 && offsetof(NetV8, deregMr) == 72);
static_assert(offsetof(NetV8, isend) == 80 && offsetof(NetV8, irecv) == 88);
static_assert(offsetof(NetV8, iflush) == 96 && offsetof(NetV8, test) == 104);
static_assert(offsetof(NetV8, closeSend) == 112 && offsetof(NetV8, closeRecv) == 120);
static_assert(offsetof(NetV8, closeListen) == 128 && offsetof(NetV8, getDeviceMr) == 136);
static_assert(offsetof(NetV8, irecvConsumed) == 144);

struct NetV9 {
  const char* name;
  Result (*init)(Logger logger);
  Result (*devices)(int* count);
  Result (*getProperties)(int dev, PropertiesV9* properties);
  Result (*listen)(int dev, void* handle, void** listen_comm);
  Result (*connect)(int dev, void* handle, void** send_comm, DeviceHandle** device_comm);
  Result (*accept)(void* listen_comm, void** recv_comm, DeviceHandle** device_comm);
  Result (*regMr)(void* comm, void* data, std::size_t size, int type, void** mhandle);
  Result (*regMrDmaBuf)(void* comm, void* data, std::size_t size, int type, std::uint64_t offset, int fd,
                        void** mhandle);  // null without kPtrDmaBuf
  Result (*deregMr)(void* comm, void* mhandle);
  Result (*isend)(void* send_comm, void* data, std::size_t size, int tag, void* mhandle, void** request);
  Result (*irecv)(void* recv_comm, int n, void** data, std::size_t* sizes, int* tags, void** mhandles, void** request);
  Result (*iflush)(void* recv_comm, int n, void** data, int* sizes, void** mhandles, void** request);
  Result (*test)(void* request, int* done, int* sizes);
  Result (*closeSend)(void* send_comm);
  Result (*closeRecv)(void* recv_comm);
  Result (*closeListen)(void* listen_comm);
  Result (*getDeviceMr)(void* comm, void* mhandle, void** device_mhandle);  // may be null
  Result (*irecvConsumed)(void* recv_comm, int n, void* request);           // may be null
  Result (*makeVDevice)(int* dev, VirtualDeviceV9* virtual_device);         // may be null
};
static_assert(sizeof(NetV9) == 160 && kIsPlainData<NetV9>);
static_assert(offsetof(NetV9, name) == 0 && offsetof(NetV9, init) == 8);
static_assert(offsetof(NetV9, devices) == 16 && offsetof(NetV9, getProperties) == 24);
static_assert(offsetof(NetV9, listen) == 32 && offsetof(NetV9, connect) == 40);
static_assert(offsetof(NetV9, accept) == 48 && offsetof(NetV9, regMr) == 56);
static_assert(offsetof(NetV9, regMrDmaBuf) == 64 && offsetof(NetV9, deregMr) == 72);
static_assert(offsetof(NetV9, isend) == 80 && offsetof(NetV9, irecv) == 88);
static_assert(offsetof(NetV9, iflush) == 96 && offsetof(NetV9, test) == 104);
static_assert(offsetof(NetV9, closeSend) == 112 && offsetof(NetV9, closeRecv) == 120);
static_assert(offsetof(NetV9, closeListen) == 128 && offsetof(NetV9, getDeviceMr) == 136);
static_assert(offsetof(NetV9, irecvConsumed) == 144 && offsetof(NetV9, makeVDevice) == 152);

struct NetV10 {
  const char* name;
  Result (*init)(Logger logger, ProfilerCallback profiler);
  Result (*devices)(int* count);
  Result (*getProperties)(int dev, PropertiesV10* properties);
  Result (*listen)(int dev, void* handle, void** listen_comm);
  Result (*connect)(int dev, CommConfig* config, void* handle, void** send_comm, DeviceHandle** device_comm);
  Result (*accept)(void* listen_comm, void** recv_comm, DeviceHandle** device_comm);
  Result (*regMr)(void* comm, void* data, std::size_t size, int type, void** mhandle);
  Result (*regMrDmaBuf)(void* comm, void* data, std::size_t size, int type, std::uint64_t offset, int fd,
                        void** mhandle);  // null without kPtrDmaBuf
  Result (*deregMr)(void* comm, void* mhandle);
  Result (*isend)(void* send_comm, void* data, std::size_t size, int tag, void* mhandle, void* profiler_handle,
                  void** request);
  Result (*irecv)(void* recv_comm, int n, void** data, std::size_t* sizes, int* tags, void** mhandles,
                  void** profiler_handles, void** request);
  Result (*iflush)(void* recv_comm, int n, void** data, int* sizes, void** mhandles, void** request);
  Result (*test)(void* request, int* done, int* sizes);
  Result (*closeSend)(void* send_comm);
  Result (*closeRecv)(void* recv_comm);
  Result (*closeListen)(void* listen_comm);
  Result (*getDeviceMr)(void* comm, void* mhandle, void** device_mhandle);  // may be null
  Result (*irecvConsumed)(void* recv_comm, int n, void* request);           // may be null
  Result (*makeVDevice)(int* dev, VirtualDeviceV10* virtual_device);        // may be null
};
static_assert(sizeof(NetV10) == 160 && kIsPlainData<NetV10>);
static_assert(offsetof(NetV10, name) == 0 && offsetof(NetV10, init) == 8);
static_assert(offsetof(NetV10, devices) == 16 && offsetof(NetV10, getProperties) == 24);
static_assert(offsetof(NetV10, listen) == 32 && offsetof(NetV10, connect) == 40);
static_assert(offsetof(NetV10, accept) == 48 && offsetof(NetV10, regMr) == 56);
static_assert(offsetof(NetV10, regMrDmaBuf) == 64 && offsetof(NetV10, deregMr) == 72);
static_assert(offsetof(NetV10, isend) == 80 && offsetof(NetV10, irecv) == 88);
static_assert(offsetof(NetV10, iflush) == 96 && offsetof(NetV10, test) == 104);
static_assert(offsetof(NetV10, closeSend) == 112 && offsetof(NetV10, closeRecv) == 120);
static_assert(offsetof(NetV10, closeListen) == 128 && offsetof(NetV10, getDeviceMr) == 136);
static_assert(offsetof(NetV10, irecvConsumed) == 144 && offsetof(NetV10, makeVDevice) == 152);

// Versions 11 and 12, which differ in what getProperties and makeVDevice fill in.
template <typename Properties, typename VirtualDevice>
struct NetWithContext {
  const char* name;
  Result (*init)(void** ctx, std::uint64_t comm_id, CommConfig* config, Logger logger, ProfilerCallback profiler);
  Result (*devices)(int* count);
  Result (*getProperties)(int dev, Properties* properties);
  Result (*listen)(void* ctx, int dev, void* handle, void** listen_comm);
  Result (*connect)(void* ctx, int dev, void* handle, void** send_comm, DeviceHandle** device_comm);
  Result (*accept)(void* listen_comm, void** recv_comm, DeviceHandle** device_comm);
  Result (*regMr)(void* comm, void* data, std::size_t size, int type, void** mhandle);
  Result (*regMrDmaBuf)(void* comm, void* data, std::size_t size, int type, std::uint64_t offset, int fd,
                        void** mhandle);  // null without kPtrDmaBuf
  Result (*deregMr)(void* comm, void* mhandle);
  Result (*isend)(void* send_comm, void* data, std::size_t size, int tag, void* mhandle, void* profiler_handle,
                  void** request);
  Result (*irecv)(void* recv_comm, int n, void** data, std::size_t* sizes, int* tags, void** mhandles,
                  void** profiler_handles, void** request);
  Result (*iflush)(void* recv_comm, int n, void** data, int* sizes, void** mhandles, void** request);
  Result (*test)(void* request, int* done, int* sizes);
  Result (*closeSend)(void* send_comm);
  Result (*closeRecv)(void* recv_comm);
  Result (*closeListen)(void* listen_comm);
  Result (*getDeviceMr)(void* comm, void* mhandle, void** device_mhandle);  // may be null
  Result (*irecvConsumed)(void* recv_comm, int n, void* request);           // may be null
  Result (*makeVDevice)(int* dev, VirtualDevice* virtual_device);           // may be null
  Result (*finalize)(void* ctx);
  Result (*setNetAttr)(void* ctx, NetAttr* attr);  // may be null
};
template <typename Net>
inline constexpr bool kHasContextLayout = sizeof(Net) == 176 && kIsPlainData<Net>&& offsetof(Net, name) == 0 &&
                                          offsetof(Net, init) == 8 && offsetof(Net, devices) == 16 &&
                                          offsetof(Net, getProperties) == 24 && offsetof(Net, listen) == 32 &&
                                          offsetof(Net, connect) == 40 && offsetof(Net, accept) == 48 &&
                                          offsetof(Net, regMr) == 56 && offsetof(Net, regMrDmaBuf) == 64 &&
                                          offsetof(Net, deregMr) == 72 && offsetof(Net, isend) == 80 &&
                                          offsetof(Net, irecv) == 88 && offsetof(Net, iflush) == 96 &&
                                          offsetof(Net, test) == 104 && offsetof(Net, closeSend) == 112 &&
                                          offsetof(Net, closeRecv) == 120 && offsetof(Net, closeListen) == 128 &&
                                          offsetof(Net, getDeviceMr) == 136 && offsetof(Net, irecvConsumed) == 144 &&
                                          offsetof(Net, makeVDevice) == 152 && offsetof(Net, finalize) == 160 &&
                                          offsetof(Net, setNetAttr) == 168;
using NetV11 = NetWithContext<PropertiesV11, VirtualDeviceV11>;
using NetV12 = NetWithContext<PropertiesV12, VirtualDeviceV12>;
static_assert(kHasContextLayout<NetV11> && kHasContextLayout<NetV12>);

}  // namespace cableway::nccl::abi

#endif  // CABLEWAY_NCCL_ADAPTER_ABI_NET_ABI_H_
