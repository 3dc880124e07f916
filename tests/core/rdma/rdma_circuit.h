// A circuit of RDMA hops on stub devices: a source's link, any number of relays, a destination's link, and the
// connections beside the hops. Every node has a device for each of its cables, and relays have slots that are
// registered with both. Nothing moves until a test steps it.
#ifndef CABLEWAY_TESTS_CORE_RDMA_RDMA_CIRCUIT_H_
#define CABLEWAY_TESTS_CORE_RDMA_RDMA_CIRCUIT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/rdma/rdma_chunk_link.h"
#include "core/relay/relay_circuit.h"
#include "sim/stub_rdma/stub_network.h"

namespace cableway::test {

// A lifeline in memory. Held frames have not arrived.
class FakeLifeline final : public HopLifeline {
 public:
  static std::pair<std::unique_ptr<FakeLifeline>, std::unique_ptr<FakeLifeline>> make_pair() {
    auto left = std::make_unique<FakeLifeline>();
    auto right = std::make_unique<FakeLifeline>();
    left->there_ = right->here_;
    right->there_ = left->here_;
    return {std::move(left), std::move(right)};
  }

  absl::StatusOr<std::optional<Frame>> look() override {
    ++looks_;
    if (here_->held) return std::nullopt;
    if (!here_->said.empty()) {
      const Frame next = here_->said.front();
      here_->said.pop_front();
      return next;
    }
    if (!here_->end.ok()) return here_->end;
    return std::nullopt;
  }
  void leave(std::span<const Frame> last, const std::optional<Failure>& failure) override {
    there_->said.assign(last.begin(), last.end());
    there_->end = failure ? received_failure(failure->scope, failure->reason)
                          : absl::CancelledError("the peer closed the connection");
  }

  // While held, nothing from the other end arrives.
  void hold(bool held) { here_->held = held; }
  // The kernel reports that the other end's machine is dead.
  void cut(const absl::Status& reason) { here_->end = reason; }
  std::size_t looks() const { return looks_; }

 private:
  struct Box {
    std::deque<Frame> said;
    absl::Status end;
    bool held = false;
  };

  const std::shared_ptr<Box> here_ = std::make_shared<Box>();
  std::shared_ptr<Box> there_;
  std::size_t looks_ = 0;
};

// Slots of `bytes` each in the caller's memory, each slot registered with two devices.
class RdmaSlots {
 public:
  RdmaSlots(std::span<std::byte> memory, std::size_t bytes, sim::StubDevice& first, sim::StubDevice& second)
      : memory_(memory), keys_(memory.size() / bytes), bytes_(bytes) {
    registered_.reserve(2 * keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      registered_.push_back(first.register_writable(room(i)));
      keys_[i][0] = registered_.back().keys();
      registered_.push_back(second.register_writable(room(i)));
      keys_[i][1] = registered_.back().keys();
    }
  }

  std::unique_ptr<Slot> make(std::size_t number) {
    return std::make_unique<RegisteredSlot>(room(number), std::span<const RdmaKeys>(keys_[number]));
  }
  std::vector<std::unique_ptr<Slot>> make_from(std::size_t first) {
    std::vector<std::unique_ptr<Slot>> slots;
    slots.reserve(keys_.size() - first);
    for (std::size_t i = first; i < keys_.size(); ++i) slots.push_back(make(i));
    return slots;
  }

 private:
  std::span<std::byte> room(std::size_t number) { return memory_.subspan(number * bytes_, bytes_); }

  const std::span<std::byte> memory_;
  std::vector<std::array<RdmaKeys, 2>> keys_;
  const std::size_t bytes_;
  std::vector<sim::StubMemory> registered_;
};

// One hop: the links of the ends that send and receive chunks.
struct RdmaHop {
  RdmaHop(sim::StubNetwork& network, sim::StubDevice& from, sim::StubDevice& to, std::size_t from_number,
          bool last_hop) {
    auto [near, far] = network.make_pair(from, to);
    near_pair = near.get();
    far_pair = far.get();
    auto [near_line, far_line] = FakeLifeline::make_pair();
    near_lifeline = near_line.get();
    far_lifeline = far_line.get();
    const RdmaEndpoint near_end = near->endpoint();
    const RdmaEndpoint far_end = far->endpoint();
    sending = std::make_unique<RdmaChunkLink>(std::move(near), far_end, std::move(near_line),
                                              RdmaChunkLink::Place{last_hop, false, from_number});
    receiving = std::make_unique<RdmaChunkLink>(std::move(far), near_end, std::move(far_line),
                                                RdmaChunkLink::Place{last_hop, true, 0});
  }

  // Owned by the links.
  sim::StubQueuePair* near_pair;
  sim::StubQueuePair* far_pair;
  FakeLifeline* near_lifeline;
  FakeLifeline* far_lifeline;
  std::unique_ptr<RdmaChunkLink> sending;
  std::unique_ptr<RdmaChunkLink> receiving;
};

class RdmaCircuit {
 public:
  // Every relay has a pool of its own, of `leases` slots.
  RdmaCircuit(sim::StubNetwork& network, std::size_t relays, std::size_t leases, std::size_t max_leases,
              std::size_t chunk_bytes) {
    for (std::size_t i = 0; i <= relays; ++i) {
      sim::StubDevice& from = network.add_device();
      sim::StubDevice& to = network.add_device();
      devices_.push_back(&from);
      devices_.push_back(&to);
      hops_.push_back(std::make_unique<RdmaHop>(network, from, to, i == 0 ? 0 : 1, i == relays));
    }
    for (std::size_t i = 0; i < relays; ++i) {
      auto& memory = slot_memory_.emplace_back((1 + leases) * chunk_bytes);
      auto& slots = *slots_.emplace_back(
          std::make_unique<RdmaSlots>(memory, chunk_bytes, *devices_[2 * i + 1], *devices_[2 * i + 2]));
      pools_.push_back(std::make_unique<SlotPool>(slots.make_from(1), max_leases));
      relays_.push_back(
          std::make_unique<RelayCircuit>(*hops_[i]->receiving, *hops_[i + 1]->sending, slots.make(0), *pools_.back()));
    }
  }

  RdmaChunkLink& source() { return *hops_.front()->sending; }
  RdmaChunkLink& destination() { return *hops_.back()->receiving; }
  sim::StubDevice& source_device() { return *devices_.front(); }
  sim::StubDevice& destination_device() { return *devices_.back(); }
  std::vector<std::unique_ptr<RdmaHop>>& hops() { return hops_; }
  std::vector<std::unique_ptr<RelayCircuit>>& relays() { return relays_; }
  SlotPool& pool(std::size_t relay) { return *pools_[relay]; }

  bool at_rest() const {
    for (std::size_t i = 0; i < relays_.size(); ++i) {
      if (relays_[i]->slots_in_use() != 0 || relays_[i]->leases() != 0 || pools_[i]->leased() != 0) return false;
    }
    return true;
  }

 private:
  std::vector<sim::StubDevice*> devices_;  // both ends of each hop, from the source on
  std::deque<std::vector<std::byte>> slot_memory_;
  std::vector<std::unique_ptr<RdmaSlots>> slots_;
  std::vector<std::unique_ptr<SlotPool>> pools_;
  std::vector<std::unique_ptr<RdmaHop>> hops_;
  std::vector<std::unique_ptr<RelayCircuit>> relays_;
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_RDMA_RDMA_CIRCUIT_H_
