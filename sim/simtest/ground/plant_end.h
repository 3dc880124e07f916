// One end of a simulation test's hop, for the party that moves data there: its link, its wake-up target, and the device
// with which memory has to be registered.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_PLANT_END_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_PLANT_END_H_

#include "core/flow/chunk_link.h"
#include "sim/cable/hop_direction.h"
#include "sim/stub_rdma/stub_device.h"

namespace cableway::sim {

// What moves the data of one end of a hop beside the hop's connection.
class BesideConnection {
 public:
  virtual ~BesideConnection() = default;
  // The connection may have news.
  virtual void on_connection() = 0;
  // The process is killed: the kernel closes the connection without a last frame.
  virtual void kill_process() = 0;
};

// Forwards wake-ups to the party that moves one end of a hop, once it is set.
class HopUser final : public LinkUser {
 public:
  HopUser() = default;
  HopUser(const HopUser&) = delete;
  HopUser& operator=(const HopUser&) = delete;

  // Called by the connection.
  void wake() override {
    if (beside_ != nullptr) beside_->on_connection();
    wake_user();
  }
  // Woken by what moves beside the connection, such as a device.
  LinkUser& completions() { return completions_; }

  void set(LinkUser* user) { user_ = user; }
  // Notifies it once, since the connection may have data already, like a poller to which a socket is added.
  void set_beside(BesideConnection& beside) {
    beside_ = &beside;
    beside.on_connection();
  }
  // The process is killed: it leaves the hop without a last frame.
  void kill_process() {
    if (beside_ != nullptr) beside_->kill_process();
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
  BesideConnection* beside_ = nullptr;  // null: the connection itself moves the data
  Completions completions_{*this};
};

struct PlantEnd {
  ChunkLink& link;
  HopUser& user;
  StubDevice* device = nullptr;  // null: memory is not registered
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_PLANT_END_H_
