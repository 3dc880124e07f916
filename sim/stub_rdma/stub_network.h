// The wires between stub devices: which of the queue pairs on them acts next. Nothing moves by itself.
//
// Three ways to drive it. By hand: StubQueuePair::deliver() and complete(), hold_*(), and deliver_all(). By a seed:
// step(), which keeps the order of a reliable connection within each direction of a pair, and no order beyond: now and
// then it leaves one direction of one pair, or its completions, behind for as long as anything else can move, and
// always what waits for a lost acknowledgement. By a clock: rdma_wire.h, a wire for each direction of a pair.
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
    // Without it only inlined bytes are moved: what is left is what the owners of the queue pairs cost.
    bool moves_payload = true;
    // So many writes, at most, are on the wire when their sender is fenced, and land after that. How many, the seed
    // says.
    std::size_t max_late_writes = 0;
    // Of 100 that devices send each other. Which, the seed says.
    std::uint32_t lost_acknowledgements = 0;
  };

  explicit StubNetwork(const Settings& settings) : settings_(settings), random_(settings.seed) {}
  StubNetwork() : StubNetwork(Settings()) {}
  StubNetwork(const StubNetwork&) = delete;
  StubNetwork& operator=(const StubNetwork&) = delete;

  // Devices live as long as this, queue pairs and registrations less long.
  StubDevice& add_device();
  std::unique_ptr<StubQueuePair> make_queue_pair(StubDevice& device);
  // Two that are connected to each other.
  std::pair<std::unique_ptr<StubQueuePair>, std::unique_ptr<StubQueuePair>> make_pair(StubDevice& left,
                                                                                      StubDevice& right);

  // Null: it is gone.
  StubQueuePair* find(std::uint32_t number) const;

  // One write lands, or one completion is reported. False: nothing can.
  bool step();
  // All that can, in a fixed order.
  void deliver_all();
  // A number below `bound`, which is not 0, as the seed says: for whoever drives it by a clock.
  std::uint32_t choose(std::uint32_t bound) { return static_cast<std::uint32_t>(random_()) % bound; }

  // The first thing that an owner did which RdmaQueuePair's contract forbids. Tests expect that to be OK.
  const absl::Status& misuse() const { return misuse_; }
  // Writes whose memory had changed between landing and being complete: its owner has used it too early.
  std::uint64_t changed_too_early() const { return changed_too_early_; }

 private:
  friend class StubQueuePair;

  bool act(std::size_t pair, std::size_t first_deed, bool spare_slow);
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
  std::vector<StubQueuePair*> pairs_;  // by number; null: gone
  // What is left behind now: a pair's number times its deeds, and which of them. Nothing at first.
  std::size_t slow_ = ~std::size_t{0};
  absl::Status misuse_;
  std::uint64_t changed_too_early_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_STUB_RDMA_STUB_NETWORK_H_
