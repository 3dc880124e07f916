// NCCL's network plugin interface, version 8.
#include "nccl_adapter/plugin/net_table.h"

namespace cableway::nccl {
namespace {

constexpr abi::NetV8 table() {
  auto net = common_table<abi::NetV8, abi::PropertiesV8>();
  net.init = [](abi::Logger logger) { return entry::init_legacy(logger); };
  net.listen = listen_legacy;
  net.connect = [](int dev, void* handle, void** send_comm, abi::DeviceHandle** device_comm) {
    return entry::connect(entry::legacy_context(), dev, handle, send_comm, device_comm);
  };
  // In this version NCCL itself refuses more than 1 GiB. A negative size becomes a size that no registered memory
  // has.
  net.isend = [](void* send_comm, void* data, int size, int, void* mhandle, void** request) {
    return entry::isend(send_comm, data, static_cast<std::size_t>(size), mhandle, request);
  };
  net.irecv = [](void* recv_comm, int n, void** data, int* sizes, int*, void** mhandles, void** request) {
    return entry::irecv(recv_comm, n, data, static_cast<std::size_t>(sizes[0]), mhandles, request);
  };
  return net;
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::NetV8 ncclNetPlugin_v8 =
    cableway::nccl::table();
