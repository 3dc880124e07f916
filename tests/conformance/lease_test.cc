// A relay's memory is for busy flows: a flow returns its leases soon after it becomes idle, whether NCCL calls the
// plugin or not.
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "core/settings/settings.h"
#include "tests/conformance/suite.h"
#include "tools/cableway/node/node_query.h"

namespace cableway::nccl::test {
namespace {

using nlohmann::json;
using std::chrono::seconds;

// More than fits between a source and a destination that does not poll.
constexpr std::size_t kLeaseBytes = 32U << 20;

class LeaseTest : public testing::TestWithParam<int> {
 protected:
  LeaseTest() {
    for (const char* node : {"a", "b", "c"}) world_.start(node);
  }

  // A count of the relay's slots, pipes and registered memory together.
  std::uint64_t slots(const std::string& which) const {
    Settings settings;
    settings.runtime_dir = world_.runtime_dir("b");
    const auto view = cli::ask_node(settings, "status", seconds(20));
    EXPECT_TRUE(view.ok()) << view.status();
    if (!view.ok()) return 0;
    const json status = json::parse(view->text);
    return status.at("relay_memory").at(which).get<std::uint64_t>() +
           status.at("rdma_memory").at(which).get<std::uint64_t>();
  }
  static bool becomes_true(const std::function<bool()>& condition) {
    const auto give_up = std::chrono::steady_clock::now() + seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return true;
  }

  World world_{"a"};
};

TEST_P(LeaseTest, AnIdleFlowHoldsNoLeaseOfItsRelay) {
  RankProcess receiver(world_, "c", GetParam(), [](Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* comm = rank.accept(listener);
    // The next receive is then announced at once: nothing is sent before the first frame from the other end.
    EXPECT_TRUE(receive_message(rank, comm, 1, 1).done);
    Buffer to = rank.make_buffer(comm, kLeaseBytes, 2);
    void* request = rank.post_receive(comm, to, kLeaseBytes);
    test.receive();
    EXPECT_TRUE(rank.finish(request, kTrafficLimit).done);
    EXPECT_TRUE(to.bytes == pattern(kLeaseBytes, 1)) << "other bytes arrived than were sent";
    test.send("received");
    test.receive();
    EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
  });
  RankProcess sender(world_, "a", GetParam(), [](Rank& rank, Line& test) {
    void* comm = rank.connect(to_handle(test.receive()));
    EXPECT_TRUE(send_message(rank, comm, 1, 1).done);
    EXPECT_TRUE(send_message(rank, comm, kLeaseBytes, 1).done);
    test.send("sent");
    test.receive();
    EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
    EXPECT_THAT(warnings(), testing::IsEmpty());
  });
  sender.send(receiver.receive());
  EXPECT_TRUE(becomes_true([&] { return slots("leased_max") > 0; })) << "no slot was leased";
  receiver.send("look");
  EXPECT_EQ(receiver.receive(), "received");
  EXPECT_EQ(sender.receive(), "sent");
  // Neither process calls the plugin from here on.
  EXPECT_TRUE(becomes_true([&] { return slots("leased") == 0; })) << slots("leased") << " are leased";
  for (RankProcess* process : {&sender, &receiver}) {
    process->send("end");
    process->finish();
  }
}

// Nothing here depends on the table.
INSTANTIATE_TEST_SUITE_P(Abi, LeaseTest, testing::Values(12), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
