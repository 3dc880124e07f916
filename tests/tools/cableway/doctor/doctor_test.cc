#include "tools/cableway/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/linux/rdma/verbs_library.h"
#include "core/settings/port_transport.h"
#include "tests/routing/sample_topologies.h"
#include "tools/cableway/doctor/doctor_ports.h"
#include "tools/cableway/doctor/doctor_view.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Ne;
using ::testing::Not;

auto finding(Severity severity, const std::string& about, const std::string& what) {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::about, about),
               Field(&Finding::what, HasSubstr(what)));
}

Json healthy_port(const std::string& interface) {
  return Json::parse(R"({"interface": ")" + interface + R"(", "addresses": ["10.7.0.2/30"], "mtu": 9000,
    "rate_mbps": 100000, "link_mbps": 100000, "root": null, "root_mbps": null, "carrier": true,
    "rdma_device": "mlx5_0", "rdma_usable": true, "gid_index": 3,
    "roce_version": 2, "rdma_mtu": 4096, "rdma_trouble": null, "transport": "rdma",
    "transport_reason": "mlx5_0, RoCE v2, GID 3", "plug": null,
    "neighbours": [{"node": "n0", "interface": "eth0", "state": "up", "large_lost": null, "our_address": "10.7.0.2",
                    "address": "10.7.0.1", "rate_mbps": 100000, "link_mbps": 100000, "known_ms": 1, "heard_ms": 1}],
    "control": {"sent": 1, "received": 1, "oversized": 0, "foreign": 0, "own": 0, "ttl_refused": 0, "send_errors": {},
                "last_error": null, "not_open": []}})");
}

Examined healthy() {
  Examined examined;
  examined.settings.key_file = "/etc/cableway/key";
  examined.settings.tuner = TunerSetting::kRing;  // as the topology is
  examined.host.plugin = "/opt/cableway/lib/libnccl-net-cableway.so";
  examined.host.default_interfaces = {"eth9"};
  examined.host.has_rdma_devices = true;
  examined.host.has_verbs_files = true;
  examined.ports = Json{{"ports", Json::array({healthy_port("eth1")})}, {"rejected", Json::array()}};
  examined.status = Json::parse(R"({"node": "n1", "cluster": "lab", "draining": false, "draining_cables": [],
    "problems": [], "relayed": {"circuits_broken": 0, "setups_refused": 0}})");
  examined.topology = routing::sample_topology(4, routing::ring_pairs(4));
  examined.host.links["eth1"] = {
      "mlx5_0", "100 Gb/sec (4X EDR)", 100000, {"0000:00:01.0", {16, 16}, {16, 16}, {16, 16}}, "p0"};
  return examined;
}

Json& port(Examined& examined) {
  return (*examined.ports)["ports"][0];
}

LinkFacts& link(Examined& examined) {
  return examined.host.links["eth1"];
}

// Makes hops over eth1, which has a device, refused.
void refuse(Examined& examined, const std::string& why) {
  port(examined)["gid_index"] = nullptr;
  port(examined)["rdma_trouble"] = why;
  port(examined)["transport"] = "refused";
  port(examined)["transport_reason"] = why;
}

TEST(Doctor, AHealthyNodeHasNoFindings) {
  const std::vector<Finding> findings = examine(healthy());
  EXPECT_EQ(worst_of(findings), Severity::kOk) << doctor_text(findings, {});
  EXPECT_THAT(findings, Contains(finding(Severity::kOk, "node", "n1 of cluster lab answers")));
  EXPECT_THAT(findings, Contains(finding(Severity::kOk, "port eth1", "cable to node n0 (eth0) is up")));
}

