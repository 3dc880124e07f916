#include "core/cluster_view/view_answers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/flow/frame.h"
#include "sim/virtual_clock.h"
#include "tests/core/circuit/played_connection.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using test::PlayedConnection;
using test::PlayedPeer;

class ViewAnswersTest : public ::testing::Test {
 protected:
  ViewAnswers::Host host() {
    return {"n0",
            [](const SetupConnection&) {
              return ShareHolder{"eth0", "n1"};
            },
            [] {
              return std::set<ShareHolder>{{"eth0", "n1"}};
            },
            [this](const std::string&) -> absl::StatusOr<std::string> {
              ++made_;
              clock_.run_for(takes_);
              return std::string("{}");
            }};
  }
  // True: answered with the document. The peer has read it.
  bool ask() {
    CircuitSetup setup;
    setup.purpose = SetupPurpose::kView;
    setup.view = "status";
    setup.budget_ms = 2000;
    setup.from_node = "n1";
    setup.hops.push_back({"c0", "10.0.0.2", "n0", "10.0.0.1", 7, false});
    const auto peer = std::make_shared<PlayedPeer>();
    answers_.arrived(ArrivedSetup(std::make_unique<PlayedConnection>(peer), std::move(setup), std::nullopt));
    peer->ended = absl::UnavailableError("closed");
    peer->run();
    return peer->final_frame.empty();
  }

  sim::VirtualClock clock_;
  Duration takes_{0};
  int made_ = 0;
  ViewAnswers answers_{clock_, host()};
};

TEST_F(ViewAnswersTest, AViewThatTakesLongIsMadeSeldom) {
  takes_ = 50ms;
  for (int i = 0; i < 1000; ++i) {
    static_cast<void>(answers_.document("status"));
    clock_.run_for(10ms);
  }
  EXPECT_LE(made_, 6) << "a fortieth of the time, 10 s";
  EXPECT_GE(made_, 4);
}

TEST_F(ViewAnswersTest, ANeighbourAsksAtABoundedRate) {
  int answered = 0;
  for (int i = 0; i < 5000; ++i) {
    answered += ask() ? 1 : 0;
    clock_.run_for(1ms);
  }
  EXPECT_GE(answered, 1000);
  EXPECT_LE(answered, 1000 + ViewAnswers::kBurst);
}

}  // namespace
}  // namespace cableway
