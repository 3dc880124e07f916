#include "sim/simtest/ground/stub_transport.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/rdma/rdma_endpoint.h"
#include "sim/simtest/ground/setup_wire.h"

namespace cableway::sim {
namespace {

class StubEnd : public TransportEnd {
 public:
  virtual std::optional<std::size_t> device() const = 0;
};

class ConnectionEnd final : public StubEnd {
 public:
  std::string name() const override { return "tcp"; }
  std::uint32_t max_chunk_bytes() const override { return kMaxChunkBytes; }
  std::optional<std::size_t> device() const override { return std::nullopt; }
};

class RdmaEnd final : public StubEnd {
 public:
  // `offered`: the dialing end's queue pair until it is settled. If it is never settled, the plant keeps it, fenced,
  // for its whole lifetime, since the other end may be connected to it.
  RdmaEnd(CablePlant& plant, const RdmaPort& port, const RdmaEndpoint& endpoint, std::unique_ptr<StubQueuePair> offered)
      : plant_(plant), port_(port), endpoint_(endpoint), offered_(std::move(offered)) {}
  ~RdmaEnd() override {
    if (offered_ != nullptr) plant_.rdma_ports().abandon(std::move(offered_));
  }

  std::string name() const override { return absl::StrCat("rdma stub", port_.number); }
  std::vector<std::byte> parameters() const override { return encode_rdma_endpoint(endpoint_); }
  std::uint32_t max_chunk_bytes() const override { return RdmaChunkLink::kChunkBytes; }
  std::optional<std::size_t> device() const override { return port_.number; }
  std::unique_ptr<StubQueuePair> take_offered() { return std::move(offered_); }

 private:
  CablePlant& plant_;
  const RdmaPort port_;
  const RdmaEndpoint endpoint_;
  std::unique_ptr<StubQueuePair> offered_;
};

class StubTransport final : public Transport {
 public:
  StubTransport(CablePlant& plant, TraceHash& trace) : plant_(plant), trace_(trace) {}

  TransportKind kind() const override { return TransportKind::kRdma; }
  absl::StatusOr<TransportChoice> offer(const CircuitSetup& setup) override {
    const RdmaPort* const port = port_at(setup.this_hop().from_address);
    if (port == nullptr) return none();
    std::unique_ptr<StubQueuePair> pair = plant_.rdma_ports().network().make_queue_pair(*port->device);
    const RdmaEndpoint endpoint = pair->endpoint();
    return TransportChoice{std::make_unique<RdmaEnd>(plant_, *port, endpoint, std::move(pair)), kAtBothEnds};
  }
  absl::Status settle(const CircuitSetup& /*setup*/, const SetupConnection& connection, TransportEnd& offered,
                      std::span<const std::byte> parameters) override {
    const absl::StatusOr<RdmaEndpoint> answered = decode_rdma_endpoint(parameters);
    if (!answered.ok()) return answered.status();
    trace_.add("rdma");
    return plant_.settle(hop_of(connection), static_cast<RdmaEnd&>(offered).take_offered(), *answered);
  }
  absl::StatusOr<TransportChoice> join(const CircuitSetup& setup, const SetupConnection& connection,
                                       std::span<const std::byte> parameters) override {
    const absl::StatusOr<RdmaEndpoint> offered = decode_rdma_endpoint(parameters);
    if (!offered.ok()) return offered.status();
    const RdmaPort* const port = port_at(connection.own_address());
    if (port == nullptr) return none();
    StubQueuePair* const pair = plant_.rdma_ports().network().find(offered->queue_pair);
    if (pair == nullptr) return absl::UnavailableError("the offered queue pair no longer exists");
    const absl::StatusOr<RdmaEndpoint> joined = plant_.join(hop_of(connection), *pair, setup.last_hop());
    if (!joined.ok()) return joined.status();
    return TransportChoice{std::make_unique<RdmaEnd>(plant_, *port, *joined, nullptr), kAtBothEnds};
  }
  absl::StatusOr<std::string> missing_there() const override { return "the other end offers no RDMA"; }

 private:
  static TransportChoice none() { return {nullptr, "no RDMA device behind it"}; }
  const RdmaPort* port_at(const std::string& address) {
    const std::optional<CablePlant::End> end = plant_.find(address);
    return end.has_value() ? plant_.rdma_ports().find(end->segment, end->end) : nullptr;
  }

  CablePlant& plant_;
  TraceHash& trace_;
};

}  // namespace

TransportNegotiator stub_transports(CablePlant& plant, TraceHash& trace) {
  std::vector<std::unique_ptr<Transport>> list;
  list.push_back(std::make_unique<StubTransport>(plant, trace));
  return {std::move(list), [] { return std::make_unique<ConnectionEnd>(); }};
}

std::optional<std::size_t> device_of(const TransportEnd& end) {
  return static_cast<const StubEnd&>(end).device();
}

}  // namespace cableway::sim