TEST(Doctor, EveryWarningAndErrorHasAdvice) {
  Examined examined = healthy();
  examined.host = {};
  examined.host.in_container = true;
  examined.host.has_rdma_devices = true;
  examined.host.memlock_bytes = 8U << 20;
  Json& ports = (*examined.ports)["ports"];
  ports[0]["carrier"] = false;
  ports[0]["control"]["send_errors"] = {{"EPERM", 2}};
  ports[0]["control"]["ttl_refused"] = 1;
  ports[0]["control"]["oversized"] = 1;
  ports.push_back(healthy_port("eth2"));
  ports[1]["neighbours"] = Json::array();
  ports[1]["transport"] = "refused";
  examined.host.no_verbs_library = "this host has no libibverbs.so.1";
  examined.host.links["eth2"] = {
      "mlx5_1", "25 Gb/sec (1X EDR)", 25000, {"0000:00:02.0", {8, 4}, {16, 16}, {16, 16}}, ""};
  examined.topology = routing::sample_topology(3, {{0, 1}});
  int wrong = 0;
  for (const Finding& found : examine(examined)) {
    if (found.severity < Severity::kWarning) continue;
    ++wrong;
    EXPECT_NE(found.advice, "") << found.about << ": " << found.what;
  }
  EXPECT_EQ(wrong, 13);
}

TEST(Doctor, AnotherPairOfPortsOnOneWireIsNoFault) {
  Examined examined = healthy();
  Json other = port(examined)["neighbours"][0];
  other["interface"] = "eth9";
  other["state"] = "unpaired";
  port(examined)["neighbours"].push_back(other);
  for (const Finding& found : examine(examined))
    EXPECT_THAT(found.code, AllOf(Ne("CABLE_ONE_WAY"), Ne("PORT_UNPAIRED")));
}

// One change of a healthy node, and the expected finding.
struct Fault {
  const char* name;
  const char* code;
  void (*make)(Examined&);
  Severity severity;
  const char* about;
  const char* what;
};

