#include "tools/cableway/doctor/doctor_ports.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/linux/rdma/rdma_ports.h"
#include "core/ports/port_selector.h"
#include "core/view/ports_view.h"
#include "tools/cableway/doctor/doctor_links.h"
#include "tools/cableway/doctor/doctor_roots.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

constexpr std::uint64_t kMaxRdmaMtu = 4096;

// Advice for refused hops.
std::string advice_for_refusal(const std::string& why) {
  constexpr struct {
    const char* part;
    const char* advice;
  } kAdvice[] = {
      {"is on InfiniBand",
       "set the adapter's port to Ethernet (mlxconfig set LINK_TYPE_P1=ETH, and restart the host), or "
       "CABLEWAY_TRANSPORT=tcp on this node"},
      {"only one of RoCE v1",
       "enable RoCE v2 in the driver (devlink dev param: enable_roce); for an adapter without it, such as the first "
       "ConnectX-3, set CABLEWAY_TRANSPORT=tcp on this node"},
      {"has no RoCE v2 GID",
       "the device's GIDs follow the interface's addresses: see /sys/class/infiniband/*/ports/*/gids, and the driver's "
       "log (dmesg)"},
      {"is not active", "rdma link show, and the driver's log (dmesg)"},
      {"ib_uverbs", "modprobe ib_uverbs (for a container, on its host)"},
      {"Permission denied",
       "give this node's user read and write access to /dev/infiniband/uverbs* (a udev rule, or their group)"},
      {"a container needs",
       "start the container with the options that cableway env --docker prints on its host; on a host, udevadm "
       "trigger"},
      {"rdma-core", "apt-get install rdma-core, on each host with RDMA devices, and in each container"},
      {"ibverbs-providers", "apt-get install ibverbs-providers"},
      {"CABLEWAY_TRANSPORT is verbs", "CABLEWAY_TRANSPORT=auto uses TCP there; or give the cable an RDMA device"},
  };
  for (const auto& [part, advice] : kAdvice) {
    if (absl::StrContains(why, part)) return advice;
  }
  return "rdma link show, and the driver's log (dmesg); CABLEWAY_TRANSPORT=tcp on this node avoids RDMA";
}

bool is_deaf(const Json& neighbour) {
  // A node of an earlier version does not tell.
  const Json hears_us = neighbour.value("hears_us", Json());
  return hears_us.is_boolean() && !hears_us.get<bool>();
}

bool is_unpaired(const Json& neighbours) {
  return !neighbours.empty() && std::all_of(neighbours.begin(), neighbours.end(),
                                            [](const Json& each) { return text(each, "state") == "unpaired"; });
}

class PortExamination {
 public:
  PortExamination(const Json& port, const Settings& settings, const KnownCauses& causes, std::uint64_t fastest_mbps)
      : port_(port),
        settings_(settings),
        causes_(causes),
        fastest_mbps_(fastest_mbps),
        interface_(text(port, "interface")),
        about_(absl::StrCat("port ", interface_)) {}

  std::vector<Finding> run() {
    const bool has_carrier = port_.at("carrier").get<bool>();
    if (!has_carrier) {
      add(Severity::kWarning, FindingCode::kCarrierMissing, "no carrier",
          absl::StrCat("plug the cable in at both ends, and set the other end's interface up (ip link set .. up); "
                       "ethtool ",
                       interface_, " shows the link"));
    }
    if (has_carrier) check_neighbours();
    check_rates();
    check_mtu();
    check_transport();
    if (!port_.at("control").is_null()) check_control(port_.at("control"));
    return std::move(findings_);
  }

 private:
  // `advice` nullopt: the code's own.
  template <typename Code>
  void add(Severity severity, Code code, std::string what, std::optional<std::string> advice = {}) {
    findings_.push_back(
        {severity, std::string(name_of(code)), about_, std::move(what), advice.value_or(advice_of(code))});
  }
  void add(EventCode code, std::string what) { add(grade_of(code), code, std::move(what)); }

  std::string firewall() const {
    return absl::StrCat("UDP ", settings_.control_port, " and ", settings_.pulse_port, ", TCP ", settings_.relay_port,
                        settings_.data_ports == PortRange{}
                            ? " and the whole ephemeral TCP port range"
                            : absl::StrCat(" and ", settings_.data_ports.low, "-", settings_.data_ports.high));
  }

