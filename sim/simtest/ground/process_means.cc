#include "sim/simtest/ground/process_means.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/simtest/ground/node_process.h"

namespace cableway::sim {
namespace {

std::string text_of(const std::string& from_node, const std::vector<Hop>& path) {
  CircuitSetup setup;
  setup.from_node = from_node;
  setup.hops = path;
  return describe_path(setup);
}

}  // namespace

ProcessMeans::ProcessMeans(SimtestGround& ground, std::size_t node)
    : ground_(ground),
      node_(node),
      means_{ground.means_of(node),
             [this](const std::string& destination, std::uint64_t ordinal, std::size_t most, HavePaths done) {
               find_paths(destination, ordinal, most, std::move(done));
             },
             [this](const std::string& other, std::uint64_t ordinal, std::size_t most, const HavePaths& done) {
               NodeProcess& process = *ground_.processes[node_];
               if (process.door() == nullptr) return done(absl::UnavailableError("no node runs here"));
               done(process.find_inquiry_paths(other, ordinal, most));
             },
             [this] { return ground_.tools.keys_of(node_).sealing(); }} {}

void ProcessMeans::node_ended() {
  for (auto& [number, done] : std::exchange(requests_, {})) done(absl::UnavailableError("no node runs here any more"));
}

void ProcessMeans::find_paths(const std::string& destination, std::uint64_t ordinal, std::size_t most, HavePaths done) {
  NodeProcess& node = *ground_.processes[node_];
  if (node.door() == nullptr) return done(absl::UnavailableError("no node runs here"));
  const std::uint64_t number = next_request_++;
  requests_[number] = std::move(done);
  node.find_paths(destination, ordinal, most, [this, number, destination](absl::StatusOr<PathOffers> offers) {
    auto request = requests_.extract(number);
    if (!request.empty()) request.mapped()(checked(std::move(offers), destination));
  });
}

absl::StatusOr<PathOffers> ProcessMeans::checked(absl::StatusOr<PathOffers> offers, const std::string& destination) {
  if (!offers.ok()) return offers;
  for (const PathOffer& offer : *offers) {
    if (const absl::Status status = check(offer.hops, destination); !status.ok()) {
      ground_.rules.broken(3, std::string(status.message()));
      return status;
    }
  }
  return offers;
}

// Checks with the node's topology that the path leads to the destination, visits no node twice and crosses no draining
// node. A cable that loses packets is left out of the topology, and may be needed.
absl::Status ProcessMeans::check(const std::vector<Hop>& path, const std::string& destination) const {
  const routing::Topology& topology = ground_.nodes.node(node_).paths().topology();
  const std::string from = SimtestGround::name(node_);
  const auto wrong = [&](const std::string& what) {
    return absl::InternalError(absl::StrCat("path ", text_of(from, path), " ", what));
  };
  if (path.empty() || path.back().to_node != destination) return wrong("does not lead to its destination");
  if (destination == from) return absl::OkStatus();
  const auto is_lossy = [&](const std::string& name) {
    const auto& unused = topology.unused_cables();
    return std::any_of(unused.begin(), unused.end(),
                       [&](const routing::Cable& cable) { return cable.name == name && !cable.draining; });
  };
  std::set<std::string> seen{from};
  std::string at = from;
  for (const Hop& hop : path) {
    if (!seen.insert(hop.to_node).second) return wrong(absl::StrCat("visits ", hop.to_node, " twice"));
    const auto cable = topology.find_cable(hop.cable);
    const auto here = topology.find_node(at);
    const auto there = topology.find_node(hop.to_node);
    const bool is_known = cable.has_value() || is_lossy(hop.cable);
    if (!is_known || !here.has_value() || !there.has_value())
      return wrong("has a node or cable that its source does not have");
    if (&hop != &path.back() && topology.node(*there).draining) {
      return wrong(absl::StrCat("leads through ", hop.to_node, ", which is draining"));
    }
    if (!ground_.plant.find(hop.from_address).has_value() || !ground_.plant.find(hop.to_address).has_value()) {
      return wrong("has an address that no port has");
    }
    at = hop.to_node;
  }
  return absl::OkStatus();
}

}  // namespace cableway::sim
