// NCCL's network plugin interface, version 11.
#include "nccl_adapter/plugin/net_table.h"

namespace cableway::nccl {
namespace {

constexpr abi::NetV11 table() {
  auto net = common_table<abi::NetV11, abi::PropertiesV11>();
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

extern "C" __attribute__((visibility("default"))) constinit const cableway::nccl::abi::NetV11 ncclNetPlugin_v11 =
    cableway::nccl::table();
