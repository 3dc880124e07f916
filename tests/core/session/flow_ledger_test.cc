#include "core/session/flow_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Instant kStart{std::chrono::seconds(100)};

FlowOpened numbered(std::uint64_t number) {
  FlowOpened flow;
  flow.number = number;
  flow.flow = 1000 + number;
  flow.node = "n2";
  flow.sends = true;
  flow.path = "n0 -> n1 -> n2";
  flow.port = "eth1";
  flow.transport = {"tcp", "no RDMA device behind eth1"};
  flow.open_ms = 7;
  return flow;
}

class FlowLedgerTest : public ::testing::Test {
 protected:
  // Opens `flows` more flows of the session.
  void open(const SessionPeer& peer, std::uint64_t flows) {
    for (std::uint64_t i = 0; i < flows; ++i) {
      ASSERT_TRUE(ledger_.opened(peer, numbered(++last_number_[peer.session]), kStart).ok());
    }
  }
  void end(const SessionPeer& peer, std::uint64_t number, const std::string& failure = "") {
    const auto ended = ledger_.ended(peer, FlowEnded{number, failure});
    EXPECT_TRUE(ended.ok()) << ended.status();
  }
  std::map<std::int64_t, std::size_t> listed() const {
    std::map<std::int64_t, std::size_t> count;
    for (const FlowStatus& flow : ledger_.status(kStart).listed) ++count[flow.process];
    return count;
  }
  using Listed = std::map<std::int64_t, std::size_t>;

  const SessionPeer first_{1, 100};
  const SessionPeer second_{2, 200};
  FlowLedger ledger_{12};
  std::map<std::uint64_t, std::uint64_t> last_number_;
};

TEST_F(FlowLedgerTest, ListsOpenFlowsWithTheirAge) {
  open(first_, 1);
  const FlowsStatus status = ledger_.status(kStart + std::chrono::milliseconds(30));
  EXPECT_EQ(status.open, 1U);
  EXPECT_EQ(status.opened, 1U);
  EXPECT_EQ(status.failed, 0U);
  ASSERT_THAT(status.listed, SizeIs(1));
  EXPECT_EQ(status.listed[0].process, 100);
  FlowOpened expected = numbered(1);
  expected.open_ms = 37;
  EXPECT_EQ(status.listed[0].flow, expected);
}

TEST_F(FlowLedgerTest, ReportsOfFlowsThatItOnlyCountsAreTaken) {
  open(first_, 13);
  FlowCounts counts;
  counts.number = 13;
  EXPECT_TRUE(ledger_.counted(first_, counts, kStart).ok());
  EXPECT_EQ(ledger_.waits(first_, FlowWaits{13, "reset"}).value(), std::nullopt);
  EXPECT_EQ(ledger_.find(first_, 13).value(), std::nullopt);
  counts.number = 14;
  EXPECT_TRUE(absl::IsInvalidArgument(ledger_.counted(first_, counts, kStart))) << "it was never opened";
}

TEST_F(FlowLedgerTest, ForgetsEndedFlowsAndCountsFailures) {
  open(first_, 3);
  end(first_, 2);
  end(first_, 1, "the cable is silent");
  const FlowsStatus status = ledger_.status(kStart);
  EXPECT_EQ(status.open, 1U);
  EXPECT_EQ(status.opened, 3U);
  EXPECT_EQ(status.failed, 1U);
  ASSERT_THAT(status.listed, SizeIs(1));
  EXPECT_EQ(status.listed[0].flow.number, 3U);
}

TEST_F(FlowLedgerTest, ReturnsTheEndedFlow) {
  open(first_, 1);
  const auto ended = ledger_.ended(first_, FlowEnded{1, ""});
  ASSERT_TRUE(ended.ok() && ended->has_value());
  EXPECT_EQ(**ended, numbered(1));
}

TEST_F(FlowLedgerTest, ForgetsASessionThatIsOver) {
  open(first_, 20);
  open(second_, 2);
  ledger_.left(first_);
  ledger_.left(SessionPeer{9, 900});  // that has reported nothing
  const FlowsStatus status = ledger_.status(kStart);
  EXPECT_EQ(status.open, 2U);
  EXPECT_EQ(status.opened, 22U);
  EXPECT_EQ(listed(), (Listed{{200, 2}}));
  // Its places are free, and its numbers may start again.
  last_number_[1] = 0;
  open(first_, 6);
  EXPECT_EQ(listed(), (Listed{{100, 6}, {200, 2}}));
}

