// One end of a simulation test's hop, for the party that moves data there: its link, its wake-up target, and the device
// with which memory has to be registered.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_PLANT_END_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_PLANT_END_H_

#include "core/rdma/rdma_chunk_link.h"
#include "sim/cable/connection_lifeline.h"
#include "sim/cable/hop_direction.h"
#include "sim/stub_rdma/stub_device.h"

namespace cableway::sim {

// Forwards wake-ups to the party that moves one end of a hop, once it is set.
class HopUser final : public LinkUser {
 public:
  HopUser() = default;
  HopUser(const HopUser&) = delete;
  HopUser& operator=(const HopUser&) = delete;

  // Called by the connection, which is the lifeline of an RDMA hop.
  void wake() override {
    if (over_rdma_ != nullptr) over_rdma_->on_lifeline();
    wake_user();
  }
  // Woken by the device.
  LinkUser& completions() { return completions_; }

  void set(LinkUser* user) { user_ = user; }
  // Sets the RDMA link whose lifeline is the connection, a ConnectionLifeline. Notifies the link once, since the
  // connection may have data already, like a poller to which a socket is added.
  void set_link(RdmaChunkLink& link) {
    over_rdma_ = &link;
    link.on_lifeline();
  }
  // The process is killed: it leaves the hop without a last frame.
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
