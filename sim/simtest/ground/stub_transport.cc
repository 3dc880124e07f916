#include "sim/simtest/ground/stub_transport.h"

#include <string>
#include <utility>

#include "core/flow/frame.h"
#include "sim/simtest/ground/rdma_transport.h"
#include "sim/simtest/ground/sim_end.h"

namespace cableway::sim {
namespace {

class ConnectionEnd final : public SimEnd {
 public:
  std::string name() const override { return "tcp"; }
  std::uint32_t max_chunk_bytes() const override { return kMaxChunkBytes; }
  SlotKind slots() const override { return SlotKind::kUnregistered; }
};

}  // namespace

std::vector<std::unique_ptr<SimTransport>> stub_transports(const SimtestPlan& plan, VirtualClock& clock,
                                                           const CableFabric& fabric) {
  std::vector<std::unique_ptr<SimTransport>> table;
  table.push_back(make_rdma_transport(plan, clock, fabric));
  return table;
}

TransportNegotiator negotiate(const std::vector<std::unique_ptr<SimTransport>>& transports, CablePlant& plant,
                              TraceHash& trace) {
  std::vector<std::unique_ptr<Transport>> list;
  list.reserve(transports.size());
  for (const std::unique_ptr<SimTransport>& transport : transports) {
    list.push_back(transport->make_negotiated(plant, trace));
  }
  return {std::move(list), [] { return std::make_unique<ConnectionEnd>(); }};
}

}  // namespace cableway::sim
