#include "tools/cableway/doctor/finding_code.h"

#include <array>
#include <cstddef>

namespace cableway::cli {
namespace {

using Code = FindingCode;

constexpr std::array<FindingKind, static_cast<std::size_t>(Code::kSinglePointOfFailure) + 1> kKinds{{
    {Code::kNodeAnswers, "NODE_ANSWERS", "the node here answers", "-"},
    {Code::kNodeNotRunning, "NODE_NOT_RUNNING", "no node runs in this network namespace",
     "systemctl start cablewayd, or run doctor where the node is"},
    {Code::kNodeNotAnswering, "NODE_NOT_ANSWERING", "the node here does not answer, or not this user",
     "look at its log, restart it, or run doctor as root"},
    {Code::kKeyReadable, "KEY_READABLE", "the key file holds a key", "-"},
    {Code::kKeyUnreadable, "KEY_UNREADABLE", "the key file cannot be read, or holds no key",
     "64 hex digits, of root or the node's user, chmod 600; root's key need not be read by others"},
    {Code::kPluginMissing, "PLUGIN_MISSING", "the NCCL plugin of this installation is not there",
     "unpack the whole package, and use the cableway in its bin/"},
    {Code::kMemlockLow, "MEMLOCK_LOW", "a process may lock too little memory for RDMA",
     "ulimit -l unlimited; LimitMEMLOCK=infinity in a unit; docker run --ulimit memlock=-1"},
    {Code::kDefaultRouteMissing, "DEFAULT_ROUTE_MISSING",
     "this host has no default route: a job's processes find each other over ordinary IP",
     "cableway env says what they need"},
    {Code::kVerbsFilesMissing, "VERBS_FILES_MISSING", "there are RDMA devices, and no /dev/infiniband",
     "modprobe ib_uverbs; for a container --device /dev/infiniband"},
    {Code::kVerbsLibraryMissing, "VERBS_LIBRARY_MISSING", "there are RDMA devices, and libibverbs cannot be used",
     "apt-get install rdma-core, or CABLEWAY_TRANSPORT=tcp"},
    {Code::kContainerNetwork, "CONTAINER_NETWORK", "this container has a network of its own, without the host's cables",
     "docker run --network host"},

    {Code::kPortNotUsed, "PORT_NOT_USED", "an interface is no port, and nobody asked for it",
     "name it in CABLEWAY_PORTS if it has a cable"},
    {Code::kCarrierMissing, "CARRIER_MISSING", "a port has no carrier",
     "plug the cable in at both ends, and set the other end's interface up"},
    {Code::kNeighbourMissing, "NEIGHBOUR_MISSING", "a port has a carrier, and no node is heard on it",
     "start cablewayd at the other end, with that interface among its ports; look at firewalls"},
    {Code::kCableOneWay, "CABLE_ONE_WAY", "a neighbour is heard and does not hear this node",
     "look at firewalls, and at cableway doctor there"},
    {Code::kRateBelowNeighbour, "RATE_BELOW_NEIGHBOUR", "a port runs slower than its neighbour's",
     "look at the cable, its connectors and the speed set (ethtool)"},
    {Code::kRateBelowFastest, "RATE_BELOW_FASTEST", "a port runs slower than the fastest one of this node",
     "if both should be alike, look at the cable and the speed set (ethtool)"},
    {Code::kMtuSmall, "MTU_SMALL", "a port has small frames: TCP takes more of the processor, RDMA smaller packets",
     "ip link set mtu 9000, at both ends at the same time"},
    {Code::kRdmaMtuSmall, "RDMA_MTU_SMALL", "the interface's MTU leaves RDMA packets of less than 4096 bytes",
     "an MTU of 4200 at least, 9000 for TCP too, at both ends"},
    {Code::kRdmaMtuNotTaken, "RDMA_MTU_NOT_TAKEN", "the RDMA device uses smaller packets than the MTU allows",
     "set the interface down and up again"},
    {Code::kHopsRefused, "HOPS_REFUSED", "hops over a port are refused, as its RDMA device does not work",
     "the finding says what to do about its reason; CABLEWAY_TRANSPORT=tcp does without"},
    {Code::kRdmaDeviceGone, "RDMA_DEVICE_GONE", "a port had an RDMA device and has none now: its data goes over TCP",
     "look at the driver's log (dmesg)"},
    {Code::kRdmaDeviceUnused, "RDMA_DEVICE_UNUSED", "a port has an RDMA device, and the settings leave it alone",
     "CABLEWAY_TRANSPORT=auto uses it"},
    {Code::kRdmaDeviceNone, "RDMA_DEVICE_NONE", "a port has no RDMA device: its data goes over TCP", "-"},
    {Code::kDatagramsFirewalled, "DATAGRAMS_FIREWALLED", "a firewall of this host refuses what the node sends",
     "let the ports through that the finding names"},
    {Code::kDatagramsUnsent, "DATAGRAMS_UNSENT", "datagrams could not be sent over a port", "look at the last error"},
    {Code::kDatagramsRouted, "DATAGRAMS_ROUTED", "datagrams came through a router, and were not taken",
     "join the ports directly, or by a switch"},
    {Code::kDatagramsOversized, "DATAGRAMS_OVERSIZED", "datagrams were larger than this version's",
     "install the same Cableway on both ends"},

    {Code::kRdmaLinkSlow, "RDMA_LINK_SLOW", "the RDMA device's link is slower than its interface's: lanes may be down",
     "look at the cable and its connectors (ethtool, rdma link show)"},
    {Code::kPcieLinkSlow, "PCIE_LINK_SLOW", "the PCIe link cannot carry the port's rate",
     "another slot, seat the adapter again, the BIOS's PCIe settings; or both halves of a split adapter"},
    {Code::kRdmaLosses, "RDMA_LOSSES", "the RDMA device has counted losses since its start",
     "look again after a job; if they grow, look at the cable and at flow control"},
    {Code::kRdmaCongestion, "RDMA_CONGESTION", "the RDMA device has counted congestion since its start",
     "look again after a job; a cable without a switch has none"},

    {Code::kCableTested, "CABLE_TESTED", "a cable is as fast as it should be", "-"},
    {Code::kCableSlow, "CABLE_SLOW", "a cable is slower than 70 % of its nominal rate, or of 20 Gbit/s",
     "test again without load; MTU 1500, a busy processor, a bad cable or a switch are the usual reasons"},
    {Code::kCableUntested, "CABLE_UNTESTED", "a cable's speed was not tested: forbidden there, or another test runs",
     "CABLEWAY_CABLE_TEST=true on both nodes allows it"},
    {Code::kCableUnreachable, "CABLE_UNREACHABLE",
     "a neighbour's relay port cannot be reached: circuits cannot, either",
     "look at firewalls, and at cableway doctor there"},

    {Code::kTopologyInParts, "TOPOLOGY_IN_PARTS", "no path leads from one part of the cluster to the other",
     "plug cables, start cablewayd there, or wait 5 minutes for nodes that ended"},
    {Code::kSinglePointOfFailure, "SINGLE_POINT_OF_FAILURE", "without one single node, others lose each other",
     "another cable around it"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (static_cast<std::size_t>(kKinds[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kKinds has every code once, in the order of FindingCode");

}  // namespace

std::span<const FindingKind> finding_kinds() {
  return kKinds;
}

std::string_view name_of(FindingCode code) {
  return kKinds[static_cast<std::size_t>(code)].name;
}

}  // namespace cableway::cli
