#include "sim/nodes/invented_crowd.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cableway::sim {
namespace {

constexpr std::uint32_t kFirstHeadPort = 1'000'000;

// Of the end `end` of the cable numbered `cable`: 11.x.y.z.
routing::PortAddress invented_address(std::uint32_t cable, std::uint32_t end) {
  const std::uint32_t host = cable * 2 + end;
  routing::PortAddress address;
  address.bytes = {11, static_cast<std::uint8_t>(host >> 16), static_cast<std::uint8_t>(host >> 8),
                   static_cast<std::uint8_t>(host)};
  return address;
}

// Adds a port to a list, with the next number.
std::uint32_t add_port(std::vector<routing::AdvertisedPort>& ports, std::uint32_t first) {
  const auto id = static_cast<std::uint32_t>(first + ports.size());
  ports.push_back({.id = id, .interface = "eth" + std::to_string(ports.size()), .plug = "", .root = ""});
  return id;
}

class Invention {
 public:
  Invention(const std::string& cluster, const std::string& head, const std::string& prefix, std::size_t nodes,
            std::uint64_t sequence)
      : head_(routing::node_id(cluster, head)) {
    for (std::size_t i = 0; i < nodes; ++i) {
      routing::Advertisement node;
      node.name = prefix + std::to_string(i);
      node.origin = routing::node_id(cluster, node.name);
      node.version = {1, sequence};
      crowd_.nodes.push_back(std::move(node));
    }
  }

  void join(std::size_t from, std::size_t to) {
    routing::Advertisement& a = crowd_.nodes[from];
    routing::Advertisement& b = crowd_.nodes[to];
    const std::uint32_t cable = cables_++;
    const std::uint32_t port = add_port(a.ports, 1);
    const std::uint32_t other_port = add_port(b.ports, 1);
    a.adjacencies.push_back({port, b.origin, other_port, invented_address(cable, 0)});
    b.adjacencies.push_back({other_port, a.origin, port, invented_address(cable, 1)});
  }

  void join_head(std::size_t to) {
    routing::Advertisement& b = crowd_.nodes[to];
    const std::uint32_t cable = cables_++;
    const std::uint32_t port = add_port(crowd_.head_ports, kFirstHeadPort);
    crowd_.head_ports.back().interface = "inv" + std::to_string(cable % 1'000'000);
    const std::uint32_t other_port = add_port(b.ports, 1);
    crowd_.head_adjacencies.push_back({port, b.origin, other_port, invented_address(cable, 0)});
    b.adjacencies.push_back({other_port, head_, port, invented_address(cable, 1)});
  }

  InventedCrowd finish() && {
    for (routing::Advertisement& node : crowd_.nodes) {
      std::sort(node.adjacencies.begin(), node.adjacencies.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.port, a.neighbour, a.neighbour_port) < std::tuple(b.port, b.neighbour, b.neighbour_port);
      });
    }
    return std::move(crowd_);
  }

 private:
  routing::NodeId head_;
  std::uint32_t cables_ = 0;
  InventedCrowd crowd_;
};

}  // namespace

InventedCrowd invented_crowd(const std::string& cluster, const std::string& head, const std::string& prefix,
                             const CrowdShape& shape, std::uint64_t sequence) {
  Invention invention(cluster, head, prefix, shape.nodes, sequence);
  for (std::size_t i = 0; i < shape.cables_of_head; ++i) {
    invention.join_head(i * shape.nodes / shape.cables_of_head);
  }
  for (std::size_t step = 1; step <= shape.cables_each; ++step) {
    for (std::size_t i = 0; i < shape.nodes; ++i) invention.join(i, (i + step) % shape.nodes);
  }
  return std::move(invention).finish();
}

}  // namespace cableway::sim
