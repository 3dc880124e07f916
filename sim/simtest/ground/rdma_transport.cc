#include "sim/simtest/ground/rdma_transport.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/setup_connection.h"
#include "core/rdma/rdma_chunk_link.h"
#include "core/rdma/rdma_endpoint.h"
#include "sim/simtest/ground/rdma_hop.h"
#include "sim/simtest/ground/rdma_ports.h"
#include "sim/simtest/ground/setup_wire.h"
#include "sim/simtest/ground/sim_end.h"
#include "sim/stub_rdma/rdma_wire.h"
#include "sim/stub_rdma/stub_relay_memory.h"

namespace cableway::sim {
namespace {

StubNetwork::Settings stub_settings(const SimtestPlan& plan) {
  StubNetwork::Settings settings;
  settings.seed = static_cast<std::uint32_t>(plan.seed);
  settings.max_late_writes = plan.rdma.max_late_writes;
  return settings;
}

class RegisteredStore final : public SlotStore {
 public:
  RegisteredStore(const std::vector<StubDevice*>& devices, const StubRelayMemory::Facts& facts)
      : memory_(devices, facts) {}

  SlotKind kind() const override { return SlotKind::kRegistered; }
  const char* leases_name() const override { return "leased slots for RDMA"; }
  std::unique_ptr<Slot> make_floor(const SimEnd& upstream, const SimEnd& downstream) override {
    return memory_.make_floor(upstream.device(), downstream.device());
  }
  SlotPool& pool() override { return memory_.pool(); }

 private:
  StubRelayMemory memory_;
};

class RdmaEnd final : public SimEnd {
 public:
  // `offered`: the dialing end's queue pair until it is settled. If it is never settled, the ports keep it, fenced, for
  // their whole lifetime, since the other end may be connected to it.
  RdmaEnd(RdmaPorts& ports, const RdmaPort& port, const RdmaEndpoint& endpoint, std::unique_ptr<StubQueuePair> offered)
      : ports_(ports), port_(port), endpoint_(endpoint), offered_(std::move(offered)) {}
  ~RdmaEnd() override {
    if (offered_ != nullptr) ports_.abandon(std::move(offered_));
  }

  std::string name() const override { return absl::StrCat("rdma stub", port_.number); }
  std::vector<std::byte> parameters() const override { return encode_rdma_endpoint(endpoint_); }
  std::uint32_t max_chunk_bytes() const override { return RdmaChunkLink::kChunkBytes; }
  SlotKind slots() const override { return SlotKind::kRegistered; }
  std::optional<std::size_t> device() const override { return port_.number; }
  std::unique_ptr<StubQueuePair> take_offered() { return std::move(offered_); }

 private:
  RdmaPorts& ports_;
  const RdmaPort port_;
  const RdmaEndpoint endpoint_;
  std::unique_ptr<StubQueuePair> offered_;
};

class RdmaTransport final : public SimTransport {
 public:
  RdmaTransport(const SimtestPlan& plan, VirtualClock& clock, const CableFabric& fabric)
      : plan_(plan), clock_(clock), ports_(stub_settings(plan)) {
    const ShapePlan& shape = plan.shape;
    const auto add = [&](CableFabric::SegmentNumber segment, std::size_t end) {
      ports_.add(segment, end, fabric.ends_of(segment)[end].first);
    };
    for (std::size_t cable = 0; cable < shape.cables.size(); ++cable) {
      if (shape.cables[cable].rdma_at_a) add(cable, 0);
      if (shape.cables[cable].rdma_at_b) add(cable, 1);
    }
    for (std::size_t end = 0; end < shape.switch_members.size(); ++end) {
      if (shape.rdma_at_switch) add(shape.cables.size(), end);
    }
  }

  TransportKind kind() const override { return TransportKind::kRdma; }
  std::unique_ptr<Transport> make_negotiated(CablePlant& plant, TraceHash& trace) override;
  std::unique_ptr<SlotStore> make_store(std::size_t node) override {
    const std::vector<StubDevice*>& devices = ports_.devices_of(node);
    if (devices.empty()) return nullptr;
    return std::make_unique<RegisteredStore>(
        devices, StubRelayMemory::Facts{plan_.slot_bytes, plan_.rdma.leases, plan_.rdma.leases_per_circuit});
  }
  std::uint64_t hops() const override { return hops_; }
  std::uint64_t changed_too_early() const override { return ports_.network().changed_too_early(); }
  const absl::Status& misuse() const override { return ports_.network().misuse(); }

 private:
  class Negotiated;

