#include "tools/cableway/address_plan/host_plugs.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "routing/text/absl_view.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"
#include "routing/topology/port_address.h"
#include "routing/topology/topology.h"

namespace cableway::cli {
namespace {

constexpr char kSparkPreset[] = "spark";
constexpr char kForm[] = "expected interfaces such as eth1,eth2, the functions of one plug joined by +, or spark";

absl::Status plugs_fault(std::string_view text, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("--interfaces ", routing::in_quotes(text), ": ", routing::absl_view(what), "; ", kForm));
}

}  // namespace

HostPlugs spark_plugs() {
  return {{{"enp1s0f0np0", "enP2p1s0f0np0"}, {"enp1s0f1np1", "enP2p1s0f1np1"}}, true};
}

absl::StatusOr<HostPlugs> parse_plugs(std::string_view text) {
  if (text == kSparkPreset) return spark_plugs();
  HostPlugs host;
  std::set<std::string> names;
  for (const absl::string_view plug : absl::StrSplit(routing::absl_view(text), ',')) {
    host.plugs.emplace_back();
    for (const absl::string_view function : absl::StrSplit(plug, '+')) {
      std::string name(function);
      if (!routing::is_valid_interface_name(name)) {
        return plugs_fault(text, absl::StrCat(routing::in_quotes(name), " is not the name of an interface"));
      }
      if (!names.insert(name).second) return plugs_fault(text, absl::StrCat(name, " is listed twice"));
      host.plugs.back().push_back(std::move(name));
    }
  }
  if (host.plugs.size() > routing::kMaxSharedParts) {
    return plugs_fault(text, absl::StrCat("more than ", routing::kMaxSharedParts, " plugs"));
  }
  return host;
}

const HostPlugs& PlugsByHost::of(const std::string& host) const {
  const auto own = listed.find(host);
  return own == listed.end() ? others : own->second;
}

absl::StatusOr<PlugsByHost> parse_plugs_by_host(const std::vector<std::string>& texts,
                                                const std::vector<std::string>& hosts) {
  PlugsByHost result{spark_plugs(), {}};
  bool has_others = false;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const bool is_of_host = equals != std::string::npos;
    absl::StatusOr<HostPlugs> plugs = parse_plugs(is_of_host ? text.substr(equals + 1) : text);
    if (!plugs.ok()) return plugs.status();
    if (!is_of_host) {
      if (has_others) return plugs_fault(text, "a second list without a host");
      has_others = true;
      result.others = *std::move(plugs);
      continue;
    }
    const std::string host = text.substr(0, equals);
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) {
      const std::vector<std::string_view> known(hosts.begin(), hosts.end());
      return plugs_fault(
          text, absl::StrCat("there is no host ", routing::in_quotes(host), routing::did_you_mean(host, known)));
    }
    if (!result.listed.emplace(host, *std::move(plugs)).second) {
      return plugs_fault(text, absl::StrCat("a second list of host ", host));
    }
  }
  return result;
}

}  // namespace cableway::cli
