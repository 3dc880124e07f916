#include "tools/cableway/doctor/doctor_roots.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

// Below 1, because 16 lanes of 16 GT/s, which are meant for 200 Gbit/s, move 196.6.
constexpr double kEnough = 0.9;

struct RootedPort {
  std::string interface;
  std::string plug;  // as the node has it; of a port without one, its interface
  std::uint64_t link_mbps = 0;
  std::uint64_t functions = 1;  // of its plug

  std::uint64_t wanted_mbps() const { return link_mbps / functions; }
};

std::string text_of(const host::PcieSpeed& speed) {
  return absl::StrFormat("%g GT/s x%d (%s)", speed.gigatransfers, speed.lanes, rate_text(speed.rate_mbps()));
}

std::vector<RootedPort> rooted_ports(const Json& ports) {
  std::vector<RootedPort> known;
  std::map<std::string, std::uint64_t> functions;
  for (const Json& port : ports) {
    if (port.at("link_mbps").is_null()) continue;
    const std::string interface = text(port, "interface");
    known.push_back({interface, port.at("plug").is_null() ? interface : text(port, "plug"), number(port, "link_mbps")});
    ++functions[known.back().plug];
  }
  for (RootedPort& port : known) port.functions = functions[port.plug];
  return known;
}

class RootExamination {
 public:
  // `ports`: those behind one root, at least one.
  RootExamination(const std::vector<RootedPort>& ports, const host::PcieLink& root,
                  const std::map<std::string, LinkFacts>& links, const std::set<std::string>& in_use)
      : ports_(ports), root_(root), links_(links), in_use_(in_use) {
    std::set<std::string> plugs;
    for (const RootedPort& port : ports_) {
      most_ = std::max(most_, port.wanted_mbps());
      together_ += port.wanted_mbps();
      is_split_ = is_split_ || port.functions > 1;
      plugs.insert(port.plug);
    }
    plugs_ = plugs.size();
  }

  std::vector<Finding> run() {
    if (is_short_of(most_)) {
      add_slow();
    } else if (is_short_of(together_)) {
      add_shared();
    }
    return std::move(findings_);
  }

 private:
  bool is_short_of(std::uint64_t mbps) const {
    return static_cast<double>(root_.current.rate_mbps()) < kEnough * static_cast<double>(mbps);
  }
  bool is_below_maximum() const { return root_.maximum().rate_mbps() > root_.current.rate_mbps(); }
  bool is_slot_the_limit() const { return root_.adapter.rate_mbps() > root_.maximum().rate_mbps(); }

  void add(Severity severity, FindingCode code, const std::string& what, std::string advice) {
    const std::string names = absl::StrJoin(
        ports_, ", ", [](std::string* out, const RootedPort& port) { absl::StrAppend(out, port.interface); });
    findings_.push_back({severity, std::string(name_of(code)),
                         absl::StrCat(ports_.size() == 1 ? "port " : "ports ", names), what, std::move(advice)});
  }

  std::string link_text() const {
    return absl::StrCat("PCIe link below ", root_.root, ", ", text_of(root_.current), " each way");
  }

  std::string wider_advice() const {
    return absl::StrCat("the link supports ", text_of(root_.maximum()),
                        ": update the BIOS (on an ASUS GX10 that brought back two lanes), check its PCIe settings, or "
                        "reseat the adapter; lspci -vv shows LnkCap and LnkSta");
  }

  std::string slot_advice() const {
    return absl::StrCat(
        "the slot is the limit, the adapter supports ", text_of(root_.adapter),
        ": use a slot with as many lanes; where the adapter is part of the board, update the BIOS and check "
        "its PCIe settings");
  }

  // Interfaces of the same plugs on other links that are not used as ports.
  std::string unused_functions() const {
    std::set<std::string> unused;
    for (const RootedPort& port : ports_) {
      const LinkFacts& own = links_.at(port.interface);
      for (const auto& [name, facts] : links_) {
        const bool is_other_function = facts.plug == own.plug && facts.pcie.root != own.pcie.root;
        if (!own.plug.empty() && is_other_function && !in_use_.contains(name)) unused.insert(name);
      }
    }
    return absl::StrJoin(unused, ", ");
  }

  void add_slow() {
    const std::string what = absl::StrCat(ports_.size() == 1 ? "its " : "their ", link_text(), ", cannot carry the ",
                                          rate_text(most_), " that a port needs of it");
    if (is_below_maximum()) return add(Severity::kWarning, FindingCode::kPcieLinkSlow, what, wider_advice());
    if (const std::string unused = unused_functions(); !unused.empty()) {
      return add(Severity::kWarning, FindingCode::kPcieLinkSlow, what,
                 absl::StrCat("the link is at the adapter's maximum, and the same plug has another one: give ", unused,
                              " an address in a subnet of its own, too"));
    }
    if (is_slot_the_limit()) return add(Severity::kWarning, FindingCode::kPcieLinkSlow, what, slot_advice());
    add(Severity::kInfo, FindingCode::kPcieLinkSlow, what,
        "the link is at the adapter's maximum: nothing is wrong, but the cable stays partly idle");
  }

  void add_shared() {
    const std::string what =
        absl::StrCat("they share the ", link_text(), ", and need ", rate_text(together_), " together");
    if (is_below_maximum()) return add(Severity::kWarning, FindingCode::kPcieRootShared, what, wider_advice());
    add(Severity::kInfo, FindingCode::kPcieRootShared, what, shared_advice());
  }

  std::string shared_advice() const {
    if (plugs_ == 1)
      return "all functions of this plug are behind one link: nothing is wrong, but the cable stays partly idle";
    if (is_split_) {
      return "nothing is wrong, it is this host's design: two cables to the same host carry no more than one; connect "
             "each plug to another host";
    }
    if (is_slot_the_limit()) return slot_advice();
    return "the link is at the adapter's maximum: two cables to the same host carry little more than one";
  }

  const std::vector<RootedPort>& ports_;
  const host::PcieLink& root_;
  const std::map<std::string, LinkFacts>& links_;
  const std::set<std::string>& in_use_;
  std::uint64_t most_ = 0;  // that one port needs
  std::uint64_t together_ = 0;
  std::size_t plugs_ = 0;
  bool is_split_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine_roots(const Json& ports, const std::map<std::string, LinkFacts>& links) {
  std::map<std::string, std::vector<RootedPort>> behind;
  for (const RootedPort& port : rooted_ports(ports)) {
    const auto link = links.find(port.interface);
    if (link == links.end() || !link->second.pcie.current.known()) continue;
    behind[link->second.pcie.root].push_back(port);
  }
  std::set<std::string> in_use;
  for (const Json& port : ports) in_use.insert(text(port, "interface"));
  std::vector<Finding> findings;
  for (const auto& [root, its_ports] : behind) {
    const host::PcieLink& link = links.at(its_ports.front().interface).pcie;
    for (Finding& finding : RootExamination(its_ports, link, links, in_use).run()) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace cableway::cli