const Fault kFaults[] = {
    {"no key", "KEY_MISSING", [](Examined& e) { e.settings.key_file = ""; }, Severity::kInfo, "key",
     "no CABLEWAY_KEY_FILE"},
    {"bad key", "KEY_UNREADABLE", [](Examined& e) { e.key = absl::InvalidArgumentError("key file is no key"); },
     Severity::kError, "key", "key file is no key"},
    {"root's key", "KEY_UNREADABLE",
     [](Examined& e) { e.key = absl::InvalidArgumentError("key file cannot be opened: Permission denied"); },
     Severity::kInfo, "key", "Permission denied"},
    {"no node", "NODE_NOT_RUNNING", [](Examined& e) { e.node = absl::NotFoundError("no node runs here\nStart one"); },
     Severity::kError, "node", "no node runs here"},
    {"no plugin", "PLUGIN_MISSING", [](Examined& e) { e.host.plugin = ""; }, Severity::kWarning, "plugin",
     "no plugin at"},
    {"memlock", "MEMLOCK_LOW", [](Examined& e) { e.host.memlock_bytes = 8U << 20; }, Severity::kWarning, "memory",
     "memory lock limit of this shell is 8.0 MiB"},
    {"no route", "DEFAULT_ROUTE_MISSING", [](Examined& e) { e.host.default_interfaces.clear(); }, Severity::kInfo,
     "network", "no default route"},
    {"container network", "CONTAINER_NETWORK",
     [](Examined& e) {
       e.host.no_cables = "this network namespace has no cables (interfaces: lo, eth0)";
       (*e.ports)["ports"] = Json::array();
     },
     Severity::kError, "network", "has no cables (interfaces: lo, eth0)"},
    {"container device", "VERBS_FILES_MISSING", [](Examined& e) { e.host.has_verbs_files = false; }, Severity::kWarning,
     "RDMA", "no /dev/infiniband"},
    {"no port", "NO_PORTS", [](Examined& e) { (*e.ports)["ports"] = Json::array(); }, Severity::kError, "ports",
     "this host has no port"},
    {"another network", "NCCL_PLUGIN_UNUSED",
     [](Examined& e) {
       e.host.nccl.settings = {{"NCCL_NET", "Socket", "environment", {}}};
     },
     Severity::kWarning, "NCCL", "NCCL_NET=Socket (environment): a job started here uses that network"},
    {"few channels", "NCCL_CHANNELS_FEW",
     [](Examined& e) {
       (*e.ports)["ports"].push_back(healthy_port("eth2"));
       (*e.ports)["ports"][0]["plug"] = (*e.ports)["ports"][1]["plug"] = "p0";
       e.host.nccl.settings = {{"NCCL_MIN_NCHANNELS", "2", "/etc/nccl.conf:1", {}}};
       e.settings.multipath = MultipathSetting::kOff;
     },
     Severity::kWarning, "NCCL", "NCCL_MIN_NCHANNELS=2 (/etc/nccl.conf:1): too few flows"},
    {"no carrier", "CARRIER_MISSING", [](Examined& e) { port(e)["carrier"] = false; }, Severity::kWarning, "port eth1",
     "no carrier"},
    {"silence", "NEIGHBOUR_MISSING", [](Examined& e) { port(e)["neighbours"] = Json::array(); }, Severity::kWarning,
     "port eth1", "carrier on eth1, but no neighbour answers hellos"},
    {"one way", "CABLE_ONE_WAY", [](Examined& e) { port(e)["neighbours"][0]["state"] = "heard"; }, Severity::kWarning,
     "port eth1", "node n0 (eth0) is heard, but the cable is not up"},
    {"spare function", "PORT_UNPAIRED", [](Examined& e) { port(e)["neighbours"][0]["state"] = "unpaired"; },
     Severity::kInfo, "port eth1", "carries nothing: the cables on its wire join other ports of this node and of n0"},
    {"slow", "RATE_BELOW_NEIGHBOUR", [](Examined& e) { port(e)["link_mbps"] = 10000; }, Severity::kWarning, "port eth1",
     "runs at 10 Gbit/s, its neighbour's port at 100 Gbit/s"},
    {"slower than others", "RATE_BELOW_FASTEST",
     [](Examined& e) {
       (*e.ports)["ports"].push_back(healthy_port("eth2"));
       (*e.ports)["ports"][0]["link_mbps"] = 10000;
       (*e.ports)["ports"][0]["neighbours"][0]["link_mbps"] = 10000;
     },
     Severity::kInfo, "port eth1", "runs at 10 Gbit/s, the fastest port of this node at 100 Gbit/s"},
    {"small frames", "MTU_SMALL",
     [](Examined& e) {
       port(e)["mtu"] = 1500;
       port(e)["rdma_device"] = nullptr;
       port(e)["transport"] = "tcp";
     },
     Severity::kInfo, "port eth1", "MTU 1500"},
    {"no RDMA", "RDMA_DEVICE_NONE",
     [](Examined& e) {
       port(e)["rdma_device"] = nullptr;
       port(e)["transport"] = "tcp";
       port(e)["transport_reason"] = "no RDMA device behind eth1";
     },
     Severity::kInfo, "port eth1", "no RDMA device: data goes over TCP"},
    {"RDMA is gone", "RDMA_DEVICE_GONE",
     [](Examined& e) {
       port(e)["rdma_device"] = nullptr;
       port(e)["rdma_trouble"] = "RDMA device mlx5_0 behind eth1 is gone";
       port(e)["transport"] = "tcp";
       port(e)["transport_reason"] = "RDMA device mlx5_0 behind eth1 is gone";
     },
     Severity::kError, "port eth1", "data goes over TCP: RDMA device mlx5_0 behind eth1 is gone"},
    {"TCP is wanted", "RDMA_DEVICE_UNUSED",
     [](Examined& e) {
       port(e)["transport"] = "tcp";
       port(e)["transport_reason"] = "CABLEWAY_TRANSPORT=tcp";
     },
     Severity::kInfo, "port eth1", "data goes over TCP although there is RDMA device mlx5_0: CABLEWAY_TRANSPORT=tcp"},
    {"no GID", "HOPS_REFUSED",
     [](Examined& e) { refuse(e, "RDMA device mlx5_0 behind eth1 has no RoCE v2 GID for 10.7.0.2"); }, Severity::kError,
     "port eth1", "hops over it are refused: RDMA device mlx5_0 behind eth1 has no RoCE v2 GID"},
    {"no library", "VERBS_LIBRARY_MISSING",
     [](Examined& e) { e.host.no_verbs_library = "this host has no libibverbs.so.1"; }, Severity::kWarning, "RDMA",
     "there are RDMA devices, but this host has no libibverbs.so.1"},
    {"small packets", "RDMA_MTU_SMALL",
     [](Examined& e) {
       port(e)["mtu"] = 1500;
       port(e)["rdma_mtu"] = 1024;
     },
     Severity::kInfo, "port eth1", "MTU 1500: RDMA packets have 1024 bytes"},
    {"MTU not taken", "RDMA_MTU_NOT_TAKEN", [](Examined& e) { port(e)["rdma_mtu"] = 1024; }, Severity::kInfo,
     "port eth1", "RDMA packets of 1024 bytes, though MTU 9000 has room for 4096"},
    {"missing lanes", "RDMA_LINK_SLOW",
     [](Examined& e) {
       link(e).rdma_rate = "25 Gb/sec (1X EDR)";
       link(e).rdma_rate_mbps = 25000;
     },
     Severity::kWarning, "port eth1",
     "the link of RDMA device mlx5_0 has 25 Gb/sec (1X EDR), less than the interface's 100 Gbit/s"},
    {"narrow slot", "PCIE_LINK_SLOW",
     [](Examined& e) {
       link(e).pcie.current = {8, 8};
     },
     Severity::kWarning, "port eth1",
     "its PCIe link below 0000:00:01.0, 8 GT/s x8 (49.1 Gbit/s) each way, cannot carry the 100 Gbit/s that a port"},
    {"twins that answer for each other", "ARP_ANSWERED_FOR_TWIN",
     [](Examined& e) {
       (*e.ports)["ports"].push_back(healthy_port("eth2"));
       (*e.ports)["ports"][0]["plug"] = (*e.ports)["ports"][1]["plug"] = "p0";
       e.host.arp_ignore = {{"eth1", 0}, {"eth2", 1}};
     },
     Severity::kWarning, "ports eth1, eth2", "arp_ignore is 0 on eth1:"},
    {"losses", "RDMA_LOSSES",
     [](Examined& e) {
       link(e).losses = {{"out_of_sequence", 7}, {"packet_seq_err", 2}};
     },
     Severity::kInfo, "port eth1",
     "RDMA device mlx5_0 has counted losses since its start: out_of_sequence 7, packet_seq_err 2"},
    {"congestion", "RDMA_CONGESTION",
     [](Examined& e) {
       link(e).congestion = {{"np_cnp_sent", 4}};
     },
     Severity::kInfo, "port eth1", "RDMA device mlx5_0 has counted congestion since its start: np_cnp_sent 4"},
    {"firewall", "DATAGRAMS_FIREWALLED",
     [](Examined& e) {
       port(e)["control"]["send_errors"] = {{"EPERM", 2}};
     },
     Severity::kError, "port eth1", "2 datagrams could not be sent (EPERM): a firewall"},
    {"send error", "DATAGRAMS_UNSENT",
     [](Examined& e) {
       port(e)["control"]["send_errors"] = {{"ENETUNREACH", 1}};
       port(e)["control"]["last_error"] = "cannot send";
     },
     Severity::kInfo, "port eth1", "1 datagrams could not be sent (ENETUNREACH)"},
    {"not open", "CONTROL_SOCKET_FAILED",
     [](Examined& e) {
       port(e)["control"]["not_open"] = {"cannot bind"};
       (*e.status)["problems"] =
           Json::parse(R"([{"code": "CONTROL_SOCKET_FAILED", "text": "eth1: cannot bind", "seconds": null}])");
     },
     Severity::kError, "port eth1", "cannot bind"},
    {"router", "DATAGRAMS_ROUTED", [](Examined& e) { port(e)["control"]["ttl_refused"] = 3; }, Severity::kWarning,
     "port eth1", "3 datagrams came through a router"},
    {"silent node", "NODE_NOT_ANSWERING",
     [](Examined& e) { e.node = absl::DeadlineExceededError("no answer for 5 s"); }, Severity::kError, "node",
     "no answer for 5 s"},
    {"large datagrams", "DATAGRAMS_OVERSIZED", [](Examined& e) { port(e)["control"]["oversized"] = 1; },
     Severity::kWarning, "port eth1", "1 datagrams were too large"},
    {"problem", "NAME_TAKEN",
     [](Examined& e) {
       (*e.status)["problems"] =
           Json::parse(R"([{"code": "NAME_TAKEN", "text": "two nodes are called n0", "seconds": 5}])");
     },
     Severity::kWarning, "problem", "two nodes are called n0 (for 5.0 s)"},
    {"problem that stops circuits", "NOT_LISTENING",
     [](Examined& e) {
       (*e.status)["problems"] = Json::parse(R"([{"code": "NOT_LISTENING", "text": "in use", "seconds": null}])");
     },
     Severity::kError, "problem", "in use"},
    {"drains", "DRAINING", [](Examined& e) { (*e.status)["draining"] = true; }, Severity::kInfo, "node",
     "no more paths lead through this node"},
    {"drains a cable", "CABLE_DRAINING", [](Examined& e) { (*e.status)["draining_cables"] = Json::array({"c0"}); },
     Severity::kInfo, "cable c0", "no more paths lead over a cable of this node"},
    {"broken", "CIRCUIT_BROKEN", [](Examined& e) { (*e.status)["relayed"]["circuits_broken"] = 2; }, Severity::kInfo,
     "node", "2 circuits through it have broken"},
    {"refused", "CIRCUIT_REFUSED", [](Examined& e) { (*e.status)["relayed"]["setups_refused"] = 2; }, Severity::kInfo,
     "node", "it has refused 2 set-ups"},
    {"two parts", "TOPOLOGY_IN_PARTS",
     [](Examined& e) {
       e.topology = routing::sample_topology(3, {{0, 2}});
     },
     Severity::kWarning, "topology", "no path leads between these parts: n0, n2 | n1"},
    {"loss that the other end finds", "CABLE_LOSSY",
     [](Examined& e) {
       const routing::Topology& found = *e.topology;
       std::vector<routing::Node> nodes(found.nodes().begin(), found.nodes().end());
       std::vector<routing::Cable> cables(found.plugged_cables().begin(), found.plugged_cables().end());
       for (routing::Cable& cable : cables) cable.loss_percent = cable.name == cables.front().name ? 5 : 0;
       e.topology = routing::Topology::create(found.cluster(), std::move(nodes), std::move(cables)).value();
     },
     Severity::kWarning, "cable c0", "loses 5 % of what this node sends over it, as node n0 finds"},
    {"default route", "DEFAULT_ROUTE_ON_CABLE",
     [](Examined& e) {
       e.host.default_interfaces = {"eth9", "eth1"};
     },
     Severity::kWarning, "port eth1", "a default route leads over eth1"},
    {"one in the middle", "SINGLE_POINT_OF_FAILURE",
     [](Examined& e) { e.topology = routing::sample_topology(3, routing::line_pairs(3)); }, Severity::kInfo, "topology",
     "if any one of n1 fails, the topology becomes disconnected"},
};

