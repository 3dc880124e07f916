// NCCL's network plugin interface, version 12.
#include "nccl_adapter/plugin/net_table.h"

namespace cableway::nccl {
namespace {

constexpr abi::NetV12 table() {
  auto net = common_table<abi::NetV12, abi::PropertiesV12>();
  net.init = init_with_context;
  net.listen = entry::listen;
  net.connect = entry::connect;
  net.isend = isend_profiled;
  net.irecv = irecv_profiled;
  net.finalize = entry::finalize;
  return net;
}

}  // namespace
}  // namespace cableway::nccl

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::NetV12 ncclNetPlugin_v12 =
    cableway::nccl::table();
