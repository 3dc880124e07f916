// The logger that collperf hands to the plugin, as NCCL hands it its own.
//
// NCCL's logger carries no context argument, so its state is one per process. All functions are thread-safe.
#ifndef CABLEWAY_TOOLS_COLLPERF_PLUGIN_LOG_H_
#define CABLEWAY_TOOLS_COLLPERF_PLUGIN_LOG_H_

#include <string>

#include "nccl_adapter/abi/net_abi.h"

namespace cableway::collperf {

// Lines go to stderr, with the rank in front: warnings always, INFO where `verbose`, TRACE where `trace`.
void configure_plugin_log(int rank, bool verbose, bool trace);

nccl::abi::Logger plugin_logger();

// The plugin's last warning, empty where there was none. Errors quote it.
std::string last_plugin_warning();

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_PLUGIN_LOG_H_
