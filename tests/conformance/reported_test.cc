// The flows that a node lists for its processes: each is listed while it is open, with its transport and the reason for
// it, and is removed with its process. A restarted node gets the reports again.
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "core/settings/settings.h"
#include "tests/conformance/suite.h"
#include "tools/cableway/node/node_query.h"

namespace cableway::nccl::test {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr std::size_t kReportBytes = 300'000;
const json kNoneRetired{{"failed", 0}, {"corrupted", 0}, {"stuck", 0}, {"closed", 0}, {"moved", 0}};

// A receiver on c and a sender on a, with b between them: one message, and then both wait for the test.
class ReportedTest : public testing::TestWithParam<int> {
 protected:
  ReportedTest() {
    for (const char* node : {"a", "b", "c"}) world_.start(node);
    receiver_.emplace(world_, "c", GetParam(), &ReportedTest::receive);
    sender_.emplace(world_, "a", GetParam(), &ReportedTest::send);
  }

  json status_of(const std::string& node) const {
    Settings settings;
    settings.runtime_dir = world_.runtime_dir(node);
    const auto view = cli::ask_node(settings, "status", seconds(20));
    EXPECT_TRUE(view.ok()) << view.status();
    return view.ok() ? json::parse(view->text) : json();
  }
  // The status once it lists `open` flows of its processes.
  json status_with(const std::string& node, std::size_t open) const {
    const auto give_up = std::chrono::steady_clock::now() + seconds(30);
    json status = status_of(node);
    while (status["own"]["flows_open"] != open && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      status = status_of(node);
    }
    EXPECT_EQ(status["own"]["flows_open"], open) << status.dump(2);
    EXPECT_EQ(status["flows"].size(), open) << status.dump(2);
    return status;
  }
  // The node's flow, once the message is counted. Its circuit's numbers, which grow, are checked here.
  json counted_flow(const std::string& node) const {
    const auto give_up = std::chrono::steady_clock::now() + seconds(30);
    json flow = status_with(node, 1)["flows"].at(0);
    while (flow["bytes"] != kReportBytes && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      flow = status_of(node)["flows"].at(0);
    }
    EXPECT_EQ(flow["circuits"].size(), 1U) << flow.dump(2);
    const json circuit = flow["circuits"].at(0);
    EXPECT_EQ(circuit["bytes"], kReportBytes);
    EXPECT_EQ(circuit["path"], flow["path"]);
    EXPECT_EQ(circuit["carries"], true);
    for (const char* growing : {"open_ms", "mbps", "circuits"}) flow.erase(growing);
    return flow;
  }
  static void receive(Rank& rank, Line& test) {
    auto [handle, listener] = rank.listen();
    test.send(to_message(handle));
    void* comm = rank.accept(listener);
    EXPECT_TRUE(receive_message(rank, comm, kReportBytes, 1).done);
    test.send("received");
    test.receive();
    EXPECT_EQ(rank.net().close_recv(comm), abi::kSuccess);
    test.send("closed");
    test.receive();
  }
  static void send(Rank& rank, Line& test) {
    void* comm = rank.connect(to_handle(test.receive()));
    EXPECT_TRUE(send_message(rank, comm, kReportBytes, 1).done);
    if (test.receive() == "fail") {
      EXPECT_EQ(send_until_failure(rank, comm, kReportBytes).result, abi::kRemoteError);
      test.send("failed");
      test.receive();
    }
    EXPECT_EQ(rank.net().close_send(comm), abi::kSuccess);
    test.send("closed");
    test.receive();
  }

