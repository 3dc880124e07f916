// NCCL's network plugin interface, version 10.
#include "nccl_adapter/plugin/net_table.h"

namespace cableway::nccl {
namespace {

constexpr abi::NetV10 table() {
  auto net = common_table<abi::NetV10, abi::PropertiesV10>();
  net.init = [](abi::Logger logger, abi::ProfilerCallback) { return entry::init_legacy(logger); };
  net.listen = listen_legacy;
  net.connect = [](int dev, abi::CommConfig*, void* handle, void** send_comm, abi::DeviceHandle** device_comm) {
    return entry::connect(entry::legacy_context(), dev, handle, send_comm, device_comm);
  };
  net.isend = isend_profiled;
  net.irecv = irecv_profiled;
  return net;
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::NetV10 ncclNetPlugin_v10 =
    cableway::nccl::table();
