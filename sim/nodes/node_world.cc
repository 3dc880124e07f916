#include "sim/nodes/node_world.h"

namespace cableway::sim {
namespace {

// The wall-clock start of every simulated world, for the nodes' events.
constexpr WallTime kBeginning = std::chrono::sys_days(std::chrono::January / 1 / 2000);

}  // namespace

std::vector<CableFabric::SegmentNumber> NodeWorld::build(
    std::size_t nodes, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& cables) {
  for (std::size_t i = 0; i < nodes; ++i) {
    NodeOptions options;
    options.identity.cluster = "test";
    options.identity.name = "n" + std::to_string(i);
    add_node(std::move(options));
  }
  std::vector<CableFabric::SegmentNumber> segments;
  segments.reserve(cables.size());
  for (const auto& [a, b] : cables) segments.push_back(fabric_.add_cable(a, b));
  return segments;
}

NodeWorld::NodeNumber NodeWorld::add_node(NodeOptions options) {
  places_.push_back(Place{std::move(options), &no_seal_, &clock_, nullptr});
  return fabric_.add_node();
}

void NodeWorld::start(NodeNumber number) {
  Place& place = places_[number];
  place.options.identity.boot_nonce = ++boots_;
  place.options.advertisements = advertisements_;
  place.options.wall_clock = [this] {
    return kBeginning + std::chrono::floor<std::chrono::milliseconds>(clock_.now().since_start);
  };
  FabricPorts& ports = fabric_.ports_of(number);
  place.node = std::make_unique<Node>(
      place.options, *place.clock, ports, ports, *place.seal, [this] { return random_(); },
      Node::Observer{[this, number] { topology_observer_(number); }, [this, number] { ports_observer_(number); },
                     [this, number](const Event& event) { observer_(number, event); },
                     [this, number](const PortLost& lost) { unfit_observer_(number, lost); },
                     [](const std::string& /*cable*/) {}, [this, number] { told_observer_(number); }});
  place.node->start();
}

void NodeWorld::start_all() {
  for (NodeNumber number = 0; number < places_.size(); ++number) start(number);
}

void NodeWorld::kill(NodeNumber number) {
  FabricPorts& ports = fabric_.ports_of(number);
  ports.listen([](const ReceivedDatagram&) {});
  ports.watch([] {});
  places_[number].node.reset();
}

void NodeWorld::leave(NodeNumber number) {
  places_[number].node->leave();
  kill(number);
}

bool NodeWorld::agrees() const {
  const routing::LinkStateDatabase* first = nullptr;
  for (const Place& place : places_) {
    if (place.node == nullptr) continue;
    if (!place.node->flooding().settled()) return false;
    const routing::LinkStateDatabase& database = place.node->flooding().database();
    if (first == nullptr) first = &database;
    if (!(database == *first)) return false;
  }
  return true;
}

bool NodeWorld::settle(Duration limit, const std::function<bool()>& also) {
  // Comparing all databases is expensive, so it is done only after steps of many events.
  constexpr Duration kStep = std::chrono::milliseconds(5);
  const Instant end = clock_.now() + limit;
  while (!(agrees() && also())) {
    if (clock_.now() >= end) return false;
    clock_.run_for(kStep);
  }
  return true;
}

}  // namespace cableway::sim