  World world_{"a"};
  // Created once the nodes run; otherwise the plugin would start nodes.
  std::optional<RankProcess> receiver_;
  std::optional<RankProcess> sender_;
};

TEST_P(ReportedTest, FlowsAreListedAtBothEndsUntilTheyAreClosed) {
  sender_->send(receiver_->receive());
  EXPECT_EQ(receiver_->receive(), "received");
  json at_source = counted_flow("a");
  json at_destination = counted_flow("c");
  const json circuit = status_of("b")["circuits"].at(0);
  EXPECT_EQ(at_source["flow"], circuit["flow"]);
  EXPECT_EQ(at_destination["flow"], circuit["flow"]);
  for (json* flow : {&at_source, &at_destination}) flow->erase("flow");
  EXPECT_EQ(at_source, (json{{"process", sender_->pid()},
                             {"node", "c"},
                             {"sends", true},
                             {"path", "a -> b -> c"},
                             {"port", "lo"},
                             {"transport", "tcp"},
                             {"reason", "no RDMA device behind lo"},
                             {"bytes", kReportBytes},
                             {"waits", nullptr},
                             {"bytes_sent_again", 0},
                             {"reroutes", 0},
                             {"pause_ms", 0.0},
                             {"circuits_retired", kNoneRetired}}));
  EXPECT_EQ(at_destination, (json{{"process", receiver_->pid()},
                                  {"node", "a"},
                                  {"sends", false},
                                  {"path", "a -> b -> c"},
                                  {"port", "lo"},
                                  {"transport", "tcp"},
                                  {"reason", "the other end offers no RDMA"},
                                  {"bytes", kReportBytes},
                                  {"waits", nullptr},
                                  {"bytes_sent_again", nullptr},
                                  {"reroutes", nullptr},
                                  {"pause_ms", nullptr},
                                  {"circuits_retired", kNoneRetired}}));
  EXPECT_EQ(circuit["upstream"], (json{{"transport", "tcp"}, {"reason", "the other end offers no RDMA"}}));
  EXPECT_EQ(circuit["downstream"], (json{{"transport", "tcp"}, {"reason", "no RDMA device behind lo"}}));

  sender_->send("close");
  EXPECT_EQ(sender_->receive(), "closed");
  status_with("a", 0);
  receiver_->send("close");
  EXPECT_EQ(receiver_->receive(), "closed");
  status_with("c", 0);
  for (const char* node : {"a", "c"}) {
    EXPECT_EQ(status_of(node)["own"], (json{{"flows_open", 0},
                                            {"flows_opened", 1},
                                            {"flows_failed", 0},
                                            {"circuits_retired", kNoneRetired},
                                            {"bytes_sent_again", 0}}))
        << node;
  }
  for (RankProcess* process : {&*sender_, &*receiver_}) {
    process->send("end");
    process->finish();
  }
}

TEST_P(ReportedTest, AFailedFlowIsCountedAndThatOfADeadProcessIsRemoved) {
  sender_->send(receiver_->receive());
  EXPECT_EQ(receiver_->receive(), "received");
  status_with("c", 1);
  receiver_->kill();
  status_with("c", 0);
  EXPECT_EQ(status_of("c")["own"]["flows_failed"], 0);
  sender_->send("fail");
  EXPECT_EQ(sender_->receive(), "failed");
  // Before it is closed.
  EXPECT_EQ(status_with("a", 0)["own"]["flows_failed"], 1);
  sender_->send("close");
  EXPECT_EQ(sender_->receive(), "closed");
  json own = status_with("a", 0)["own"];
  // On a busy machine the flow may go on for long enough without its circuit that this counts as retired.
  for (const char* of_circuits : {"circuits_retired", "bytes_sent_again"}) own.erase(of_circuits);
  EXPECT_EQ(own, (json{{"flows_open", 0}, {"flows_opened", 1}, {"flows_failed", 1}}));
  sender_->send("end");
  sender_->finish();
}

TEST_P(ReportedTest, ARestartedNodeGetsTheReportsAgain) {
  sender_->send(receiver_->receive());
  EXPECT_EQ(receiver_->receive(), "received");
  const json before = status_with("a", 1)["flows"][0];
  world_.kill("a");
  world_.start("a");
  const json after = status_with("a", 1)["flows"][0];
  EXPECT_EQ(after["flow"], before["flow"]);
  EXPECT_GE(after["open_ms"], before["open_ms"]);
  sender_->send("close");
  EXPECT_EQ(sender_->receive(), "closed");
  status_with("a", 0);
  sender_->send("end");
  receiver_->send("close");
  EXPECT_EQ(receiver_->receive(), "closed");
  receiver_->send("end");
  sender_->finish();
  receiver_->finish();
}

INSTANTIATE_TEST_SUITE_P(Abi, ReportedTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
