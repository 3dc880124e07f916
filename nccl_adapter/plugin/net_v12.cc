// NCCL's network plugin interface, version 12.
#include "nccl_adapter/abi/net_abi.h"
#include "nccl_adapter/plugin/net_entry.h"

namespace cableway::nccl {
namespace {

abi::Result init(void** context, std::uint64_t, abi::CommConfig*, abi::Logger logger, abi::ProfilerCallback) {
  return entry::init(context, logger);
}

abi::Result isend(void* send_comm, void* data, std::size_t size, int, void* mhandle, void*, void** request) {
  return entry::isend(send_comm, data, size, mhandle, request);
}

abi::Result irecv(void* recv_comm, int n, void** data, std::size_t* sizes, int*, void** mhandles, void**,
                  void** request) {
  return entry::irecv(recv_comm, n, data, sizes[0], mhandles, request);
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) const cableway::nccl::abi::NetV12 ncclNetPlugin_v12 = {
    .name = cableway::nccl::entry::kPluginName,
    .init = cableway::nccl::init,
    .devices = cableway::nccl::entry::devices,
    .getProperties = cableway::nccl::entry::get_properties<cableway::nccl::abi::PropertiesV12>,
    .listen = cableway::nccl::entry::listen,
    .connect = cableway::nccl::entry::connect,
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
    .makeVDevice = nullptr,  // NCCL would fuse devices with it
    .finalize = cableway::nccl::entry::finalize,
    .setNetAttr = nullptr,
};