TEST(Doctor, FindsEachFault) {
  for (const Fault& fault : kFaults) {
    Examined examined = healthy();
    fault.make(examined);
    const std::vector<Finding> findings = examine(examined);
    EXPECT_THAT(findings,
                Contains(AllOf(finding(fault.severity, fault.about, fault.what), Field(&Finding::code, fault.code))))
        << fault.name;
    EXPECT_EQ(worst_of(findings), fault.severity) << fault.name << "\n" << doctor_text(findings, {});
  }
}

TEST(Doctor, AProblemHasTheSeverityOfItsEvent) {
  for (const EventKind& kind : event_kinds()) {
    Examined examined = healthy();
    (*examined.status)["problems"] =
        Json::array({{{"code", std::string(kind.name)}, {"text", "found"}, {"seconds", nullptr}}});
    for (const Finding& found : examine(examined)) {
      if (found.about != "problem") continue;
      EXPECT_EQ(found.severity, grade_of(kind.code)) << kind.name;
      EXPECT_EQ(found.code, kind.name);
    }
  }
}

TEST(Doctor, AdviceIsThatOfTheCodeUnlessItIsKnownMorePrecisely) {
  Examined examined = healthy();
  examined.settings.key_file = "";
  (*examined.ports)["ports"] = Json::array();
  (*examined.status)["draining"] = true;
  const auto check = [&](EventCode code, const std::string& advice) {
    EXPECT_THAT(examine(examined),
                Contains(AllOf(Field(&Finding::code, std::string(name_of(code))),
                               Field(&Finding::what, meaning_of(code)), Field(&Finding::advice, advice))));
  };
  check(EventCode::kKeyMissing, advice_of(EventCode::kKeyMissing));
  check(EventCode::kDraining, advice_of(EventCode::kDraining));
  check(EventCode::kNoPorts, advice_of(EventCode::kNoPorts));
  examined.host.no_ports = "no port: eth1 is down";
  check(EventCode::kNoPorts, "no port: eth1 is down");
}

