#include "tools/cableway/doctor/doctor.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/paths/weak_points.h"
#include "tools/cableway/doctor/doctor_ports.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

// RDMA registers whole buffers of a job.
constexpr std::uint64_t kEnoughMemlock = std::uint64_t{1} << 30;

class Examination {
 public:
  explicit Examination(const Examined& examined) : examined_(examined) {}

  std::vector<Finding> run() {
    check_node();
    check_key();
    check_host();
    check_verbs();
    check_ports();
    if (examined_.status) check_status(*examined_.status);
    if (examined_.topology) check_topology(*examined_.topology);
    return std::move(findings_);
  }

 private:
  template <typename Code>
  void add(Severity severity, Code code, std::string about, std::string what, std::string advice = "") {
    add_named(severity, std::string(name_of(code)), std::move(about), std::move(what), std::move(advice));
  }
  void add_named(Severity severity, std::string code, std::string about, std::string what, std::string advice = "") {
    findings_.push_back({severity, std::move(code), std::move(about), std::move(what), std::move(advice)});
  }

  void check_node() {
    if (!examined_.node.ok()) {
      const std::string reason(examined_.node.message());
      const std::size_t line = reason.find('\n');
      const bool runs = !absl::IsNotFound(examined_.node);
      return add(Severity::kError, runs ? FindingCode::kNodeNotAnswering : FindingCode::kNodeNotRunning, "node",
                 reason.substr(0, line), line == std::string::npos ? "" : reason.substr(line + 1));
    }
    if (!examined_.status) return;
    add(Severity::kOk, FindingCode::kNodeAnswers, "node",
        absl::StrCat(text(*examined_.status, "node"), " of cluster ", text(*examined_.status, "cluster"), " answers"));
  }

  void check_key() {
    if (examined_.settings.key_file.empty()) {
      return add(
          Severity::kRemark, EventCode::kKeyMissing, "key",
          "no CABLEWAY_KEY_FILE: any host that can reach a cable can join the cluster and read and change its data",
          "openssl rand -hex 32 > key, chmod 600, the same file on every node, and CABLEWAY_KEY_FILE");
    }
    if (examined_.key.ok())
      return add(Severity::kOk, FindingCode::kKeyReadable, "key",
                 absl::StrCat(examined_.settings.key_file, " holds a key"));
    // A key that only root can read is expected if the node runs as root.
    const bool is_other_users_node =
        examined_.node.ok() && absl::StrContains(examined_.key.message(), "Permission denied");
    add(is_other_users_node ? Severity::kRemark : Severity::kError, FindingCode::kKeyUnreadable, "key",
        std::string(examined_.key.message()));
  }

  void check_host() {
    const HostFacts& host = examined_.host;
    if (host.plugin.empty()) {
      add(Severity::kWarning, FindingCode::kPluginMissing, "plugin", absl::StrCat("no plugin at ", host.plugin_sought),
          "unpack the whole package, and use the cableway in its bin/");
    }
    if (uses_rdma() && host.memlock_bytes && *host.memlock_bytes < kEnoughMemlock) {
      add(Severity::kWarning, FindingCode::kMemlockLow, "memory",
          absl::StrCat("the memory lock limit of this shell is ", bytes_text(*host.memlock_bytes),
                       ": RDMA needs more, and fails without it"),
          "ulimit -l unlimited (/etc/security/limits.conf), LimitMEMLOCK=infinity in a unit, docker run --ulimit "
          "memlock=-1");
    }
    if (host.default_interfaces.empty()) {
      add(Severity::kRemark, FindingCode::kDefaultRouteMissing, "network", "no default route",
          "a job's processes find each other over ordinary IP: cableway env shows what they need");
    }
  }

  bool uses_rdma() const {
    return examined_.host.has_rdma_devices && examined_.settings.transport != TransportSetting::kTcp;
  }

  void check_verbs() {
    const HostFacts& host = examined_.host;
    if (!uses_rdma()) return;
    if (!host.has_verbs_files) {
      add(Severity::kWarning, FindingCode::kVerbsFilesMissing, "RDMA", "there are RDMA devices, but no /dev/infiniband",
          host.in_container ? "start the container with --device /dev/infiniband" : "modprobe ib_uverbs");
    }
    if (!host.no_verbs_library.empty()) {
      add(Severity::kWarning, FindingCode::kVerbsLibraryMissing, "RDMA",
          absl::StrCat("there are RDMA devices, but ", host.no_verbs_library),
          "without libibverbs, hops over ports with such a device are refused; CABLEWAY_TRANSPORT=tcp avoids RDMA");
    }
  }