  const SimtestPlan& plan_;
  VirtualClock& clock_;
  RdmaPorts ports_;
  std::uint64_t hops_ = 0;
};

class RdmaTransport::Negotiated final : public Transport {
 public:
  Negotiated(RdmaTransport& rdma, CablePlant& plant, TraceHash& trace) : rdma_(rdma), plant_(plant), trace_(trace) {}

  TransportKind kind() const override { return TransportKind::kRdma; }
  absl::StatusOr<TransportChoice> offer(const CircuitSetup& setup) override {
    const RdmaPort* const port = port_at(setup.this_hop().from_address);
    if (port == nullptr) return none();
    std::unique_ptr<StubQueuePair> pair = rdma_.ports_.network().make_queue_pair(*port->device);
    const RdmaEndpoint endpoint = pair->endpoint();
    return TransportChoice{std::make_unique<RdmaEnd>(rdma_.ports_, *port, endpoint, std::move(pair)), kAtBothEnds};
  }
  // The answer shows that the accepting end has made the hop.
  absl::Status settle(const CircuitSetup& /*setup*/, const SetupConnection& connection, TransportEnd& offered,
                      std::span<const std::byte> parameters) override {
    const absl::StatusOr<RdmaEndpoint> answered = decode_rdma_endpoint(parameters);
    if (!answered.ok()) return answered.status();
    trace_.add("rdma");
    ++rdma_.hops_;
    RdmaHop& made = static_cast<RdmaHop&>(*hop_of(connection).mover);
    return made.settle(static_cast<RdmaEnd&>(offered).take_offered(), *answered);
  }
  absl::StatusOr<TransportChoice> join(const CircuitSetup& setup, const SetupConnection& connection,
                                       std::span<const std::byte> parameters) override {
    const absl::StatusOr<RdmaEndpoint> offered = decode_rdma_endpoint(parameters);
    if (!offered.ok()) return offered.status();
    const RdmaPort* const port = port_at(connection.own_address());
    if (port == nullptr) return none();
    StubQueuePair* const pair = rdma_.ports_.network().find(offered->queue_pair);
    if (pair == nullptr) return absl::UnavailableError("the offered queue pair no longer exists");
    const absl::StatusOr<RdmaEndpoint> joined = make_hop(hop_of(connection), *pair).join(setup.last_hop());
    if (!joined.ok()) return joined.status();
    return TransportChoice{std::make_unique<RdmaEnd>(rdma_.ports_, *port, *joined, nullptr), kAtBothEnds};
  }
  absl::StatusOr<std::string> missing_there() const override { return "the other end offers no RDMA"; }

 private:
  static TransportChoice none() { return {nullptr, "no RDMA device behind it"}; }
  const RdmaPort* port_at(const std::string& address) {
    const std::optional<CablePlant::End> end = plant_.find(address);
    return end.has_value() ? rdma_.ports_.find(end->segment, end->end) : nullptr;
  }
  RdmaHop& make_hop(PlantHop& hop, StubQueuePair& offered);

  RdmaTransport& rdma_;
  CablePlant& plant_;
  TraceHash& trace_;
};

RdmaHop& RdmaTransport::Negotiated::make_hop(PlantHop& hop, StubQueuePair& offered) {
  RdmaWire::Facts wire;
  wire.latency = plant_.facts().latency;
  wire.gives_up_after = rdma_.plan_.rdma.gives_up_after;
  wire.max_lag = rdma_.plan_.rdma.max_lag;
  RdmaPorts& ports = rdma_.ports_;
  auto made = std::make_unique<RdmaHop>(
      rdma_.clock_, ports.network(), wire, plant_.transmitter({hop.segment, hop.from_end}),
      plant_.transmitter({hop.segment, hop.to_end}), offered,
      RdmaHop::End{*ports.find(hop.segment, hop.from_end), hop.connection->source(), hop.source},
      RdmaHop::End{*ports.find(hop.segment, hop.to_end), hop.connection->destination(), hop.destination});
  RdmaHop& rdma = *made;
  plant_.set_mover(hop, std::move(made));
  return rdma;
}

std::unique_ptr<Transport> RdmaTransport::make_negotiated(CablePlant& plant, TraceHash& trace) {
  return std::make_unique<Negotiated>(*this, plant, trace);
}

}  // namespace

std::unique_ptr<SimTransport> make_rdma_transport(const SimtestPlan& plan, VirtualClock& clock,
                                                  const CableFabric& fabric) {
  return std::make_unique<RdmaTransport>(plan, clock, fabric);
}

}  // namespace cableway::sim
