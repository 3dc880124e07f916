// The logger that collperf passes to the plugin, in the place of NCCL's.
//
// NCCL's logger has no context argument, so its state is per process. All functions are thread-safe.
#ifndef CABLEWAY_TOOLS_COLLPERF_PLUGIN_LOG_H_
#define CABLEWAY_TOOLS_COLLPERF_PLUGIN_LOG_H_

#include <string>

#include "nccl_adapter/abi/net_abi.h"

namespace cableway::collperf {

// Lines go to stderr, prefixed with the rank: warnings always, INFO if `verbose`, TRACE if `trace`.
void configure_plugin_log(int rank, bool verbose, bool trace);

nccl::abi::Logger plugin_logger();

// The plugin's last warning, empty if there was none. Error messages quote it.
std::string last_plugin_warning();

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_PLUGIN_LOG_H_
