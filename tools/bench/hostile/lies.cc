#include "tools/bench/hostile/lies.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/link_state/advertisement.h"
#include "sim/nodes/invented_crowd.h"

namespace cableway::bench {
namespace {

using routing::Advertisement;

constexpr std::size_t kRenewed = 64;  // invented nodes
constexpr std::size_t kCablesOfHead = 8;
constexpr std::uint32_t kFirstPort = 2'000'000;  // of claimed addresses

sim::InventedCrowd crowd_of(const sim::LyingNode& node, std::size_t nodes, std::size_t cables_each) {
  return sim::invented_crowd(node.identity().cluster, node.identity().name, "invented",
                             {nodes, cables_each, std::min(nodes, kCablesOfHead)});
}

void say(sim::LyingNode& node, const sim::InventedCrowd& crowd) {
  node.claim(crowd.head_ports, crowd.head_adjacencies);
  for (const Advertisement& each : crowd.nodes) node.say(each);
}

}  // namespace

void invent_nodes(sim::LyingNode& node, std::size_t nodes, std::size_t cables_each) {
  say(node, crowd_of(node, nodes, cables_each));
}

void claim_addresses(sim::LyingNode& node, const std::vector<routing::PortAddress>& addresses) {
  std::vector<routing::AdvertisedPort> ports;
  std::vector<routing::AdvertisedAdjacency> adjacencies;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    Advertisement other;
    other.name = absl::StrCat("claims", i);
    other.origin = routing::node_id(node.identity().cluster, other.name);
    other.version = {1, 1};
    other.ports.push_back({.id = 1, .interface = "eth0", .plug = "", .root = ""});
    routing::PortAddress beside = addresses[i];
    beside.bytes[3] ^= 0x40;
    const auto port = static_cast<std::uint32_t>(kFirstPort + i);
    other.adjacencies.push_back({1, node.identity().id(), port, beside});
    ports.push_back({.id = port, .interface = absl::StrCat("claim", i), .plug = "", .root = ""});
    adjacencies.push_back({port, other.origin, 1, addresses[i]});
    node.say(other);
  }
  node.claim(std::move(ports), std::move(adjacencies));
}

std::unique_ptr<PacedCalls> forge(sim::LyingNode& node, Clock& clock, std::vector<std::string> names,
                                  std::uint64_t boot_nonce, std::uint64_t per_second) {
  return std::make_unique<PacedCalls>(clock, per_second,
                                      [&node, boot_nonce, names = std::move(names)](std::uint64_t call) {
                                        Advertisement forged;
                                        forged.name = names[call % names.size()];
                                        forged.origin = routing::node_id(node.identity().cluster, forged.name);
                                        forged.version = {boot_nonce + call, routing::kMaxSequence};
                                        node.say(forged);
                                      });
}

std::unique_ptr<PacedCalls> renew_own(sim::LyingNode& node, Clock& clock, std::uint64_t per_second) {
  sim::InventedCrowd crowd = crowd_of(node, 1, 0);
  say(node, crowd);
  return std::make_unique<PacedCalls>(clock, per_second, [&node, crowd = std::move(crowd)](std::uint64_t call) {
    if (call % 2 == 0) {
      node.claim({}, {});
    } else {
      node.claim(crowd.head_ports, crowd.head_adjacencies);
    }
  });
}

std::unique_ptr<PacedCalls> renew_invented(sim::LyingNode& node, Clock& clock, std::uint64_t per_second) {
  sim::InventedCrowd crowd = crowd_of(node, kRenewed, 1);
  say(node, crowd);
  return std::make_unique<PacedCalls>(clock, per_second, [&node, crowd = std::move(crowd)](std::uint64_t call) mutable {
    Advertisement& next = crowd.nodes[call % crowd.nodes.size()];
    ++next.version.sequence;
    next.draining = !next.draining;
    node.say(next);
  });
}

std::unique_ptr<PacedCalls> renew_ports(sim::LyingNode& node, Clock& clock, std::uint64_t per_second) {
  return std::make_unique<PacedCalls>(clock, per_second, [&node](std::uint64_t call) {
    TcpPorts ports(kMaxToldPorts);
    const auto first = static_cast<std::uint16_t>(10'000 + call % 16 * (kMaxToldPorts / 2));
    std::iota(ports.begin(), ports.end(), first);
    node.tell({routing::kDefaultRelayPort, std::move(ports)});
  });
}

}  // namespace cableway::bench
