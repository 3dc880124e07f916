// Feeds a sequence of datagrams to a whole node with a live neighbour, as a party on another of its cables would that
// has the cluster's key: hellos that answer challenges or do not, with any names, numbers and addresses; advertisements
// of any origin, and lists of TCP ports, over an adjacency that is up; recordings of what the neighbour has sent; plain
// bytes. The neighbour has to stay up, what it has announced has to count, and what the node keeps has to stay bounded.
//
//   n1 eth0 --- eth0 n0 eth1 --- the party
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/discovery/life_challenges.h"
#include "core/flooding/advertisement_codec.h"
#include "core/flooding/link_segment.h"
#include "core/flooding/told_ports.h"
#include "core/wire.h"
#include "routing/link_state/advertisement_weight.h"
#include "sim/nodes/node_world.h"
#include "tests/fuzz/require.h"

namespace cableway {
namespace {

using fuzz::require;
using std::chrono::milliseconds;

constexpr std::size_t kMostSteps = 64;
constexpr char kCluster[] = "test";
constexpr std::uint16_t kNeighboursProcess = 0x5151;

class Party {
 public:
  explicit Party(std::span<const std::byte> script) : script_(script) {
    world_.build(3, {{0, 1}, {0, 2}});
    world_.fabric().tap([this](std::size_t from, PortId, std::span<const std::byte> bytes) {
      if (from == 1 && heard_.size() < 100) heard_.emplace_back(bytes.begin(), bytes.end());
    });
    world_.start(0);
    world_.start(1);
    require(world_.clock().run_until_true([this] { return neighbour_is_up(); }, milliseconds(2000)),
            "the neighbour does not come up");
    world_.node(1).tell_ports({kNeighboursProcess});
    world_.clock().run_for(milliseconds(200));
    own_ = world_.fabric().ports_of(0).ports()[1].id;
    port_ = world_.fabric().ports_of(2).ports()[0];
  }

  void act() {
    for (std::size_t step = 0; step < kMostSteps && script_.left() > 0; ++step) {
      take_step();
      world_.clock().run_for(milliseconds(script_.get<std::uint8_t>() % 64));
      check();
    }
    // Effects of a party's messages may last as long.
    world_.clock().run_for(milliseconds(5000));
    check();
    require(world_.node(0).paths().reaches("n1"), "the node has no path to its neighbour");
  }

 private:
  void take_step() {
    switch (script_.get<std::uint8_t>() % 6) {
      case 0:
        return say_hello(any_life());
      case 1:
        return answer();
      case 2:
        return advertise();
      case 3:
        return replay();
      case 4:
        return send_bytes();
      default:
        return tell_ports();
    }
  }

  struct Name {
    std::string node;
    std::uint64_t boot_nonce = 0;
    PortId port = 1;
  };

  // Often one that is known: of the node itself, of its neighbour, or one of few.
  std::string any_name() {
    const std::uint8_t which = script_.get<std::uint8_t>();
    return which % 8 < 2 ? "n" + std::to_string(which % 8) : "x" + std::to_string(which / 8);
  }
  std::uint64_t any_number() {
    const std::uint8_t kind = script_.get<std::uint8_t>();
    if (kind % 4 == 0) return ~std::uint64_t{0} - kind / 4;
    if (kind % 4 == 1) return script_.get<std::uint64_t>();
    return kind;
  }
  Name any_life() { return {any_name(), any_number(), 1 + script_.get<std::uint8_t>() % 3U}; }

  void send(ControlKind kind, const Name& name, std::span<const std::byte> body) {
    const ControlDatagram datagram{kind,
                                   routing::cluster_id(kCluster),
                                   routing::node_id(kCluster, name.node),
                                   name.boot_nonce,
                                   ++counter_,
                                   name.port,
                                   body};
    world_.fabric().inject(0, own_, port_.addresses[0].address, encode_control_datagram(datagram, seal_));
  }

  void say_hello(const Name& name, std::vector<HeardNeighbour> heard = {}) {
    const std::uint8_t bits = script_.get<std::uint8_t>();
    PortHello hello;
    hello.node = name.node;
    hello.interface = (bits & 1) != 0 ? "eth0" : "eth7";
    hello.mtu = (bits & 2) != 0 ? 1400 : 1500;
    hello.hold_ms = (bits & 4) != 0 ? 120'000 : 1000;
    hello.leaving = (bits & 0x38) == 0x38;
    hello.sent_ns = 1 + any_number() / 2;
    hello.addresses = hello_addresses(port_, {});
    // One of the neighbour, or of the node.
    if ((bits & 0xc0) == 0xc0) hello.addresses = hello_addresses(world_.fabric().ports_of(bits & 1).ports()[0], {});
    hello.heard = std::move(heard);
    const std::size_t least = bits % 2 == 0 ? full_size_bytes(1500, false) - kControlEnvelopeBytes : 0;
    send(ControlKind::kHello, name, encode_port_hello(hello, least));
  }

  HeardNeighbour entry(std::uint64_t number) {
    return {routing::node_id(kCluster, "n0"),
            own_,
            world_.node(0).identity().boot_nonce,
            number,
            7,
            true,
            HelloEcho{static_cast<std::uint64_t>(world_.clock().now().since_start.count()), 0},
            FullSize::kArrives};
  }

