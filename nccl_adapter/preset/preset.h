// The preset: values of NCCL's variables for a job over Cableway, for an NCCL that loads the plugin as its env plugin
// (abi/env_abi.h). A pure table over facts of the host.
//
// The user comes first: what the environment has is returned as it is, and nothing is added for a job that names
// another network. NCCL has read its files into the environment by then, so they come first, too.
#ifndef CABLEWAY_NCCL_ADAPTER_PRESET_PRESET_H_
#define CABLEWAY_NCCL_ADAPTER_PRESET_PRESET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cableway::nccl {

// kPluginAlone: NCCL loads the plugin, whose init then says what is wrong; an env plugin may have no logger.
enum class PresetExtent : std::uint8_t { kNothing, kPluginAlone, kAll };

struct PresetFacts {
  PresetExtent extent = PresetExtent::kNothing;
  std::string library;  // this library's path; "": not known, then nothing is set
  std::vector<std::string>
      cable_interfaces;  // some of the next, by which a job's processes do not all reach each other
  std::vector<std::string> default_interfaces;  // of the default routes, the best first
};

class Preset {
 public:
  // A variable's value, or null; getenv(3) but for tests.
  using Environment = std::function<const char*(const char*)>;

  // Sets nothing.
  Preset() = default;
  explicit Preset(const PresetFacts& facts);

  // What NCCL gets. The text is the environment's, or lives as long as this. Callable from any thread.
  const char* get(const char* name, const Environment& environment) const;

  // All values, by name, regardless of the environment.
  const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

// Whether the environment leaves the network to this library: neither NCCL_NET nor NCCL_NET_PLUGIN names another.
bool leaves_network_to_cableway(const Preset::Environment& environment);

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PRESET_PRESET_H_
