// Topologies for tests, written as lists of what is plugged in where.
#ifndef CABLEWAY_TESTS_TOOLS_CABLEWAY_EXPECTATION_WIRED_H_
#define CABLEWAY_TESTS_TOOLS_CABLEWAY_EXPECTATION_WIRED_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::cli {

// Each cable is "n0 eth0 n1 eth1", an interface also "p0/eth0" with its plug, or "-" where it is not known. Cables are
// c0, c1, ..; `more`: nodes without a cable.
inline routing::Topology wired(const std::vector<std::string>& cables, const std::vector<std::string>& more = {}) {
  std::map<std::string, std::uint32_t> places;
  std::vector<routing::Node> nodes;
  const auto place = [&](const std::string& name) {
    const auto [it, is_new] = places.try_emplace(name, static_cast<std::uint32_t>(nodes.size()));
    if (is_new) nodes.push_back({.name = name});
    return routing::NodeIndex{it->second};
  };
  const auto port = [&](const std::string& node, const std::string& text, const std::string& address) {
    const std::vector<std::string> words = absl::StrSplit(text, '/');
    const std::string plug = words.size() > 1 ? words[0] : "";
    return routing::Port{place(node), words.back() == "-" ? "" : words.back(), address, plug, ""};
  };
  std::vector<routing::Cable> list;
  for (const std::string& text : cables) {
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    const std::string subnet = absl::StrCat("10.0.", list.size(), ".");
    list.push_back({.name = absl::StrCat("c", list.size()),
                    .a = port(words.at(0), words.at(1), subnet + "1"),
                    .b = port(words.at(2), words.at(3), subnet + "2")});
  }
  for (const std::string& name : more) place(name);
  return routing::make_topology(std::move(nodes), std::move(list));
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TESTS_TOOLS_CABLEWAY_EXPECTATION_WIRED_H_