TEST(Doctor, EveryFindingHasACodeThatIsDocumented) {
  std::set<std::string_view> documented;
  for (const FindingKind& kind : finding_kinds()) documented.insert(kind.name);
  for (const EventKind& kind : event_kinds()) documented.insert(kind.name);
  for (const Fault& fault : kFaults) {
    Examined examined = healthy();
    fault.make(examined);
    for (const Finding& found : examine(examined)) EXPECT_TRUE(documented.contains(found.code)) << found.code;
  }
}

// The reasons come from rdma_ports.cc, verbs_library.cc, verbs_device.cc and port_transport.cc: this test fails if they
// are reworded there.
TEST(Doctor, HasAdviceForEachRefusal) {
  host::RdmaPort rdma;
  rdma.device = "mlx5_0";
  rdma.link_layer = "Ethernet";
  rdma.state = "4: ACTIVE";
  const routing::PortAddress address = *routing::parse_port_address("10.7.0.2");
  const auto advice = [&](const std::string& why) {
    Examined examined = healthy();
    refuse(examined, why);
    for (const Finding& found : examine(examined)) {
      if (found.severity == Severity::kError) return found.advice;
    }
    return std::string("no error");
  };
  const auto advice_for_port = [&] {
    return advice(std::string(host::usable_gid(rdma, "eth1", address).status().message()));
  };
  EXPECT_THAT(advice_for_port(), HasSubstr("GIDs follow the interface's addresses"));
  rdma.gids = {{2, "eth1", address, 1}};
  EXPECT_THAT(advice_for_port(), HasSubstr("enable RoCE v2 in the driver"));
  rdma.state = "1: DOWN";
  EXPECT_THAT(advice_for_port(), HasSubstr("rdma link show"));
  rdma.link_layer = "InfiniBand";
  EXPECT_THAT(advice_for_port(), HasSubstr("set the adapter's port to Ethernet"));
  EXPECT_THAT(advice(std::string(host::VerbsLibrary::load("libibverbs.so.none").status().message())),
              HasSubstr("apt-get install rdma-core"));
  PortFacts facts;
  facts.interface = "eth1";
  EXPECT_THAT(advice(transport_of(facts, TransportSetting::kVerbs).why), HasSubstr("CABLEWAY_TRANSPORT=auto"));
  EXPECT_THAT(advice("RDMA device mlx5_0 cannot be opened: Permission denied"), HasSubstr("read and write"));
  EXPECT_THAT(advice("RDMA device mlx5_0: local catastrophic error"), HasSubstr("dmesg"));
}

