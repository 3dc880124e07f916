// An insider of a simulation test: a party with the cluster's key, if there is one, on one or two cables of its own. It
// keeps an adjacency there as a node does, relays nothing, and sends false information, at random: advertisements of
// others, cables, addresses and TCP ports that it does not have, also addresses on its true cables, nodes that do not
// exist, hellos in other names. Some insiders use the name of an existing node.
#ifndef CABLEWAY_SIM_SIMTEST_HOSTILE_LIAR_H_
#define CABLEWAY_SIM_SIMTEST_HOSTILE_LIAR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/clock.h"
#include "sim/nodes/lying_node.h"
#include "sim/nodes/node_world.h"
#include "sim/simtest/plan/fault.h"
#include "sim/simtest/plan/simtest_plan.h"
#include "sim/simtest/plan/simtest_random.h"

namespace cableway::sim {

class Liar {
 public:
  // The most advertisements, its own included, that it can make another node hold.
  static constexpr std::size_t kMostInvented = 64;

  // Adds the party and its cables to the fabric: after all nodes and the other cables, whose numbers stay the same. It
  // is no node of the world. All references outlive this.
  Liar(const SimtestPlan& plan, const Fault& fault, NodeWorld& nodes);

  void begin();
  // It leaves, or is unplugged.
  void end();

  const Fault& fault() const { return fault_; }
  // The nodes whose names it has used so far; not those whose addresses it has claimed as its own.
  const std::set<std::size_t>& named() const { return named_; }

 private:
  struct Cable {
    std::size_t node = 0;  // at its other end
    PortId port = 0;       // of that node
    CableFabric::SegmentNumber segment = 0;
  };

  void add_cable(std::size_t node);
  void lie();
  void lie_once(Lies::Kind kind);
  void forge();
  void claim();
  void claim_address();
  void tell();
  void invent();
  void greet();
  void babble();
  void send(ControlKind kind, const std::string& name, std::span<const std::byte> body);
  routing::AdvertisementVersion false_version(const routing::AdvertisementVersion& present);
  std::size_t any_node() { return random_.below(plan_.shape.nodes); }
  std::string any_name();
  PortPrefix address_of(std::size_t node);

  const SimtestPlan& plan_;
  const Fault& fault_;
  const Lies lies_;
  NodeWorld& nodes_;
  SimtestRandom random_;
  const CableFabric::NodeNumber number_;
  std::string name_;
  std::vector<Cable> cables_;
  std::vector<std::size_t> victims_;  // whose advertisements it forges
  std::set<std::size_t> named_;
  std::uint64_t said_ = 0;
  std::optional<LyingNode> node_;  // while it lies
  std::unique_ptr<Timer> next_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_HOSTILE_LIAR_H_
