// Names of the kernel's parameters as sysctl(8) and sysctl.d(5) read them.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_SYSCTL_NAME_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_SYSCTL_NAME_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace cableway::cli {

// "net.ipv4.conf.eth1": a dot of the interface's name is a slash there.
inline std::string ipv4_sysctl_name(const std::string& interface) {
  return absl::StrCat("net.ipv4.conf.", absl::StrReplaceAll(interface, {{".", "/"}}));
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_SYSCTL_NAME_H_
