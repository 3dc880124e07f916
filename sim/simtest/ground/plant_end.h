// One end of a simulation test's hop, as whoever moves data there sees it: its link, who is woken, and the device with
// which memory has to be registered.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_PLANT_END_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_PLANT_END_H_

#include "core/rdma/rdma_chunk_link.h"
#include "sim/cable/connection_lifeline.h"
#include "sim/cable/hop_direction.h"
#include "sim/stub_rdma/stub_device.h"

namespace cableway::sim {

// Wakes whoever moves one end of a hop, once there is somebody.
class HopUser final : public LinkUser {
 public:
  HopUser() = default;
  HopUser(const HopUser&) = delete;
  HopUser& operator=(const HopUser&) = delete;

  // By the connection. Where the hop goes over RDMA that is its lifeline.
  void wake() override {
    if (over_rdma_ != nullptr) over_rdma_->on_lifeline();
    wake_user();
  }
  // By the device.
  LinkUser& completions() { return completions_; }

  void set(LinkUser* user) { user_ = user; }
  // The link beside the connection, whose lifeline is a ConnectionLifeline. What the connection has to say is news by
  // then, as for a poller that is given it.
  void set_link(RdmaChunkLink& link) {
    over_rdma_ = &link;
    link.on_lifeline();
  }
  // Its process is killed, and leaves the hop without a word.
  void kill_process() {
    if (over_rdma_ != nullptr) static_cast<ConnectionLifeline&>(over_rdma_->lifeline()).kill_process();
  }

 private:
  class Completions final : public LinkUser {
   public:
    explicit Completions(HopUser& user) : user_(user) {}
    void wake() override { user_.wake_user(); }

   private:
    HopUser& user_;
  };

  void wake_user() {
    if (user_ != nullptr) user_->wake();
  }

  LinkUser* user_ = nullptr;
  RdmaChunkLink* over_rdma_ = nullptr;
  Completions completions_{*this};
};

struct PlantEnd {
  ChunkLink& link;
  HopUser& user;
  StubDevice* device = nullptr;  // null: memory is not registered
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_PLANT_END_H_
