#include "core/cluster_view/other_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/virtual_clock.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;

// n0, whose node asks the others.
class OtherPortsTest : public ::testing::Test {
 protected:
  using Reply = std::function<void(const ClusterViewReply&)>;

  static std::string document(const std::string& node, int uptime_ms, int received, const std::string& more = "") {
    return absl::StrCat(R"({"schema":1,"node":")", node, R"(","uptime_ms":)", uptime_ms,
                        R"(,"ports":[{"interface":"eth0","neighbours":[{"node":"n0"}],"received_bytes":)", received,
                        R"(,"sent_bytes":7,"rdma_received_bytes":null,"rdma_sent_bytes":9})", more, "]}");
  }
  static NodeAnswer answer(const std::string& node, std::string text) {
    return {node, NoView::kNone, "", std::move(text)};
  }
  json nodes() { return json::parse(ports_->json()).at("nodes"); }
  // The page reads once a second for this time.
  void read_for(std::chrono::seconds time) {
    for (auto second = 0s; second < time; second += 1s) {
      ports_->json();
      clock_.run_for(1s);
    }
  }
  // What a whole round of one part with these answers shows.
  json shown(const std::vector<NodeAnswer>& answers) {
    read_for(OtherPorts::kPause + 1s);
    asked_.back().second({"", 1, 2, true, answers});
    return nodes();
  }

  sim::VirtualClock clock_;
  std::vector<std::pair<ClusterViewRequest, Reply>> asked_;
  std::unique_ptr<OtherPorts> ports_ = std::make_unique<OtherPorts>(
      clock_, "n0",
      [this](const ClusterViewRequest& request, Reply reply) { asked_.emplace_back(request, std::move(reply)); });
};

TEST_F(OtherPortsTest, ShowsWhatAWholeRoundHasBrought) {
  EXPECT_EQ(nodes(), json::array());
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].first, (ClusterViewRequest{0, "ports"}));
  asked_[0].second({"", 5, 3, false, {answer("n0", document("n0", 1, 1)), answer("n1", document("n1", 1500, 100))}});
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(asked_[1].first, (ClusterViewRequest{5, ""}));
  EXPECT_EQ(nodes(), json::array()) << "the round goes on";
  asked_[1].second({"", 5, 3, true, {{"n2", NoView::kTimedOut, "no answer", ""}}});
  EXPECT_EQ(nodes(), json::parse(R"([{"node":"n1","at_ms":1500,"ports":[{"interface":"eth0","counts":
      {"received_bytes":100,"sent_bytes":7,"rdma_received_bytes":null,"rdma_sent_bytes":9}}]}])"));
}

TEST_F(OtherPortsTest, ARoundBeginsWhileThereAreReadersAndNoneIsUnderWay) {
  read_for(60s);
  EXPECT_EQ(asked_.size(), 1U) << "no answer yet";
  asked_[0].second({"", 1, 2, true, {answer("n1", document("n1", 1000, 1))}});
  clock_.run_for(60s);
  EXPECT_EQ(asked_.size(), 1U) << "nobody reads";
  read_for(3s);
  EXPECT_EQ(asked_.size(), 2U);
  asked_[1].second({"", 2, 2, true, {}});
  ports_->json();
  EXPECT_EQ(asked_.size(), 2U) << "too soon";
  read_for(OtherPorts::kPause + 1s);
  EXPECT_EQ(asked_.size(), 3U);
}

TEST_F(OtherPortsTest, ANodeThatDoesNotAnswerIsShownNoMore) {
  EXPECT_EQ(shown({answer("n1", document("n1", 1000, 1)), answer("n2", document("n2", 1000, 1))}).size(), 2U);
  EXPECT_EQ(shown({answer("n2", document("n2", 4000, 2))}).at(0).at("node"), "n2");
}

TEST_F(OtherPortsTest, ARefusedRoundIsTriedAgain) {
  ports_->json();
  asked_[0].second({"this node already asks all nodes for 16 views", 0, 0, true, {}});
  EXPECT_EQ(nodes(), json::array());
  EXPECT_EQ(shown({answer("n1", document("n1", 1000, 1))}).size(), 1U);
  read_for(OtherPorts::kPause + 1s);
  asked_.back().second({"this node already asks all nodes for 16 views", 0, 0, true, {}});
  EXPECT_EQ(nodes().size(), 1U) << "what is known stays";
}

TEST_F(OtherPortsTest, WhatIsNotAsDocumentedIsLeftOut) {
  std::string deep = document(
      "n1", 1000, 1, absl::StrCat(R"(,{"interface":)", std::string(2000, '['), "1", std::string(2000, ']'), "}"));
  for (const std::string& wrong :
       {std::string(), std::string("[]"), std::string("\x1b[2J{\"node\": [[["), std::string(R"({"node":"n1"})"),
        document("n2", 1000, 1), std::string(R"({"node":"n1","uptime_ms":-1,"ports":[]})"),
        std::string(R"({"node":1,"uptime_ms":1,"ports":[]})"),
        std::string(OtherPorts::kMaxDocumentBytes, ' ') + document("n1", 1000, 1)}) {
    EXPECT_EQ(shown({answer("n1", wrong)}), json::array()) << wrong.substr(0, 80);
  }
  EXPECT_EQ(shown({answer("n1", deep)}).at(0).at("ports").size(), 1U);
  const json odd =
      shown({answer("n1", document("n1", 1000, 1, R"(,1,{"interface":2},{"interface":"eth1","received_bytes":"3",
      "sent_bytes":1},{"interface":"eth2","received_bytes":-3,"sent_bytes":1},{"interface":"eth3","received_bytes":3,
      "sent_bytes":1.5},{"interface":"eth4","received_bytes":3,"sent_bytes":4})"))});
  EXPECT_EQ(odd.at(0).at("ports").size(), 2U) << odd;
  EXPECT_EQ(odd.at(0).at("ports").at(1).at("interface"), "eth4");
  EXPECT_EQ(shown({answer("n1", R"({"node":"n1","uptime_ms":1,"ports":{"interface":"eth0"}})")}).at(0).at("ports"),
            json::array());
}

TEST_F(OtherPortsTest, IsBounded) {
  std::string many;
  for (int i = 0; i < 400; ++i) {
    absl::StrAppend(&many, R"(,{"interface":"e)", i, R"(","received_bytes":1,"sent_bytes":1})");
  }
  EXPECT_EQ(shown({answer("n1", document("n1", 1000, 1, many))}).at(0).at("ports").size(), OtherPorts::kMaxPorts);
  const std::size_t padding = OtherPorts::kMaxDocumentBytes - 1000;
  std::vector<NodeAnswer> all;
  for (int i = 1; i <= 100; ++i) {
    const std::string name = absl::StrCat("m", i);
    all.push_back(answer(name, std::string(padding, ' ') + document(name, 1000, 1)));
  }
  const std::size_t most = OtherPorts::kMaxRoundBytes / padding;
  EXPECT_THAT(shown(all).size(), ::testing::AllOf(::testing::Ge(most - 1), ::testing::Le(most)));
}

TEST_F(OtherPortsTest, AnAnswerAfterItsEndIsHarmless) {
  ports_->json();
  ports_.reset();
  asked_[0].second({"", 1, 2, true, {answer("n1", document("n1", 1000, 1))}});
  EXPECT_EQ(asked_.size(), 1U);
}

}  // namespace
}  // namespace cableway