  // As the node reports them, else as this host sees them.
  std::vector<RejectedPort> rejected() const {
    if (!examined_.ports) return examined_.host.rejected;
    std::vector<RejectedPort> list;
    for (const Json& each : examined_.ports->at("rejected")) {
      list.push_back({text(each, "interface"), text(each, "reason"), each.at("requested").get<bool>()});
    }
    return list;
  }

  void check_ports() {
    const Json ports = examined_.ports ? examined_.ports->at("ports")
                                       : ports_of_host(examined_.host.ports, examined_.settings.transport);
    if (ports.empty() && examined_.host.in_container && !examined_.host.sees_hardware) {
      add(Severity::kError, FindingCode::kContainerNetwork, "container",
          "this container has its own network, without the host's interfaces",
          "start it with docker run --network host");
    } else if (ports.empty()) {
      add(Severity::kError, EventCode::kNoPorts, "ports", "there is no port",
          examined_.host.no_ports.empty() ? "set CABLEWAY_PORTS to the interfaces of this host's cables"
                                          : examined_.host.no_ports);
    }
    append(examine_ports(ports, examined_.settings, examined_.host.links));
    append(examine_rejected(rejected()));
  }

  // Whether the examination of the ports reports these, with the port and what to do.
  bool is_found_at_ports(const std::string& code) const {
    if (code == name_of(EventCode::kPortUnusable)) return true;
    if (!examined_.ports) return false;
    return code == name_of(EventCode::kNoPorts) || code == name_of(EventCode::kControlSocketFailed);
  }

  void check_status(const Json& status) {
    for (const Json& problem : status.at("problems")) {
      const std::string code = text(problem, "code");
      if (is_found_at_ports(code)) continue;
      const bool is_usable = code == name_of(EventCode::kLinkLocalUsed);
      const std::string what = text(problem, "text");
      const Json& seconds = problem.at("seconds");
      // The text of a problem contains the advice.
      add_named(
          is_usable ? Severity::kWarning : Severity::kError, code, "problem",
          seconds.is_null() ? what : absl::StrCat(what, " (for ", age_text(seconds.get<std::uint64_t>() * 1000), ")"));
    }
    if (status.at("draining").get<bool>()) {
      add(Severity::kRemark, EventCode::kDraining, "node", "it is draining: no path leads through it",
          "to end that: CABLEWAY_DRAIN=false and systemctl reload cablewayd");
    }
    const Json& relayed = status.at("relayed");
    if (number(relayed, "circuits_broken") > 0) {
      add(Severity::kRemark, EventCode::kCircuitBroken, "node",
          absl::StrCat(number(relayed, "circuits_broken"), " circuits through it have broken since it started"),
          "cableway events and the node's log show when cables were lost: CABLE_LOST");
    }
    if (number(relayed, "setups_refused") > 0) {
      add(Severity::kRemark, EventCode::kCircuitRefused, "node",
          absl::StrCat("it has refused ", number(relayed, "setups_refused"), " set-ups"),
          "cableway events and the node's log show which, and why: CIRCUIT_REFUSED, CONNECTION_REFUSED");
    }
  }

  void check_topology(const routing::Topology& topology) {
    const auto names = [&](const std::vector<routing::NodeIndex>& nodes) {
      return absl::StrJoin(nodes, ", ", [&](std::string* out, routing::NodeIndex node) {
        absl::StrAppend(out, topology.node(node).name);
      });
    };
    const auto parts = topology.components();
    if (parts.size() > 1) {
      const std::string groups =
          absl::StrJoin(parts, " | ", [&](std::string* out, const auto& part) { absl::StrAppend(out, names(part)); });
      add(Severity::kWarning, FindingCode::kTopologyInParts, "topology",
          absl::StrCat("no path leads between these parts: ", groups),
          "a node that has ended is forgotten after 5 minutes; otherwise connect its cables, or start cablewayd there");
    }
    const routing::PhysicalCables physical = routing::physical_cables(topology);
    const routing::WeakPoints weak = routing::weak_points(topology, physical);
    if (!weak.nodes.empty()) {
      add(Severity::kRemark, FindingCode::kSinglePointOfFailure, "topology",
          absl::StrCat("if any one of ", names(weak.nodes), " fails, the topology falls apart"),
          "add a cable that bypasses them");
    }
  }

  void append(std::vector<Finding> more) { std::move(more.begin(), more.end(), std::back_inserter(findings_)); }

  const Examined& examined_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine(const Examined& examined) {
  return Examination(examined).run();
}

}  // namespace cableway::cli
