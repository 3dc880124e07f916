// Whole jobs: every rank exchanges data with every other, for different placements of the ranks.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

constexpr std::size_t kPairBytes = 400'000;
constexpr int kRounds = kSlowBuild ? 3 : 10;

// A rank of a job: it has a flow to and from every other one.
class Member {
 public:
  Member(Rank& rank, std::size_t self, std::size_t ranks) : rank_(rank), self_(self), ranks_(ranks) {}

  // One listen comm for each other rank, as NCCL makes one for each connection; the handles in the ranks' order.
  void listen(Line& job) {
    for (std::size_t other = 0; other < ranks_; ++other) {
      if (other == self_) continue;
      auto [handle, listener] = rank_.listen();
      listeners_[other] = listener;
      job.send(to_message(handle));
    }
  }

  void connect(Line& job) {
    std::map<std::size_t, Handle> handles;
    for (std::size_t other = 0; other < ranks_; ++other) {
      if (other != self_) handles[other] = to_handle(job.receive());
    }
    for (auto& [other, handle] : handles) {
      flows_[other].sender = rank_.connect(handle);
      flows_[other].to_send = rank_.make_buffer(flows_[other].sender, kPairBytes, 0);
    }
    for (auto& [other, listener] : listeners_) {
      flows_[other].receiver = rank_.accept(listener);
      EXPECT_EQ(rank_.net().close_listen(listener), abi::kSuccess);
      flows_[other].to_receive = rank_.make_buffer(flows_[other].receiver, kPairBytes, 0);
    }
  }

  // Sends a message from every rank to every other at the same time.
  void exchange(std::uint64_t round) {
    for (auto& [other, flow] : flows_) {
      const std::vector<std::byte> words = pattern(kPairBytes, seed(self_, other, round));
      std::copy(words.begin(), words.end(), flow.to_send.bytes.begin());
      flow.received = post_receive(rank_, flow.receiver, flow.to_receive).request;
      flow.sent = post_send(rank_, flow.sender, flow.to_send).request;
      ASSERT_NE(flow.received, nullptr);
      ASSERT_NE(flow.sent, nullptr);
    }
    const auto end = std::chrono::steady_clock::now() + kTrafficLimit;
    std::size_t open = 2 * flows_.size();
    while (open > 0 && std::chrono::steady_clock::now() < end) {
      for (auto& [other, flow] : flows_) open -= finished(flow.received) + finished(flow.sent);
    }
    ASSERT_EQ(open, 0U) << "requests that did not end";
    for (auto& [other, flow] : flows_) {
      EXPECT_TRUE(flow.to_receive.bytes == pattern(kPairBytes, seed(other, self_, round))) << "from rank " << other;
    }
  }

  void close() {
    for (auto& [other, flow] : flows_) {
      EXPECT_EQ(rank_.net().close_send(flow.sender), abi::kSuccess);
      EXPECT_EQ(rank_.net().close_recv(flow.receiver), abi::kSuccess);
    }
  }

 private:
  struct Flow {
    void* sender = nullptr;
    void* receiver = nullptr;
    Buffer to_send;
    Buffer to_receive;
    void* sent = nullptr;
    void* received = nullptr;
  };

  static std::uint64_t seed(std::size_t from, std::size_t to, std::uint64_t round) {
    return round * 10'000 + from * 100 + to;
  }

  // Returns 1 if the request has just ended.
  std::size_t finished(void*& request) {
    if (request == nullptr || !rank_.finish(request, std::chrono::milliseconds(1)).done) return 0;
    request = nullptr;
    return 1;
  }

  Rank& rank_;
  const std::size_t self_;
  const std::size_t ranks_;
  std::map<std::size_t, void*> listeners_;
  std::map<std::size_t, Flow> flows_;
};

const World::Cables kLine = {{"a", "b"}, {"b", "c"}};
const World::Cables kTriangle = {{"a", "b"}, {"b", "c"}, {"c", "a"}};
const World::Cables kRing = {{"a", "b"}, {"b", "c"}, {"c", "d"}, {"d", "a"}};

class AllToAllTest : public testing::TestWithParam<int> {
 protected:
  // Where each rank runs.
  static void run(const World::Cables& cables, const std::vector<std::string>& placement) {
    World world(cables, "a");
    std::set<std::string> nodes;
    for (const auto& [one, other] : cables) nodes.insert({one, other});
    for (const std::string& node : nodes) world.start(node);
    const std::size_t ranks = placement.size();
    std::vector<std::unique_ptr<RankProcess>> members;
    for (std::size_t self = 0; self < ranks; ++self) {
      members.push_back(std::make_unique<RankProcess>(world, placement[self], GetParam(), [&](Rank& rank, Line& job) {
        Member member(rank, self, ranks);
        member.listen(job);
        member.connect(job);
        for (int round = 0; round < kRounds; ++round) member.exchange(static_cast<std::uint64_t>(round));
        // No rank leaves before all have received their messages.
        job.send("done");
        job.receive();
        member.close();
        EXPECT_THAT(warnings(), testing::IsEmpty());
      }));
    }
    exchange_handles(members);
    for (const auto& member : members) EXPECT_EQ(member->receive(), "done");
    for (const auto& member : members) member->send("close");
    for (const auto& member : members) member->finish();
  }

 private:
  // Carries the handle that rank x made for rank y to rank y, as NCCL's bootstrap does.
  static void exchange_handles(const std::vector<std::unique_ptr<RankProcess>>& members) {
    std::map<std::tuple<std::size_t, std::size_t>, std::string> handles;
    for (std::size_t from = 0; from < members.size(); ++from) {
      for (std::size_t to = 0; to < members.size(); ++to) {
        if (to != from) handles[{from, to}] = members[from]->receive();
      }
    }
    for (std::size_t to = 0; to < members.size(); ++to) {
      for (std::size_t from = 0; from < members.size(); ++from) {
        if (to != from) members[to]->send(handles[{from, to}]);
      }
    }
  }
};

TEST_P(AllToAllTest, FourRanksOnOneNode) {
  run(kLine, {"a", "a", "a", "a"});
}

TEST_P(AllToAllTest, RanksOnTheTwoEndsWhileTheMiddleOnlyRelays) {
  run(kLine, {"a", "c", "a", "c"});
}

TEST_P(AllToAllTest, RanksOnEveryNode) {
  run(kLine, {"a", "b", "c"});
}

TEST_P(AllToAllTest, RanksOnATriangle) {
  run(kTriangle, {"a", "b", "c"});
}

TEST_P(AllToAllTest, RanksOnARing) {
  run(kRing, {"a", "b", "c", "d"});
}

INSTANTIATE_TEST_SUITE_P(Abi, AllToAllTest, every_abi(), abi_name);

}  // namespace
}  // namespace cableway::nccl::test
