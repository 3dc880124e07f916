#include "tools/cableway/doctor/doctor_nccl.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "nccl_adapter/abi/network_name.h"

namespace cableway::cli {
namespace {

constexpr char kPluginName[] = "cableway";

bool names_the_plugin(const std::string& value) {
  return absl::StrContains(absl::AsciiStrToLower(value), kPluginName);
}

// Of NCCL_NET_PLUGIN, a list of libraries.
bool lists_the_plugin(const std::string& value) {
  const std::vector<std::string> libraries = absl::StrSplit(value, ',');
  return std::any_of(libraries.begin(), libraries.end(), names_the_plugin);
}

class NcclExamination {
 public:
  NcclExamination(const NcclSettings& nccl, bool has_split_plug) : nccl_(nccl), has_split_plug_(has_split_plug) {}

  std::vector<Finding> run() {
    check_plugin();
    if (has_split_plug_) check_channels();
    for (const NcclFileFault& fault : nccl_.faults) {
      add(fault.about_nccl ? Severity::kWarning : Severity::kInfo, FindingCode::kNcclFileFault, fault.source,
          fault.what, "correct the line or remove it: NCCL reports nothing");
    }
    return std::move(findings_);
  }

 private:
  void add(Severity severity, FindingCode code, std::string about, std::string what, std::string advice) {
    findings_.push_back({severity, std::string(name_of(code)), std::move(about), std::move(what), std::move(advice)});
  }

  static std::string text_of(const NcclSetting& setting) {
    return absl::StrCat(setting.name, "=", shortened(setting.value), " (", setting.source, ")");
  }

  // The environment of `cableway env` wins over files.
  static std::string remedy(const NcclSetting& setting) {
    return setting.source == "environment"
               ? "unset it where the job is started, or set what cableway env prints: eval \"$(cableway env)\""
               : "remove the line, or start the job with what cableway env prints, which wins over files: "
                 "eval \"$(cableway env)\"";
  }

  void check_plugin() {
    const NcclSetting* const net = nccl_.find("NCCL_NET");
    if (net != nullptr && nccl::names_another_network(net->value.c_str())) {
      add(Severity::kWarning, FindingCode::kNcclPluginUnused, "NCCL",
          absl::StrCat(text_of(*net), ": a job started here uses that network, not the plugin"), remedy(*net));
    }
    const NcclSetting* const plugin = nccl_.find("NCCL_NET_PLUGIN");
    if (plugin != nullptr && !lists_the_plugin(plugin->value)) {
      add(Severity::kWarning, FindingCode::kNcclPluginUnused, "NCCL",
          absl::StrCat(text_of(*plugin), ": a job started here does not load the plugin"), remedy(*plugin));
    }
  }

  void check_channels() {
    for (const FlowLimit& limit : kFlowLimits) {
      const NcclSetting* const low = find_too_low(nccl_, limit);
      if (low == nullptr) continue;
      add(Severity::kWarning, FindingCode::kNcclChannelsFew, "NCCL",
          absl::StrCat(text_of(*low), ": too few flows to fill both functions of a plug"),
          absl::StrCat(limit.name, "=", limit.least, " or more",
                       limit.is_minimum ? ", or unset it and set what cableway env prints" : ", or unset it"));
    }
    const NcclSetting* const net = nccl_.find("NCCL_NET");
    if (net == nullptr || nccl::names_another_network(net->value.c_str())) return;
    for (const FlowLimit& limit : kFlowLimits) {
      if (!limit.is_minimum || nccl_.find(limit.name) != nullptr || leaves_out(limit)) continue;
      add(Severity::kInfo, FindingCode::kNcclChannelsFew, "NCCL",
          absl::StrCat(limit.name, " is not set: NCCL may open too few flows to fill both functions of a plug"),
          absl::StrCat(limit.name, "=", limit.least, ", as cableway env prints it"));
    }
  }

  // As `cableway env` does.
  bool leaves_out(const FlowLimit& limit) const {
    const auto is_set = [&](const char* name) { return nccl_.find(name) != nullptr; };
    return std::string_view(limit.name) == nccl::kLeastChannelsVariable &&
           nccl::find_channels_of_the_user(is_set) != nullptr;
  }

  const NcclSettings& nccl_;
  const bool has_split_plug_;
  std::vector<Finding> findings_;
};

}  // namespace

std::optional<std::int64_t> nccl_number(const std::string& value) {
  errno = 0;
  const std::int64_t number = std::strtoll(value.c_str(), nullptr, 0);  // as NCCL does
  if (errno != 0) return std::nullopt;
  return number;
}

const NcclSetting* find_too_low(const NcclSettings& nccl, const FlowLimit& limit) {
  const NcclSetting* const setting = nccl.find(limit.name);
  if (setting == nullptr) return nullptr;
  const std::optional<std::int64_t> number = nccl_number(setting->value);
  return number && *number < limit.least ? setting : nullptr;
}

bool has_split_plug(const Json& ports) {
  std::set<std::string> plugs;
  return std::any_of(ports.begin(), ports.end(), [&](const Json& port) {
    return !port.at("plug").is_null() && !plugs.insert(text(port, "plug")).second;
  });
}

std::vector<Finding> examine_nccl(const NcclSettings& nccl, bool has_split_plug) {
  return NcclExamination(nccl, has_split_plug).run();
}

std::string remark_on(const NcclSetting& setting) {
  if (absl::StartsWith(setting.name, "NCCL_IB_")) return "of NCCL's own InfiniBand network: no effect on Cableway";
  if (setting.name == "NCCL_ENV_PLUGIN") return "this plugin may change every setting (NCCL 2.28.7 and later)";
  return "";
}

}  // namespace cableway::cli