  void check_neighbours() {
    const Json& neighbours = port_.at("neighbours");
    if (neighbours.is_null()) return;
    if (neighbours.empty() && !causes_.explain_silence(interface_)) check_silence();
    if (is_unpaired(neighbours)) check_unpaired(neighbours);
    for (const Json& neighbour : neighbours) {
      const std::string state = text(neighbour, "state");
      if (state == "up") {
        add(EventCode::kCableUp, absl::StrCat("cable to ", name_of_end(neighbour), " is up"));
      } else if (state != "unpaired" && neighbour.at("large_lost").is_null()) {
        check_unused(neighbour);
      }
    }
  }

  static std::string name_of_end(const Json& neighbour) {
    return absl::StrCat("node ", text(neighbour, "node"), " (", text(neighbour, "interface"), ")");
  }

  // A port on the wire that does not hear this one is why no cable joins them.
  void check_unpaired(const Json& neighbours) {
    const auto deaf = std::find_if(neighbours.begin(), neighbours.end(), is_deaf);
    if (deaf != neighbours.end()) return check_unused(*deaf);
    add(Severity::kInfo, FindingCode::kPortUnpaired,
        absl::StrCat("carries nothing: the cables on its wire join other ports of this node and of ",
                     text(neighbours.front(), "node")));
  }

  void check_silence() {
    const std::string what = absl::StrCat("carrier on ", interface_, ", but ");
    const KnownCauses::LostNeighbour* const lost = causes_.lost_neighbour(interface_);
    if (lost != nullptr && lost->lives) {
      return add(
          Severity::kWarning, FindingCode::kNeighbourMissing,
          absl::StrCat(what, "nothing is heard of node ", lost->node, " (", lost->interface,
                       ") any more, which is running: it is reachable over other cables"),
          absl::StrCat("run cableway doctor there: if it hears this node, what it sends over this cable is lost; "
                       "else the cable carries nothing, or a firewall at either end drops ",
                       firewall()));
    }
    if (lost != nullptr && lost->has_left) {
      return add(Severity::kWarning, FindingCode::kNeighbourMissing,
                 absl::StrCat(what, "node ", lost->node, " (", lost->interface, ") has left: it was stopped"),
                 "start cablewayd there (systemctl start cablewayd)");
    }
    add(Severity::kWarning, FindingCode::kNeighbourMissing, absl::StrCat(what, "no neighbour answers hellos"),
        absl::StrCat(
            "is cablewayd running at the other end, with that interface among its ports (cableway ports)? If "
            "cableway doctor there has CABLE_ONE_WAY, what it sends is lost. Firewalls at both ends must allow ",
            firewall()));
  }

  // A neighbour that is heard over a cable that is not up.
  void check_unused(const Json& neighbour) {
    if (causes_.explain_neighbour(interface_, text(neighbour, "node"))) return;
    const Json hears_us = neighbour.value("hears_us", Json());
    if (!hears_us.is_boolean() || !hears_us.get<bool>()) return add_one_way(neighbour);
    if (causes_.is_namesake()) return;
    add(Severity::kWarning, FindingCode::kCableUnusedThere,
        absl::StrCat(name_of_end(neighbour), " hears this node, but does not use the cable"));
    set_neighbour(neighbour);
  }

  void add_one_way(const Json& neighbour) {
    add(Severity::kWarning, FindingCode::kCableOneWay,
        absl::StrCat(name_of_end(neighbour), " is heard, but the cable is not up: it does not hear this node"),
        absl::StrCat(
            "run cableway doctor there; the cable may carry nothing in that direction, or a firewall at either "
            "end may drop what this node sends: ",
            firewall()));
    set_neighbour(neighbour);
  }

  void set_neighbour(const Json& neighbour) {
    findings_.back().neighbour = text(neighbour, "node");
    findings_.back().neighbour_port = text(neighbour, "interface");
  }

  // The rates of links. What PCIe can carry of them is checked in doctor_roots.h.
  void check_rates() {
    if (port_.at("link_mbps").is_null() || !port_.at("carrier").get<bool>()) return;
    const std::uint64_t rate = number(port_, "link_mbps");
    std::uint64_t theirs = 0;
    if (!port_.at("neighbours").is_null()) {
      for (const Json& neighbour : port_.at("neighbours")) {
        if (!neighbour.at("link_mbps").is_null()) theirs = std::max(theirs, number(neighbour, "link_mbps"));
      }
    }
    if (rate < theirs) {
      add(Severity::kWarning, FindingCode::kRateBelowNeighbour,
          absl::StrCat("runs at ", rate_text(rate), ", its neighbour's port at ", rate_text(theirs)),
          absl::StrCat("the cable is as fast as its slower end: check the cable, its connectors and the speed set "
                       "there (ethtool ",
                       interface_, ")"));
    } else if (rate < fastest_mbps_) {
      add(Severity::kInfo, FindingCode::kRateBelowFastest,
          absl::StrCat("runs at ", rate_text(rate), ", the fastest port of this node at ", rate_text(fastest_mbps_)),
          absl::StrCat("if both should be equal, check the cable and the speed set (ethtool ", interface_, ")"));
    }
  }

