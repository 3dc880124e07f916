#include "tools/collperf/plugin_library.h"

#include <dlfcn.h>

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway::collperf {
namespace {

std::vector<std::string> candidates(const std::string& name) {
  const std::string_view view = name;
  const bool is_file = view.find('/') != std::string_view::npos || (view.starts_with("lib") && view.ends_with(".so"));
  if (is_file) return {name};
  return {name, absl::StrCat("libnccl-net-", name, ".so")};
}

std::string symbol_name(int version) {
  return absl::StrCat("ncclNetPlugin_v", version);
}

std::vector<int> exported_versions(void* library) {
  std::vector<int> versions;
  for (int version = kOldestVersion; version <= kNewestVersion; ++version) {
    if (dlsym(library, symbol_name(version).c_str()) != nullptr) versions.push_back(version);
  }
  return versions;
}

absl::StatusOr<int> choose_version(const std::vector<int>& exported, int wanted, const std::string& path) {
  if (exported.empty()) {
    return absl::NotFoundError(absl::StrCat(path, " exports none of ", symbol_name(kOldestVersion), " to ",
                                            symbol_name(kNewestVersion),
                                            ": it is not an NCCL net plugin, or an unsupported version"));
  }
  if (wanted == 0) return exported.back();
  for (int version : exported) {
    if (version == wanted) return version;
  }
  return absl::NotFoundError(absl::StrCat(path, " does not export ", symbol_name(wanted), ", only version ",
                                          absl::StrJoin(exported, ", "), ": choose another --abi"));
}

}  // namespace

void PluginLibrary::Unload::operator()(void* library) const {
  dlclose(library);
}

absl::StatusOr<PluginLibrary> PluginLibrary::open(const std::string& name, int version) {
  std::vector<std::string> failures;
  for (const std::string& path : candidates(name)) {
    std::unique_ptr<void, Unload> library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (library == nullptr) {
      failures.push_back(dlerror());  // NOLINT(concurrency-mt-unsafe): glibc keeps one per thread
      continue;
    }
    const absl::StatusOr<int> chosen = choose_version(exported_versions(library.get()), version, path);
    if (!chosen.ok()) return chosen.status();
    absl::StatusOr<std::unique_ptr<NetPlugin>> net =
        wrap_plugin_table(*chosen, dlsym(library.get(), symbol_name(*chosen).c_str()));
    if (!net.ok()) return net.status();
    return PluginLibrary(std::move(library), *std::move(net), path);
  }
  return absl::NotFoundError(absl::StrCat("no net plugin '", name, "': ", absl::StrJoin(failures, "; "),
                                          "; give --plugin a path, or a name found through LD_LIBRARY_PATH"));
}

}  // namespace cableway::collperf
