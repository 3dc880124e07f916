// A hop between two comms over RDMA in memory (sim/stub_rdma): with the worst timing that a device may have, and with
// keys that are valid only while the memory is registered. Each end has a device of its own. Nothing moves until the
// test steps the network.
#ifndef CABLEWAY_TESTS_NCCL_ADAPTER_STUB_HOP_H_
#define CABLEWAY_TESTS_NCCL_ADAPTER_STUB_HOP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/link/hop_connection.h"
#include "core/linux/rdma/tcp_lifeline.h"
#include "core/rdma/rdma_chunk_link.h"
#include "sim/stub_rdma/stub_network.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::nccl::test {

// One end's device, and what the comm has registered with it.
struct StubPort {
  sim::StubNetwork& network;
  sim::StubDevice& device;
  std::uint32_t queue_pair = 0;
  std::size_t regions = 0;
  // A region was released while the device could still read or write it.
  bool released_too_early = false;
  bool in_use = false;  // from now on regions are released only when the comm ends

  bool is_fenced() const {
    sim::StubQueuePair* const pair = network.find(queue_pair);
    return pair == nullptr || pair->poll({}).status().message() == "the queue pair is closed";
  }
};

class StubHopLink final : public host::HopLink, private host::MemoryRegistrar {
 public:
  StubHopLink(host::UniqueFd socket, StubPort& port, std::unique_ptr<sim::StubQueuePair> pair,
              const RdmaEndpoint& other, RdmaChunkLink::Place place)
      : StubHopLink(std::make_unique<host::TcpLifeline>(std::move(socket)), port, std::move(pair), other, place) {}

  ChunkLink& link() override { return link_; }
  int socket() const override { return lifeline_.socket(); }
  void on_readable(bool /*ended*/) override { link_.on_lifeline(); }
  bool needs_idle_polls() const override { return true; }
  absl::Status check() override { return absl::OkStatus(); }
  const host::MemoryRegistrar* registrar() const override { return this; }
  host::UniqueFd take_socket() override {
    link_.fence();
    return lifeline_.take_socket();
  }

 private:
  class Registered final : public host::RegisteredMemory {
   public:
    Registered(StubPort& port, sim::StubMemory memory) : port_(port), memory_(std::move(memory)) { ++port_.regions; }
    ~Registered() override {
      --port_.regions;
      if (port_.in_use && !port_.is_fenced()) port_.released_too_early = true;
    }
    std::uint32_t local_key() const override { return memory_.keys().local; }
    std::uint32_t remote_key() const override { return memory_.keys().remote; }

   private:
    StubPort& port_;
    const sim::StubMemory memory_;
  };

  StubHopLink(std::unique_ptr<host::TcpLifeline> lifeline, StubPort& port, std::unique_ptr<sim::StubQueuePair> pair,
              const RdmaEndpoint& other, RdmaChunkLink::Place place)
      : port_(port), lifeline_(*lifeline), link_(std::move(pair), other, std::move(lifeline), place) {}

  const void* device() const override { return &port_.device; }
  absl::StatusOr<std::unique_ptr<host::RegisteredMemory>> add(void* data, std::size_t bytes,
                                                              host::MemoryAccess access) const override {
    const std::span<std::byte> memory(static_cast<std::byte*>(data), bytes);
    return std::make_unique<Registered>(
        port_, access.lands ? port_.device.register_writable(memory) : port_.device.register_memory(memory));
  }
  absl::StatusOr<std::unique_ptr<host::RegisteredMemory>> add_dmabuf(int /*fd*/, std::uint64_t /*offset*/,
                                                                     std::size_t /*bytes*/, std::uint64_t /*address*/,
                                                                     host::MemoryAccess /*access*/) const override {
    return absl::UnimplementedError("stub devices have no dmabufs");
  }
  absl::StatusOr<std::unique_ptr<host::MemoryFlush>> make_flush() const override {
    return absl::UnimplementedError("stub devices have no flush");
  }

  StubPort& port_;
  host::TcpLifeline& lifeline_;  // of the link
  RdmaChunkLink link_;
};

class StubEnd final : public host::HostEnd {
 public:
  StubEnd(StubPort& port, std::unique_ptr<sim::StubQueuePair> pair, const RdmaEndpoint& other)
      : port_(port), pair_(std::move(pair)), other_(other) {}

  std::string name() const override { return "rdma stub"; }
  std::uint32_t max_chunk_bytes() const override { return kMaxChunkBytes; }
  SlotKind slots() const override { return SlotKind::kUnregistered; }
  absl::StatusOr<std::unique_ptr<host::HopLink>> make_link(host::UniqueFd connection,
                                                           const host::HopLinkOptions& options) override {
    const bool accepted = options.place == host::HopPlace::kDestination;
    return std::make_unique<StubHopLink>(std::move(connection), port_, std::move(pair_), other_,
                                         RdmaChunkLink::Place{options.last_hop, accepted, 0});
  }

 private:
  StubPort& port_;
  std::unique_ptr<sim::StubQueuePair> pair_;
  const RdmaEndpoint other_;
};

// Both ends of a hop from a source to its destination.
struct HopEnds {
  host::HopConnection source;
  host::HopConnection destination;
};

// Over the two ports' devices, which must outlive the comms.
inline HopEnds make_stub_hop(StubPort& source, StubPort& destination, std::uint32_t chunk_bytes) {
  auto [near, far] = source.network.make_pair(source.device, destination.device);
  source.queue_pair = near->endpoint().queue_pair;
  destination.queue_pair = far->endpoint().queue_pair;
  const RdmaEndpoint near_end = near->endpoint();
  const RdmaEndpoint far_end = far->endpoint();
  auto [here, there] = host::test::connected_pair();
  return {{std::move(here), std::make_unique<StubEnd>(source, std::move(near), far_end), "a test", chunk_bytes},
          {std::move(there), std::make_unique<StubEnd>(destination, std::move(far), near_end), "a test", chunk_bytes}};
}

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_NCCL_ADAPTER_STUB_HOP_H_