  void check_mtu() {
    const std::uint64_t mtu = number(port_, "mtu");
    if (text(port_, "transport") == "rdma") return check_rdma_mtu(mtu);
    if (mtu >= kJumboMtu) return;
    add(Severity::kInfo, FindingCode::kMtuSmall, absl::StrCat("MTU ", mtu),
        absl::StrCat("larger frames take less CPU and let RDMA use 4096-byte packets: ", larger_mtu()));
  }

  void check_rdma_mtu(std::uint64_t mtu) {
    const std::uint64_t allowed = host::roce_mtu_of(mtu);
    const std::uint64_t taken = port_.at("rdma_mtu").is_null() ? allowed : number(port_, "rdma_mtu");
    if (taken < allowed) {
      add(Severity::kInfo, FindingCode::kRdmaMtuNotTaken,
          absl::StrCat("RDMA packets of ", taken, " bytes, though MTU ", mtu, " has room for ", allowed),
          absl::StrCat("some drivers apply a new MTU only when the interface comes up: ip link set ", interface_,
                       " down, then up"));
    } else if (taken < kMaxRdmaMtu) {
      add(Severity::kInfo, FindingCode::kRdmaMtuSmall,
          absl::StrCat("MTU ", mtu, ": RDMA packets have ", taken, " bytes"),
          absl::StrCat("packets of 4096 bytes need MTU 4200 at least; 9000 helps TCP, too: ", larger_mtu()));
    }
  }

  std::string larger_mtu() const {
    return absl::StrCat("ip link set dev ", interface_, " mtu 9000, at both ends of the cable at the same time");
  }

  // Without a carrier no RDMA device is active: refusals are reported only for ports with one.
  void check_transport() {
    const std::string kind = text(port_, "transport");
    const std::string why = text(port_, "transport_reason");
    const bool has_device = !port_.at("rdma_device").is_null();
    if (kind == "refused") {
      if (port_.at("carrier").get<bool>()) {
        add(Severity::kError, FindingCode::kHopsRefused, absl::StrCat("hops over it are refused: ", why),
            advice_for_refusal(why));
      }
    } else if (kind == "tcp" && !port_.at("rdma_trouble").is_null() && !has_device) {
      add(Severity::kError, FindingCode::kRdmaDeviceGone, absl::StrCat("data goes over TCP: ", why),
          advice_for_refusal(why));
    } else if (kind == "tcp" && has_device) {
      add(Severity::kInfo, FindingCode::kRdmaDeviceUnused,
          absl::StrCat("data goes over TCP although there is RDMA device ", text(port_, "rdma_device"), ": ", why));
    } else if (kind == "tcp") {
      add(Severity::kInfo, FindingCode::kRdmaDeviceNone, "no RDMA device: data goes over TCP");
    }
  }

  bool has_cable_up() const {
    const Json& neighbours = port_.at("neighbours");
    return std::any_of(neighbours.begin(), neighbours.end(),
                       [](const Json& each) { return text(each, "state") == "up"; });
  }

  void check_control(const Json& control) {
    for (const auto& [error, count] : control.at("send_errors").items()) {
      const std::string what = absl::StrCat(whole_number(count), " datagrams could not be sent (", error, ")");
      if (error == "EPERM") {
        add(Severity::kError, FindingCode::kDatagramsFirewalled,
            absl::StrCat(what, ": a firewall on this host rejects them"),
            absl::StrCat("allow to and from ", interface_, ": ", firewall()));
      } else if (!causes_.explain_unsent(interface_)) {
        // Counted since the node's start: a cable that is up shows that it is over.
        add(has_cable_up() ? Severity::kInfo : Severity::kWarning, FindingCode::kDatagramsUnsent, what,
            absl::StrCat("the last error: ", text_or_dash(control, "last_error")));
      }
    }
    for (const Json& reason : control.at("not_open")) {
      add(EventCode::kControlSocketFailed, reason.get<std::string>());
    }
    if (number(control, "ttl_refused") > 0) {
      add(Severity::kWarning, FindingCode::kDatagramsRouted,
          absl::StrCat(number(control, "ttl_refused"), " datagrams came through a router"));
    }
    if (number(control, "oversized") > 0) {
      add(Severity::kWarning, FindingCode::kDatagramsOversized,
          absl::StrCat(number(control, "oversized"), " datagrams were too large"));
    }
  }