TEST(Doctor, RdmaIsNotCheckedOnAPortWithoutCarrier) {
  Examined examined = healthy();
  port(examined)["carrier"] = false;
  refuse(examined, "RDMA device mlx5_0 behind eth1 is not active");
  EXPECT_EQ(worst_of(examine(examined)), Severity::kWarning);
}

TEST(Doctor, RdmaIsNotCheckedIfTheSettingIsTcp) {
  Examined examined = healthy();
  examined.settings.transport = TransportSetting::kTcp;
  examined.host.has_verbs_files = false;
  examined.host.memlock_bytes = 8U << 20;
  examined.host.no_verbs_library = "this host has no libibverbs.so.1";
  EXPECT_EQ(worst_of(examine(examined)), Severity::kOk) << doctor_text(examine(examined), {});
}

TEST(Doctor, NamesThePortsThatAFirewallMustOpen) {
  Examined examined = healthy();
  port(examined)["neighbours"] = Json::array();
  examined.settings.control_port = 1;
  examined.settings.pulse_port = 5;
  examined.settings.relay_port = 2;
  examined.settings.data_ports = {3, 4};
  EXPECT_THAT(examine(examined), Contains(Field(&Finding::advice, HasSubstr("UDP 1 and 5, TCP 2 and 3-4"))));
}

