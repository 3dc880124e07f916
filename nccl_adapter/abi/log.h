// Log lines for the operator, through the logger that NCCL passes to init. Callable from any thread.
#ifndef CABLEWAY_NCCL_ADAPTER_ABI_LOG_H_
#define CABLEWAY_NCCL_ADAPTER_ABI_LOG_H_

#include <string>

#include "nccl_adapter/abi/net_abi_types.h"

namespace cableway::nccl {

class Log {
 public:
  explicit Log(abi::Logger logger) : logger_(logger) {}

  // Shown by default: failures and their remedies.
  void warn(const std::string& text) const { write(abi::kLogWarn, text); }
  // Shown with NCCL_DEBUG=INFO.
  void info(const std::string& text) const { write(abi::kLogInfo, text); }

 private:
  void write(abi::LogLevel level, const std::string& text) const {
    if (logger_ == nullptr) return;
    logger_(level, abi::kSubsysInit | abi::kSubsysNet, "cableway", 0, "NET/Cableway: %s", text.c_str());
  }

  abi::Logger logger_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_ABI_LOG_H_