  const Json& port_;
  const Settings& settings_;
  const KnownCauses& causes_;
  const std::uint64_t fastest_mbps_;
  const std::string interface_;
  const std::string about_;
  std::vector<Finding> findings_;
};

bool is_one_of(const std::string& reason, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return absl::StrContains(reason, part); });
}

// PORT_UNUSABLE is graded by its reason. kOk: it was not requested as a port.
Severity severity_of(const RejectedPort& rejected) {
  const std::string& reason = rejected.reason;
  if (is_one_of(reason, {"names neither it nor", "is the loopback interface", "name it in CABLEWAY_PORTS"})) {
    return Severity::kOk;
  }
  if (!rejected.requested || is_one_of(reason, {"is tentative", "is a member of"})) return Severity::kInfo;
  const bool is_wrong =
      is_one_of(reason, {"is in CABLEWAY_PORTS, but", "is also used by another host", "cannot be written as a scope"});
  return is_wrong ? Severity::kError : Severity::kWarning;
}

std::string advice_for(const std::string& reason) {
  if (absl::StrContains(reason, "no such interface")) {
    return "correct CABLEWAY_PORTS, and restart cablewayd; ip -br link lists the interfaces";
  }
  if (absl::StrContains(reason, "no interface has an address inside it")) {
    return "give the cable's interface an address of that prefix, or correct CABLEWAY_PORTS; ip -br addr shows them";
  }
  if (absl::StrContains(reason, "has no address")) {
    return "give it one: ip addr add 10.7.0.1/30 dev .., and another of that subnet to the other end";
  }
  return "";  // the reason is enough
}

}  // namespace

bool is_spare_port(const Json& neighbours) {
  return is_unpaired(neighbours) && std::none_of(neighbours.begin(), neighbours.end(), is_deaf);
}

std::vector<Finding> examine_ports(const Json& ports, const Settings& settings,
                                   const std::map<std::string, LinkFacts>& links, const KnownCauses& causes) {
  std::uint64_t fastest = 0;
  for (const Json& port : ports) {
    if (!port.at("link_mbps").is_null()) fastest = std::max(fastest, number(port, "link_mbps"));
  }
  std::vector<Finding> findings;
  for (const Json& port : ports) {
    for (Finding& finding : PortExamination(port, settings, causes, fastest).run())
      findings.push_back(std::move(finding));
    const auto link = links.find(text(port, "interface"));
    if (link == links.end()) continue;
    const LinkedPort linked{link->first, port.at("link_mbps").is_null() ? 0 : number(port, "link_mbps")};
    for (Finding& finding : examine_link(linked, link->second)) findings.push_back(std::move(finding));
  }
  for (Finding& finding : examine_roots(ports, links)) findings.push_back(std::move(finding));
  return findings;
}

Json ports_of_host(const std::vector<PortFacts>& ports, TransportSetting wanted) {
  Json list = Json::array();
  for (const PortFacts& port : ports) list.push_back(port_json(port, wanted));
  return list;
}

std::vector<Finding> examine_rejected(const std::vector<RejectedPort>& rejected) {
  std::vector<Finding> findings;
  std::map<std::string, std::vector<std::string>> not_requested;  // interfaces by reason
  for (const RejectedPort& each : rejected) {
    const Severity severity = severity_of(each);
    if (severity == Severity::kOk) {
      not_requested[each.reason].push_back(each.interface);
    } else {
      const auto code = each.requested ? name_of(EventCode::kPortUnusable) : name_of(FindingCode::kPortNotUsed);
      findings.push_back({severity, std::string(code), each.interface, each.reason, advice_for(each.reason)});
    }
  }
  for (const auto& [reason, interfaces] : not_requested) {
    findings.push_back({Severity::kOk, std::string(name_of(FindingCode::kPortNotUsed)), "not used",
                        absl::StrCat(absl::StrJoin(interfaces, ", "), ": ", reason), ""});
  }
  return findings;
}

}  // namespace cableway::cli
