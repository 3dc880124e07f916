// PluginLibrary: finds and loads a net plugin as NCCL does, and unloads it at the end.
#ifndef CABLEWAY_TOOLS_COLLPERF_PLUGIN_LIBRARY_H_
#define CABLEWAY_TOOLS_COLLPERF_PLUGIN_LIBRARY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/collperf/net_plugin.h"

namespace cableway::collperf {

inline constexpr int kOldestVersion = 8;
inline constexpr int kNewestVersion = 12;

class PluginLibrary {
 public:
  // `name` is tried unchanged, then as libnccl-net-<name>.so unless it is a path or a file name. `version` 0 selects
  // the newest that the library exports. The error names the attempts and their results.
  static absl::StatusOr<PluginLibrary> open(const std::string& name, int version);

  NetPlugin& net() { return *net_; }
  const std::string& path() const { return path_; }

 private:
  struct Unload {
    void operator()(void* library) const;
  };

  PluginLibrary(std::unique_ptr<void, Unload> library, std::unique_ptr<NetPlugin> net, std::string path)
      : library_(std::move(library)), net_(std::move(net)), path_(std::move(path)) {}

  std::unique_ptr<void, Unload> library_;  // outlives net_, which points into it
  std::unique_ptr<NetPlugin> net_;
  std::string path_;
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_PLUGIN_LIBRARY_H_
