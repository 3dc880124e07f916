#include "tools/cableway/doctor/finding_code.h"

#include <array>
#include <cstddef>

namespace cableway::cli {
namespace {

using Code = FindingCode;

constexpr std::array<FindingKind, static_cast<std::size_t>(Code::kCableFunctionsDiffer) + 1> kKinds{{
    {Code::kNodeAnswers, "NODE_ANSWERS", "the node here answers", "-"},
    {Code::kNodeNotRunning, "NODE_NOT_RUNNING", "no node runs in this network namespace",
     "systemctl start cablewayd, or run doctor in the node's network namespace"},
    {Code::kNodeNotAnswering, "NODE_NOT_ANSWERING", "the node here does not answer, or refuses this user",
     "check its log, restart it, or run doctor as root"},
    {Code::kSessionAccess, "SESSION_ACCESS", "which users may open sessions with the node here", "-"},
    {Code::kSessionNotAllowed, "SESSION_NOT_ALLOWED", "this user may not open sessions with the node here",
     "sudo usermod -aG cableway USER, or the group that the finding names; log in again"},
    {Code::kKeyReadable, "KEY_READABLE", "the key file holds a key", "-"},
    {Code::kPluginMissing, "PLUGIN_MISSING", "the NCCL plugin of this installation is missing",
     "unpack the whole package, and use the cableway in its bin/"},
    {Code::kMemlockLow, "MEMLOCK_LOW", "a process may lock too little memory for RDMA",
     "ulimit -l unlimited (/etc/security/limits.conf); LimitMEMLOCK=infinity in a unit; docker run --ulimit "
     "memlock=-1"},
    {Code::kDefaultRouteMissing, "DEFAULT_ROUTE_MISSING",
     "this host has no default route: a job's processes find each other over ordinary IP",
     "cableway env shows what they need"},
    {Code::kDefaultRouteOnCable, "DEFAULT_ROUTE_ON_CABLE",
     "a default route of this host leads over a cable: what is for other networks takes the cable, and gets no further "
     "than the neighbour",
     "remove that route, or lead it over the management network; if the interface is no cable, remove it from "
     "CABLEWAY_PORTS"},
    {Code::kSubnetBesideCable, "SUBNET_BESIDE_CABLE",
     "a cable's address is in the subnet of an interface without a cable, such as the management network's: the kernel "
     "may send what is for one over the other",
     "give both ends of the cable addresses of a subnet of their own"},
    {Code::kCablesShareSubnet, "CABLES_SHARE_SUBNET",
     "two cables of this host are in one subnet: the kernel may send what is for one over the other",
     "give both ends of each cable addresses of a subnet of their own (cableway plan addresses)"},
    {Code::kVerbsFilesMissing, "VERBS_FILES_MISSING", "there are RDMA devices, but no /dev/infiniband",
     "modprobe ib_uverbs; for a container the options that cableway env --docker prints on its host"},
    {Code::kVerbsLibraryMissing, "VERBS_LIBRARY_MISSING", "there are RDMA devices, but libibverbs cannot be used",
     "apt-get install rdma-core, or CABLEWAY_TRANSPORT=tcp"},
    {Code::kContainerNetwork, "CONTAINER_NETWORK", "this network namespace, such as a container's own, has no cables",
     "start the container with --network host; if one of these interfaces is a cable, name it in CABLEWAY_PORTS"},
    {Code::kNcclPluginUnused, "NCCL_PLUGIN_UNUSED", "NCCL's settings keep a job started here from using the plugin",
     "start the job with what cableway env prints; correct the file that the finding names"},
    {Code::kNcclChannelsFew, "NCCL_CHANNELS_FEW",
     "NCCL's settings allow too few flows to fill both functions of a split plug, as each has one path "
     "(CABLEWAY_MULTIPATH=off)",
     "NCCL_MIN_NCHANNELS=4 and NCCL_NCHANNELS_PER_NET_PEER=4, as cableway env prints them"},
    {Code::kNcclFileFault, "NCCL_FILE_FAULT",
     "NCCL skips a line of its settings file, or reads it differently than written", "correct the line or remove it"},

    {Code::kPortNotUsed, "PORT_NOT_USED", "an interface is not used as a port, and was not requested as one",
     "name it in CABLEWAY_PORTS if it has a cable"},
    {Code::kCarrierMissing, "CARRIER_MISSING", "a port has no carrier",
     "plug the cable in at both ends, and set the other end's interface up"},
    {Code::kNeighbourMissing, "NEIGHBOUR_MISSING", "a port has a carrier, but no node is heard on it",
     "start cablewayd at the other end, with that interface among its ports; check firewalls"},
    {Code::kCableOneWay, "CABLE_ONE_WAY", "a neighbour is heard but does not hear this node",
     "check firewalls, and run cableway doctor there"},
    {Code::kCableUnusedThere, "CABLE_UNUSED_THERE",
     "a neighbour hears this node, but does not use the cable: it may have another neighbour with this node's name",
     "run cableway doctor there: it says why"},
    {Code::kPortUnpaired, "PORT_UNPAIRED", "the cables on a port's wire join other ports, so it carries nothing",
     "give the other end of the wire as many functions with addresses, if its adapter has them"},
    {Code::kRateBelowNeighbour, "RATE_BELOW_NEIGHBOUR", "a port runs slower than its neighbour's",
     "check the cable, its connectors and the speed set (ethtool)"},
    {Code::kRateBelowFastest, "RATE_BELOW_FASTEST", "a port runs slower than the fastest one of this node",
     "if both should be equal, check the cable and the speed set (ethtool)"},
    {Code::kMtuSmall, "MTU_SMALL", "a port has a small MTU: TCP needs more CPU, RDMA uses smaller packets",
     "ip link set mtu 9000, at both ends: running flows keep their circuits, new ones avoid the cable until both have "
     "it"},
    {Code::kRdmaMtuSmall, "RDMA_MTU_SMALL", "the interface's MTU limits RDMA packets to less than 4096 bytes",
     "an MTU of 4200 at least, 9000 for TCP too, at both ends"},
    {Code::kRdmaMtuNotTaken, "RDMA_MTU_NOT_TAKEN", "the RDMA device uses smaller packets than the MTU allows",
     "set the interface down and up again"},
    {Code::kArpAnsweredForTwin, "ARP_ANSWERED_FOR_TWIN",
     "ports on one segment, such as functions of one plug, may answer ARP for each other's addresses: RDMA then "
     "reaches the wrong one, and over TCP all data may arrive through one",
     "arp_ignore=1 and arp_announce=2 for each of them; the finding has the command"},
    {Code::kHopsRefused, "HOPS_REFUSED", "hops over a port are refused because its RDMA device does not work",
     "the finding gives the advice for its reason; CABLEWAY_TRANSPORT=tcp avoids RDMA"},
    {Code::kRdmaDeviceGone, "RDMA_DEVICE_GONE", "a port had an RDMA device and has none now: its data goes over TCP",
     "check the driver's log (dmesg)"},
    {Code::kRdmaDeviceUnused, "RDMA_DEVICE_UNUSED", "a port has an RDMA device, but the settings disable it",
     "CABLEWAY_TRANSPORT=auto uses it"},
    {Code::kRdmaDeviceNone, "RDMA_DEVICE_NONE", "a port has no RDMA device: its data goes over TCP", "-"},
    {Code::kDatagramsFirewalled, "DATAGRAMS_FIREWALLED", "a firewall on this host rejects what the node sends",
     "allow the ports that the finding names"},
    {Code::kDatagramsUnsent, "DATAGRAMS_UNSENT", "datagrams could not be sent over a port", "see the last error"},
    {Code::kDatagramsRouted, "DATAGRAMS_ROUTED", "datagrams came through a router and were dropped",
     "connect the ports directly, or through a switch"},
    {Code::kDatagramsOversized, "DATAGRAMS_OVERSIZED", "datagrams were larger than this version allows",
     "install the same Cableway on both ends"},

    {Code::kRdmaLinkSlow, "RDMA_LINK_SLOW", "the RDMA device's link is slower than its interface's: lanes may be down",
     "check the cable and its connectors (ethtool, rdma link show)"},
    {Code::kPcieLinkSlow, "PCIE_LINK_SLOW", "a PCIe link cannot carry its share of a port's rate",
     "update the BIOS, use another slot, reseat the adapter; or give both functions of a split plug an address"},
    {Code::kPcieRootShared, "PCIE_ROOT_SHARED", "ports share a PCIe link that moves less than they need together",
     "connect each plug to a different host; a warning says how the link could be wider"},
    {Code::kRdmaLosses, "RDMA_LOSSES", "the RDMA device has counted losses since its start",
     "check again after a job; if they grow, check the cable and flow control"},
    {Code::kRdmaCongestion, "RDMA_CONGESTION", "the RDMA device has counted congestion since its start",
     "check again after a job; a cable without a switch causes none"},

    {Code::kCableTested, "CABLE_TESTED", "a cable is as fast as it should be", "-"},
    {Code::kCableSlow, "CABLE_SLOW",
     "a cable carries less than expected: over RDMA 95 % of its rate, over TCP 70 % of its rate or of 20 Gbit/s, "
     "whichever is less",
     "test again while no job runs; the usual reasons are MTU 1500, a busy CPU, a bad cable (ethtool -S) or a switch"},
    {Code::kCableDegraded, "CABLE_DEGRADED",
     "a cable or plug carries less over RDMA than 95 % of its rate, but only while both directions, or all of its "
     "functions, are busy",
     "test again while no job runs; then reboot both hosts, reseat the cable at both ends, and try another one"},
    {Code::kCableUntested, "CABLE_UNTESTED",
     "a cable's speed was not tested: tests are disabled there, or another test is running",
     "CABLEWAY_CABLE_TEST=true on both nodes allows it"},
    {Code::kCableUnreachable, "CABLE_UNREACHABLE", "a neighbour's relay port is unreachable: circuits fail, too",
     "check firewalls, and run cableway doctor there"},

    {Code::kTopologyInParts, "TOPOLOGY_IN_PARTS", "no path leads from one part of the cluster to the other",
     "connect cables, or start cablewayd there; a node that has ended is forgotten after 5 minutes"},
    {Code::kSinglePointOfFailure, "SINGLE_POINT_OF_FAILURE", "if one node fails, the topology becomes disconnected",
     "add a cable that bypasses it"},
    {Code::kTunerUnfit, "TUNER_UNFIT",
     "CABLEWAY_TUNER is for another cabling than this one, so all_reduce may be slower than it could be",
     "give it the value that the finding names, on all hosts: cableway up with the plan does"},

    {Code::kTopologyAsExpected, "TOPOLOGY_AS_EXPECTED", "the topology is the expected one (CABLEWAY_EXPECT, --expect)",
     "-"},
    {Code::kExpectationUnreadable, "EXPECTATION_UNREADABLE", "the expected topology cannot be read",
     "correct the file or shape that CABLEWAY_EXPECT, expect in the settings file or --expect names"},
    {Code::kExpectedNodeMissing, "EXPECTED_NODE_MISSING", "an expected node is not there, or none of its cables is up",
     "start cablewayd there, or check its name, its cluster and its cables"},
    {Code::kNodeNotExpected, "NODE_NOT_EXPECTED", "a node is not in the expected topology",
     "add it to the expected topology, or disconnect it"},
    {Code::kNodeNamedOtherwise, "NODE_NAMED_OTHERWISE",
     "a node that is not expected has the cables of one that is missing: it has another name",
     "set CABLEWAY_NODE there, or change the name in the expected topology"},
    {Code::kCablesSwapped, "CABLES_SWAPPED", "two cables are exchanged at one end each",
     "swap the two plugs that the finding names"},
    {Code::kCableInWrongPlug, "CABLE_IN_WRONG_PLUG", "a cable is in another plug than expected",
     "move its end to the plug that the finding names"},
    {Code::kExpectedCableMissing, "EXPECTED_CABLE_MISSING", "an expected cable is not there",
     "plug it in at both ends; cableway doctor on both hosts says what is wrong with the ports"},
    {Code::kCableNotExpected, "CABLE_NOT_EXPECTED", "a cable is not in the expected topology",
     "unplug it, or add it to the expected topology"},
    {Code::kCableFunctionsDiffer, "CABLE_FUNCTIONS_DIFFER",
     "a cable is in the right plugs, but not all of their functions are joined, or others with each other",
     "check that the interfaces that the finding names are up and have the planned addresses"},
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

const FindingKind& kind_of(FindingCode code) {
  return kKinds[static_cast<std::size_t>(code)];
}

}  // namespace cableway::cli
