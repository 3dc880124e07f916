// NCCL's network plugin interface, version 9.
#include "nccl_adapter/plugin/net_table.h"

namespace cableway::nccl {
namespace {

constexpr abi::NetV9 table() {
  auto net = common_table<abi::NetV9, abi::PropertiesV9>();
  net.init = [](abi::Logger logger) { return entry::init_legacy(logger); };
  net.listen = listen_legacy;
  net.connect = [](int dev, void* handle, void** send_comm, abi::DeviceHandle** device_comm) {
    return entry::connect(entry::legacy_context(), dev, handle, send_comm, device_comm);
  };
  net.isend = [](void* send_comm, void* data, std::size_t size, int, void* mhandle, void** request) {
    return entry::isend(send_comm, data, size, mhandle, request);
  };
  net.irecv = [](void* recv_comm, int n, void** data, std::size_t* sizes, int*, void** mhandles, void** request) {
    return entry::irecv(recv_comm, n, data, sizes[0], mhandles, request);
  };
  return net;
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::NetV9 ncclNetPlugin_v9 =
    cableway::nccl::table();
