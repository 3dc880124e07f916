// The wires between stub devices: selects the queue pair that acts next. Nothing moves by itself.
//
// Three ways to drive it. Manually: StubQueuePair::deliver() and complete(), hold_*(), and deliver_all(). By a seed:
// step(), which keeps the order of a reliable connection within each direction of a pair, and no other order:
// occasionally it stalls one direction of one pair, or its completions, for as long as anything else can move;
// completions that wait for a lost acknowledgement always stall so. By a clock: rdma_wire.h, a wire for each direction
// of a pair.
#ifndef CABLEWAY_SIM_STUB_RDMA_STUB_NETWORK_H_
#define CABLEWAY_SIM_STUB_RDMA_STUB_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sim/stub_rdma/stub_device.h"
#include "sim/stub_rdma/stub_queue_pair.h"

namespace cableway::sim {

class StubNetwork {
 public:
  struct Settings {
    std::uint32_t seed = 1;
    // False: only inlined bytes are moved, so that benchmarks measure the owners of the queue pairs alone.
    bool moves_payload = true;
    // The maximum number of writes that are on the wire when their sender is fenced, and land after that. The seed
    // determines the actual number.
    std::size_t max_late_writes = 0;
    // Percentage of acknowledgements between devices that are lost, selected by the seed.
    std::uint32_t lost_acknowledgements = 0;
  };

  explicit StubNetwork(const Settings& settings) : settings_(settings), random_(settings.seed) {}
  StubNetwork() : StubNetwork(Settings()) {}
  StubNetwork(const StubNetwork&) = delete;
  StubNetwork& operator=(const StubNetwork&) = delete;

  // Devices live as long as this; queue pairs and registrations do not outlive it.
  StubDevice& add_device();
  std::unique_ptr<StubQueuePair> make_queue_pair(StubDevice& device);
  // Two queue pairs that are connected to each other.
  std::pair<std::unique_ptr<StubQueuePair>, std::unique_ptr<StubQueuePair>> make_pair(StubDevice& left,
                                                                                      StubDevice& right);

  // Null: it no longer exists.
  StubQueuePair* find(std::uint32_t number) const;

  // Lands one write or reports one completion. False: there is none.
  bool step();
  // Does everything that is possible, in a fixed order.
  void deliver_all();
  // A pseudo-random number below `bound`, which is not 0, for callers that drive it by a clock.
  std::uint32_t choose(std::uint32_t bound) { return static_cast<std::uint32_t>(random_()) % bound; }

  // The first violation of RdmaQueuePair's contract by an owner. Tests expect OK.
  const absl::Status& misuse() const { return misuse_; }
  // Writes whose memory changed between landing and completion: the owner reused it too early.
  std::uint64_t changed_too_early() const { return changed_too_early_; }

 private:
  friend class StubQueuePair;

  bool act(std::size_t pair, std::size_t first_action, bool spare_slow);
  void forget(std::uint32_t number);
  void note_misuse(absl::Status misuse) { misuse_.Update(std::move(misuse)); }
  bool moves_payload() const { return settings_.moves_payload; }
  std::size_t choose_late_writes(std::size_t outstanding);
  bool loses_acknowledgement() {
    return settings_.lost_acknowledgements > 0 && choose(100) < settings_.lost_acknowledgements;
  }

  const Settings settings_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<StubDevice>> devices_;
  std::vector<StubQueuePair*> pairs_;  // by number; null: destroyed
  // The action that is stalled now: a pair's index times kActions, plus the action. Initially none.
  std::size_t slow_ = ~std::size_t{0};
  absl::Status misuse_;
  std::uint64_t changed_too_early_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_STUB_RDMA_STUB_NETWORK_H_
