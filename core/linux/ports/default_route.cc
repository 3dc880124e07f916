#include "core/linux/ports/default_route.h"

#include <net/route.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

constexpr std::size_t kMaxLines = 65536;

struct Route {
  std::string interface;
  std::uint32_t metric = 0;
};

// The fields of each line.
std::vector<std::vector<std::string>> read_table(const std::string& path) {
  std::vector<std::vector<std::string>> lines;
  std::ifstream file(path);
  for (std::string line; lines.size() < kMaxLines && std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<std::string>& fields = lines.emplace_back();
    for (std::string word; words >> word;) fields.push_back(std::move(word));
  }
  return lines;
}

bool leads_out(const std::string& flags_text) {
  std::uint32_t flags = 0;
  return absl::SimpleHexAtoi(flags_text, &flags) && (flags & RTF_UP) != 0 && (flags & RTF_REJECT) == 0;
}

// Iface Destination Gateway Flags RefCnt Use Metric Mask ..; numbers in hex, the metric in decimal.
std::vector<Route> ipv4_routes(const std::string& path) {
  std::vector<Route> routes;
  for (const std::vector<std::string>& fields : read_table(path)) {
    if (fields.size() < 8 || fields[1] != "00000000" || fields[7] != "00000000" || !leads_out(fields[3])) continue;
    Route route{fields[0]};
    if (absl::SimpleAtoi(fields[6], &route.metric)) routes.push_back(std::move(route));
  }
  return routes;
}

// Destination, its length, source, its length, next hop, metric, references, uses, flags, interface; all in hex.
std::vector<Route> ipv6_routes(const std::string& path) {
  std::vector<Route> routes;
  for (const std::vector<std::string>& fields : read_table(path)) {
    if (fields.size() < 10 || fields[1] != "00" || !leads_out(fields[8])) continue;
    Route route{fields[9]};
    if (absl::SimpleHexAtoi(fields[5], &route.metric) && route.interface != "lo") routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace

std::vector<std::string> default_route_interfaces(const std::string& folder) {
  std::vector<std::string> interfaces;
  for (std::vector<Route> routes :
       {ipv4_routes(absl::StrCat(folder, "/route")), ipv6_routes(absl::StrCat(folder, "/ipv6_route"))}) {
    std::stable_sort(routes.begin(), routes.end(),
                     [](const Route& left, const Route& right) { return left.metric < right.metric; });
    for (const Route& route : routes) {
      if (std::find(interfaces.begin(), interfaces.end(), route.interface) == interfaces.end()) {
        interfaces.push_back(route.interface);
      }
    }
  }
  return interfaces;
}

}  // namespace cableway::host