TEST(Doctor, ReportsARejectedPortOnce) {
  Examined examined = healthy();
  (*examined.ports)["rejected"] =
      Json::parse(R"([{"interface": "eth8", "reason": "is in CABLEWAY_PORTS, but there is no such interface",
                       "requested": true}])");
  (*examined.status)["problems"] = Json::parse(R"([{"code": "PORT_UNUSABLE", "seconds": 5,
                       "text": "eth8 is in CABLEWAY_PORTS, but there is no such interface"}])");
  EXPECT_THAT(examine(examined), Contains(Field(&Finding::severity, Severity::kError)).Times(1));
}

TEST(Doctor, ExaminesTheHostIfNoNodeRuns) {
  Examined examined = healthy();
  examined.node = absl::NotFoundError("no node runs here\nStart one: cablewayd");
  examined.ports.reset();
  examined.status.reset();
  examined.topology.reset();
  PortFacts facts;
  facts.interface = "eth1";
  facts.mtu = 1500;
  facts.rdma_device = "mlx5_0";
  facts.rdma_trouble = "RDMA device mlx5_0 cannot be used: /dev/infiniband/uverbs0: No such file or directory";
  PortFacts other = facts;
  other.interface = "eth2";
  other.carrier = true;
  examined.host.ports = {facts, other};
  examined.host.rejected = {{"eth7", "is down: ip link set eth7 up", true}};
  const std::vector<Finding> findings = examine(examined);
  EXPECT_THAT(findings, Contains(AllOf(finding(Severity::kError, "node", "no node runs here"),
                                       Field(&Finding::advice, "Start one: cablewayd"))));
  EXPECT_THAT(findings, Contains(finding(Severity::kWarning, "port eth1", "no carrier")));
  EXPECT_THAT(findings, Contains(finding(Severity::kError, "port eth2", "hops over it are refused: RDMA device")));
  EXPECT_THAT(findings, Contains(finding(Severity::kWarning, "eth7", "is down")));
  EXPECT_THAT(findings, Not(Contains(Field(&Finding::what, HasSubstr("answers hellos")))));
}

TEST(Doctor, APortThatLostItsNeighbourExplainsThatPartOfTheTopology) {
  Examined examined = healthy();
  const auto is_told = Contains(Field(&Finding::code, "TOPOLOGY_IN_PARTS"));
  port(examined)["neighbours"] = Json::array();
  examined.topology = routing::sample_topology(2, {});
  EXPECT_THAT(examine(examined), is_told) << "nothing says where the port's cable led: it may be a spare port";
  examined.events.emplace()["events"] =
      Json::parse(R"([{"code": "CABLE_LOST", "fields": {"port": "eth1", "neighbour": "n0"}},
      {"code": "CABLE_LOST", "fields": {"port": "eth8", "neighbour": "n2"}}])");
  EXPECT_THAT(examine(examined), Not(is_told));
  examined.topology = routing::sample_topology(3, {});
  EXPECT_THAT(examine(examined), is_told) << "eth8 is no port with a finding, so n2 is lost elsewhere";
  examined.ports->at("rejected") =
      Json::parse(R"([{"interface": "eth8", "reason": "is down: ip link set eth8 up", "requested": true}])");
  EXPECT_THAT(examine(examined), Not(is_told));
}

TEST(Doctor, TheLastPortThatCannotBeUsedIsTheOneError) {
  Examined examined = healthy();
  examined.host.no_cables = "this network namespace has no cables (interfaces: lo, eth8)";
  examined.ports = Json::parse(R"({"ports": [], "rejected": [
      {"interface": "eth8", "reason": "is down: ip link set eth8 up", "requested": true}]})");
  examined.topology.reset();
  std::vector<std::string> codes;
  for (const Finding& found : examine(examined)) {
    if (found.severity > Severity::kInfo) codes.push_back(found.code);
  }
  EXPECT_THAT(codes, testing::ElementsAre("PORT_UNUSABLE"));
  EXPECT_EQ(worst_of(examine(examined)), Severity::kError);
}

}  // namespace
}  // namespace cableway::cli
