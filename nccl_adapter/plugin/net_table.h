// The common part of the tables of all versions of NCCL's network plugin interface. Each version's own file sets the
// rest.
#ifndef CABLEWAY_NCCL_ADAPTER_PLUGIN_NET_TABLE_H_
#define CABLEWAY_NCCL_ADAPTER_PLUGIN_NET_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "nccl_adapter/abi/net_abi.h"
#include "nccl_adapter/abi/network_name.h"
#include "nccl_adapter/plugin/net_entry.h"

namespace cableway::nccl {

// `Net`, NCCL's table of some version, except init, listen, connect, isend and irecv. Optional functions are null: NCCL
// would fuse devices with makeVDevice.
template <typename Net, typename Properties>
constexpr Net common_table() {
  Net net{};
  net.name = kNetworkName;
  net.devices = entry::devices;
  net.getProperties = entry::get_properties<Properties>;
  net.accept = entry::accept;
  net.regMr = entry::reg_mr;
  net.regMrDmaBuf = entry::reg_mr_dma_buf;
  net.deregMr = entry::dereg_mr;
  net.iflush = entry::iflush;
  net.test = entry::test;
  net.closeSend = entry::close_send;
  net.closeRecv = entry::close_recv;
  net.closeListen = entry::close_listen;
  return net;
}

// Up to version 10 all communicators of a process share one context.
inline abi::Result listen_legacy(int dev, void* handle, void** listen_comm) {
  return entry::listen(entry::legacy_context(), dev, handle, listen_comm);
}

// From version 11 on each communicator has its own.
inline abi::Result init_with_context(void** context, std::uint64_t communicator, abi::CommConfig*, abi::Logger logger,
                                     abi::ProfilerCallback) {
  return entry::init(context, communicator, logger);
}

// From version 10 on NCCL passes profiler handles, which are ignored.
inline abi::Result isend_profiled(void* send_comm, void* data, std::size_t size, int, void* mhandle, void*,
                                  void** request) {
  return entry::isend(send_comm, data, size, mhandle, request);
}

inline abi::Result irecv_profiled(void* recv_comm, int n, void** data, std::size_t* sizes, int*, void** mhandles,
                                  void**, void** request) {
  return entry::irecv(recv_comm, n, data, sizes[0], mhandles, request);
}

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PLUGIN_NET_TABLE_H_
