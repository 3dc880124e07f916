// Where this code was loaded from.
#ifndef CABLEWAY_CORE_LINUX_OS_OWN_LIBRARY_H_
#define CABLEWAY_CORE_LINUX_OS_OWN_LIBRARY_H_

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace cableway::host {

// The file of the shared library, or of the program, that this function is linked into, without symbolic links; empty:
// not known.
inline std::string own_library() {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&own_library), &library) == 0 || library.dli_fname == nullptr) return "";
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(library.dli_fname, error);
  return error ? "" : file.string();
}

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_OWN_LIBRARY_H_