  // One of the challenges, or keeps up one that was believed.
  void answer() {
    const std::size_t which = script_.get<std::uint8_t>();
    const auto& challenged = world_.node(0).neighbours().challenged();
    if (!challenged.empty()) {
      const auto& [key, life] = *std::next(challenged.begin(), static_cast<std::ptrdiff_t>(which % challenged.size()));
      return say_hello({life.name, key.boot_nonce, key.end.neighbour_port}, {entry(life.number)});
    }
    if (const auto* believed = any_believed(which)) {
      const auto& [key, neighbour] = *believed;
      say_hello({neighbour.name, neighbour.boot_nonce, key.neighbour_port}, {entry(neighbour.our_adjacency)});
    }
  }

  const std::pair<const NeighbourKey, Neighbour>* any_believed(std::size_t which) {
    std::vector<const std::pair<const NeighbourKey, Neighbour>*> found;
    for (const auto& each : world_.node(0).neighbours().all()) {
      if (each.first.port == own_) found.push_back(&each);
    }
    return found.empty() ? nullptr : found[which % found.size()];
  }

  void advertise() {
    const auto* believed = any_believed(script_.get<std::uint8_t>());
    if (believed == nullptr) return;
    routing::Advertisement advertisement;
    advertisement.name = any_name();
    advertisement.origin = routing::node_id(kCluster, advertisement.name);
    advertisement.version = {any_number(), any_number()};
    advertisement.ports.push_back({.id = 1, .interface = "eth0", .plug = "", .root = ""});
    for (std::uint8_t i = script_.get<std::uint8_t>() % 4; i > 0; --i) {
      advertisement.adjacencies.push_back({1, routing::node_id(kCluster, any_name()), i,
                                           world_.fabric().ports_of(i % 3).ports()[0].addresses[0].address});
    }
    std::sort(advertisement.adjacencies.begin(), advertisement.adjacencies.end());
    send_message(*believed, {LinkMessageKind::kAdvertisement,
                             encode_advertisement({milliseconds(any_number() % 400'000), advertisement})});
  }

  // Many lists in one segment.
  void tell_ports() {
    const auto* believed = any_believed(script_.get<std::uint8_t>());
    if (believed == nullptr) return;
    AnnouncedPorts ports;
    ports.relay = script_.get<std::uint16_t>();
    for (std::uint8_t i = script_.get<std::uint8_t>() % 8; i > 0; --i) {
      ports.processes.push_back(script_.get<std::uint16_t>());
    }
    send_message(*believed, {LinkMessageKind::kToldPorts, encode_told_ports(ports)}, 1 + script_.get<std::uint8_t>());
  }

  void send_message(const std::pair<const NeighbourKey, Neighbour>& believed, const LinkMessage& message,
                    std::size_t times = 1) {
    const auto& [key, neighbour] = believed;
    LinkSegment segment;
    segment.to = routing::node_id(kCluster, "n0").value;
    segment.your_adjacency = neighbour.our_adjacency;
    segment.my_adjacency = neighbour.their_adjacency;
    segment.sequence = ++sequences_[neighbour.our_adjacency];
    segment.messages.assign(times, message);
    send(ControlKind::kSegment, {neighbour.name, neighbour.boot_nonce, key.neighbour_port},
         encode_link_segment(segment));
  }

  void replay() {
    if (heard_.empty()) return;
    const auto& bytes = heard_[script_.get<std::uint8_t>() % heard_.size()];
    world_.fabric().inject(0, own_, port_.addresses[0].address, bytes);
  }

  void send_bytes() {
    std::vector<std::byte> bytes(std::min<std::size_t>(script_.get<std::uint8_t>(), script_.left()));
    script_.get_bytes(bytes);
    world_.fabric().inject(0, own_, port_.addresses[0].address, std::move(bytes));
  }

  bool neighbour_is_up() { return neighbours_key() != nullptr; }
  const NeighbourKey* neighbours_key() {
    for (const auto& [key, neighbour] : world_.node(0).neighbours().all()) {
      if (neighbour.name == "n1" && neighbour.our_interface == "eth0" && neighbour.up) return &key;
    }
    return nullptr;
  }

  void check_told(const Node& node) {
    const NeighbourKey& key = *neighbours_key();
    const ToldPorts& told = node.flooding().told_ports();
    require(told.relay_of(key) == routing::kDefaultRelayPort, "the neighbour's relay has another port");
    require(told.has_process(key, kNeighboursProcess, node.now()), "the neighbour's process is not known");
    require(!told.has_process(key, kNeighboursProcess + 1, node.now()), "a process that the neighbour does not have");
  }

  void check() {
    Node& node = world_.node(0);
    require(neighbour_is_up(), "the neighbour is no longer up");
    check_told(node);
    require(node.neighbours().challenged().size() <= 2 * LifeChallenges::kMaxOfPort, "too many lives are challenged");
    require(node.neighbours().all().size() <= kMaxHeard - LifeChallenges::kMaxInHello + 1, "too many neighbours");
    require(node.problems().size() <= 2 * Problems::kMax + 2, "too many problems");
    require(node.flooding().database().weight() <= 2 * routing::kMaxWeight, "too large a database");
  }

  sim::NodeWorld world_{1};
  NoSeal seal_;
  WireReader script_;
  std::vector<std::vector<std::byte>> heard_;
  PortId own_ = 0;
  PortFacts port_;
  std::uint64_t counter_ = 0;
  std::map<std::uint64_t, std::uint32_t> sequences_;
};

}  // namespace
}  // namespace cableway

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cableway::Party(std::span(reinterpret_cast<const std::byte*>(data), size)).act();
  return 0;
}
