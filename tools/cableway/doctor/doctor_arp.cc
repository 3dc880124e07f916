#include "tools/cableway/doctor/doctor_arp.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/cableway/text/sysctl_name.h"

namespace cableway::cli {
namespace {

// With 1 and 2 an interface answers for its own addresses only, with 8 for none; with 3 and the reserved values for
// others too (Documentation/networking/ip-sysctl.rst of the kernel).
bool answers_for_others(int arp_ignore) {
  return arp_ignore != 1 && arp_ignore != 2 && arp_ignore != 8;
}

bool has_ipv4(const Json& port) {
  const Json& addresses = port.at("addresses");
  return std::any_of(addresses.begin(), addresses.end(),
                     [](const Json& address) { return address.get<std::string>().find(':') == std::string::npos; });
}

bool are_of_one_plug(const Json& a, const Json& b) {
  return !a.at("plug").is_null() && a.at("plug") == b.at("plug");
}

bool hear_the_same_port(const Json& a, const Json& b) {
  const Json& theirs = b.at("neighbours");
  return std::any_of(a.at("neighbours").begin(), a.at("neighbours").end(), [&](const Json& one) {
    return std::any_of(theirs.begin(), theirs.end(), [&](const Json& other) {
      return one.at("node") == other.at("node") && one.at("interface") == other.at("interface");
    });
  });
}

// Sets of ports that receive each other's ARP requests, as far as is known.
std::vector<std::vector<const Json*>> segments_of(const Json& ports, const HearsNamesakes& hears_namesakes) {
  std::vector<std::vector<const Json*>> segments;
  for (const Json& port : ports) {
    const auto is_apart = [&](const std::vector<const Json*>& segment) {
      return std::none_of(segment.begin(), segment.end(), [&](const Json* other) {
        const bool is_doubtful = hears_namesakes(text(port, "interface")) || hears_namesakes(text(*other, "interface"));
        return are_of_one_plug(port, *other) || (!is_doubtful && hear_the_same_port(port, *other));
      });
    };
    const auto first = std::stable_partition(segments.begin(), segments.end(), is_apart);
    std::vector<const Json*> joined;
    for (auto each = first; each != segments.end(); ++each) joined.insert(joined.end(), each->begin(), each->end());
    joined.push_back(&port);
    segments.erase(first, segments.end());
    segments.push_back(std::move(joined));
  }
  return segments;
}

// The ports that answer for addresses of others of the segment.
std::vector<std::string> answering_ports(const std::vector<const Json*>& segment,
                                         const std::map<std::string, int>& arp_ignore) {
  std::vector<std::string> answering;
  for (const Json* port : segment) {
    const bool has_ipv4_beside = std::any_of(segment.begin(), segment.end(),
                                             [&](const Json* other) { return other != port && has_ipv4(*other); });
    const auto value = arp_ignore.find(text(*port, "interface"));
    const bool answers = value != arp_ignore.end() && answers_for_others(value->second);
    if (has_ipv4_beside && answers) answering.push_back(text(*port, "interface"));
  }
  return answering;
}

Finding finding_of(const std::vector<const Json*>& segment, const std::vector<std::string>& answering,
                   const std::map<std::string, int>& arp_ignore) {
  const bool uses_rdma =
      std::any_of(segment.begin(), segment.end(), [](const Json* port) { return text(*port, "transport") == "rdma"; });
  const bool is_plug = std::all_of(segment.begin(), segment.end(),
                                   [&](const Json* port) { return are_of_one_plug(*port, *segment.front()); });
  const std::string all = absl::StrJoin(
      segment, ", ", [](std::string* out, const Json* port) { absl::StrAppend(out, text(*port, "interface")); });
  const std::string values = absl::StrJoin(answering, ", ", [&](std::string* out, const std::string& interface) {
    absl::StrAppend(out, arp_ignore.at(interface), " on ", interface);
  });
  const std::string commands = absl::StrJoin(answering, " ", [](std::string* out, const std::string& interface) {
    const std::string name = ipv4_sysctl_name(interface);
    absl::StrAppend(out, name, ".arp_ignore=1 ", name, ".arp_announce=2");
  });
  const char* const result = uses_rdma ? "RDMA then reaches the wrong one" : "all data may then arrive through one";
  return {Severity::kWarning, std::string(name_of(FindingCode::kArpAnsweredForTwin)), absl::StrCat("ports ", all),
          absl::StrCat("they are ", is_plug ? "functions of one plug" : "on one segment", ", and arp_ignore is ",
                       values, ": one may answer ARP for another's address, and ", result),
          absl::StrCat("sysctl -w ", commands,
                       "\nand, to make it last, the same settings, each in a line, in /etc/sysctl.d/90-cableway.conf")};
}

}  // namespace

std::vector<Finding> examine_arp(const Json& ports, const std::map<std::string, int>& arp_ignore,
                                 const HearsNamesakes& hears_namesakes) {
  std::vector<Finding> findings;
  for (const std::vector<const Json*>& segment : segments_of(ports, hears_namesakes)) {
    const std::vector<std::string> answering = answering_ports(segment, arp_ignore);
    if (!answering.empty()) findings.push_back(finding_of(segment, answering, arp_ignore));
  }
  return findings;
}

}  // namespace cableway::cli
