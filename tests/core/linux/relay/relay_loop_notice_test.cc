// The relay's notices when circuits wait for a lease.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "core/linux/relay/rdma_relay_memory.h"
#include "core/linux/relay/relay_loop.h"
#include "core/linux/tcp/pipe_store.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

class RelayLoopNotice : public testing::Test {
 protected:
  void start_loop() {
    auto loop = RelayLoop::start(
        {pipes_.get(), rdma_.get()}, {},
        {[](const RelayLoop::Closed&) {},
         [this](RelayStore& store) { ++(&store == pipes_.get() ? out_of_leases_ : out_of_rdma_leases_); }});
    ASSERT_TRUE(loop.ok()) << loop.status();
    loop_ = *std::move(loop);
  }

  const std::unique_ptr<PipeStore> pipes_ = PipeStore::create({.bytes = 0, .max_circuits = 1, .leases = 1}).value();
  const std::unique_ptr<RdmaRelayMemory> rdma_ = RdmaRelayMemory::reserve(1U << 20).value();
  std::atomic<int> out_of_leases_ = 0;
  std::atomic<int> out_of_rdma_leases_ = 0;
  std::unique_ptr<RelayLoop> loop_;
};

// RelayLoopTest.LeasesInTurnToMoreCircuitsThanLeases covers the other kind.
TEST_F(RelayLoopNotice, IsRaisedForRegisteredMemoryOnceAMinute) {
  rdma_->pool().begin_waiting();  // as a circuit does; from here on only the loop uses the pool
  start_loop();
  ASSERT_TRUE(test::run_until([&] { return out_of_rdma_leases_ > 0; }, [] { ::usleep(10000); }));
  ::usleep(1'500'000);  // time for further checks
  EXPECT_EQ(out_of_rdma_leases_, 1);
  EXPECT_EQ(out_of_leases_, 0);
}

}  // namespace
}  // namespace cableway::host
