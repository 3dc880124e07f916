// NCCL's network plugin interface, version 8.
#include "nccl_adapter/abi/net_abi.h"
#include "nccl_adapter/plugin/net_entry.h"

namespace cableway::nccl {
namespace {

abi::Result init(abi::Logger logger) {
  return entry::init_legacy(logger);
}

abi::Result listen(int dev, void* handle, void** listen_comm) {
  return entry::listen(entry::legacy_context(), dev, handle, listen_comm);
}

abi::Result connect(int dev, void* handle, void** send_comm, abi::DeviceHandle** device_comm) {
  return entry::connect(entry::legacy_context(), dev, handle, send_comm, device_comm);
}

// NCCL refuses more than 1 GiB for this version itself; a negative size becomes one that no registered memory has.
abi::Result isend(void* send_comm, void* data, int size, int, void* mhandle, void** request) {
  return entry::isend(send_comm, data, static_cast<std::size_t>(size), mhandle, request);
}

abi::Result irecv(void* recv_comm, int n, void** data, int* sizes, int*, void** mhandles, void** request) {
  return entry::irecv(recv_comm, n, data, static_cast<std::size_t>(sizes[0]), mhandles, request);
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) const cableway::nccl::abi::NetV8 ncclNetPlugin_v8 = {
    .name = cableway::nccl::entry::kPluginName,
    .init = cableway::nccl::init,
    .devices = cableway::nccl::entry::devices,
    .getProperties = cableway::nccl::entry::get_properties<cableway::nccl::abi::PropertiesV8>,
    .listen = cableway::nccl::listen,
    .connect = cableway::nccl::connect,
    .accept = cableway::nccl::entry::accept,
    .regMr = cableway::nccl::entry::reg_mr,
    .regMrDmaBuf = cableway::nccl::entry::reg_mr_dma_buf,
    .deregMr = cableway::nccl::entry::dereg_mr,
    .isend = cableway::nccl::isend,
    .irecv = cableway::nccl::irecv,
    .iflush = cableway::nccl::entry::iflush,
    .test = cableway::nccl::entry::test,
    .closeSend = cableway::nccl::entry::close_send,
    .closeRecv = cableway::nccl::entry::close_recv,
    .closeListen = cableway::nccl::entry::close_listen,
    .getDeviceMr = nullptr,
    .irecvConsumed = nullptr,
};
