// Feeds bytes to a whole node as a datagram on its port: the envelope and its contents. The node must keep working.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/nodes/node_world.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  sim::NodeWorld world(1);
  world.build(1, {});
  PortFacts facts;
  facts.interface = "eth0";
  facts.mtu = 1500;
  facts.addresses = {{*routing::parse_port_address("10.0.0.1"), 24}};
  const PortId port = world.fabric().add_port(0, facts);
  world.fabric().join({{0, port}});
  world.start_all();
  world.clock().run_for(std::chrono::milliseconds(50));
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  world.fabric().inject(0, port, *routing::parse_port_address("10.0.0.2"), std::vector<std::byte>(bytes, bytes + size));
  world.clock().run_for(std::chrono::milliseconds(50));
  require(world.node(0).neighbours().all().size() <= 1, "one datagram made several neighbours");
  require(world.node(0).paths().reaches("n0"), "the node cannot reach itself");
  return 0;
}