TEST_F(FlowLedgerTest, CountsUnlistedFlows) {
  open(first_, 20);
  EXPECT_EQ(ledger_.status(kStart).open, 20U);
  EXPECT_EQ(listed(), (Listed{{100, 12}}));
  // Flows 13 to 20 are not listed, only counted.
  const auto ended = ledger_.ended(first_, FlowEnded{20, "failed"});
  ASSERT_TRUE(ended.ok());
  EXPECT_FALSE(ended->has_value());
  EXPECT_EQ(ledger_.status(kStart).open, 19U);
  EXPECT_EQ(ledger_.status(kStart).failed, 1U);
  EXPECT_EQ(listed(), (Listed{{100, 12}}));
}

TEST_F(FlowLedgerTest, GivesEachProcessAnEqualShare) {
  open(first_, 20);
  open(second_, 1);
  EXPECT_EQ(listed(), (Listed{{100, 11}, {200, 1}})) << "the first process hides no other";
  open(second_, 20);
  EXPECT_EQ(listed(), (Listed{{100, 6}, {200, 6}}));
  open({3, 300}, 20);
  EXPECT_EQ(listed(), (Listed{{100, 4}, {200, 4}, {300, 4}}));
  EXPECT_EQ(ledger_.status(kStart).open, 61U);
  // Each can still end its flows, listed or not.
  for (std::uint64_t number = 1; number <= 20; ++number) end(first_, number);
  EXPECT_EQ(listed(), (Listed{{200, 4}, {300, 4}}));
  EXPECT_EQ(ledger_.status(kStart).open, 41U);
}

TEST_F(FlowLedgerTest, SharesAreOfProcessesNotOfSessions) {
  const SessionPeer again{3, 100};
  open(first_, 12);
  open(second_, 6);
  open(again, 6);
  EXPECT_EQ(listed(), (Listed{{100, 6}, {200, 6}}));
  ledger_.left(first_);
  EXPECT_EQ(ledger_.status(kStart).open, 12U);
}

// As in containers with their own PID namespaces.
TEST_F(FlowLedgerTest, UnknownProcessesAreIdentifiedBySession) {
  open({1, 0}, 20);
  open({2, 0}, 20);
  const FlowsStatus status = ledger_.status(kStart);
  ASSERT_THAT(status.listed, SizeIs(12));
  for (const FlowStatus& flow : status.listed) EXPECT_EQ(flow.process, 0);
  ledger_.left({1, 0});
  EXPECT_THAT(ledger_.status(kStart).listed, SizeIs(6));
}

TEST_F(FlowLedgerTest, RefusesProtocolViolations) {
  const auto refused = [](const absl::Status& status, const std::string& why) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  };
  refused(ledger_.ended(first_, FlowEnded{1, ""}).status(), "flow number 1 ended, which is not open");
  refused(ledger_.opened(first_, numbered(0), kStart), "numbers grow");
  open(first_, 2);
  refused(ledger_.opened(first_, numbered(2), kStart), "flow number 2 was opened after number 2");
  refused(ledger_.ended(first_, FlowEnded{3, ""}).status(), "number 3");
  refused(ledger_.ended(second_, FlowEnded{1, ""}).status(), "number 1");
  refused(ledger_.ended({5, 100}, FlowEnded{1, ""}).status(), "number 1");
  end(first_, 1);
  refused(ledger_.ended(first_, FlowEnded{1, ""}).status(), "number 1");
  EXPECT_EQ(ledger_.status(kStart).open, 1U);
  ledger_.left(first_);
  EXPECT_EQ(ledger_.status(kStart).open, 0U);
  EXPECT_THAT(ledger_.status(kStart).listed, IsEmpty());
}

TEST_F(FlowLedgerTest, FindsOpenFlows) {
  open(first_, 3);
  const auto found = ledger_.find(first_, 2);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->value().number, 2U);
  end(first_, 2);
  for (const std::uint64_t number : {0, 2, 4}) EXPECT_FALSE(ledger_.find(first_, number).ok()) << number;
  EXPECT_FALSE(ledger_.find(second_, 1).ok());
}

TEST_F(FlowLedgerTest, RefusesTheEndOfAFlowThatIsNotOpen) {
  open(first_, 20);
  EXPECT_FALSE(ledger_.ended(first_, FlowEnded{21, ""}).ok());
  for (std::uint64_t i = 0; i < 8; ++i) end(first_, 13 + i);
  EXPECT_FALSE(ledger_.ended(first_, FlowEnded{20, ""}).ok()) << "all unlisted flows have ended";
}

}  // namespace
}  // namespace cableway
