// Addresses whose index in a device's GID table changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/linux/rdma/rdma_transport.h"
#include "core/linux/rdma/verbs_flush.h"
#include "core/linux/rdma/verbs_queue_pair.h"
#include "tests/core/linux/loopback_sockets.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class VerbsGidsTest : public testing::Test {
 protected:
  static ibv_gid_entry entry(const VerbsGid& gid, ibv_gid_type type = IBV_GID_TYPE_ROCE_V2) {
    ibv_gid_entry made{};
    std::memcpy(made.gid.raw, gid.bytes.data(), gid.bytes.size());
    made.gid_index = static_cast<std::uint32_t>(gid.index);
    made.port_num = gid.port;
    made.gid_type = static_cast<std::uint32_t>(type);
    made.ndev_ifindex = gid.interface;
    return made;
  }
  void move_to(int index) { fake_.gid.index = index; }
  std::unique_ptr<VerbsQueuePair> make_pair() { return VerbsQueuePair::create(device_, gid_, 1, {}).value(); }
  static absl::Status connect_with_itself(VerbsQueuePair& pair) { return pair.connect(pair.endpoint()); }
  void report_change() {
    ibv_async_event event{};
    event.event_type = IBV_EVENT_GID_CHANGE;
    event.element.port_num = 1;
    fake_.events.push_back(event);
    EXPECT_TRUE(device_->next_event().has_value());
  }

  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0", VerbsGid{3, {std::byte{0xfe}, std::byte{0x80}}, 1, 7});
  const std::shared_ptr<VerbsDevice> device_ = verbs_.open(fake_);
  const VerbsGid gid_ = fake_.gid;  // as it was at first
};

TEST_F(VerbsGidsTest, AnAddressIsFoundWhereItIsNow) {
  EXPECT_EQ(device_->find_gid(gid_).value(), gid_);
  move_to(5);
  EXPECT_EQ(device_->find_gid(gid_).value().index, 5);
  fake_.has_gid = false;
  const absl::Status gone = device_->find_gid(gid_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(gone));
  EXPECT_THAT(gone.message(), HasSubstr("mlx5_0 has no RoCE v2 GID fe80:: any more"));
}

TEST_F(VerbsGidsTest, TheSameBytesOfAnotherVersionPortOrInterfaceAreNotIt) {
  VerbsGid other = gid_;
  other.index = 0;
  fake_.other_gids = {entry(other, IBV_GID_TYPE_ROCE_V1)};
  EXPECT_EQ(device_->find_gid(gid_).value().index, 3);
  other.port = 2;
  fake_.other_gids = {entry(other)};
  EXPECT_EQ(device_->find_gid(gid_).value().index, 3);
  other = gid_;
  other.index = 1;
  other.interface = 8;  // a VLAN of the interface, for instance
  fake_.other_gids = {entry(other)};
  EXPECT_EQ(device_->find_gid(gid_).value().index, 3);
  EXPECT_EQ(device_->find_gid(other).value().index, 1);
  VerbsGid any = gid_;
  any.interface = 0;
  EXPECT_EQ(device_->find_gid(any).value().index, 1) << "the first";
}

TEST_F(VerbsGidsTest, AnIndexThatNoQueuePairCanBeGivenIsNone) {
  move_to(256);
  EXPECT_FALSE(device_->find_gid(gid_).ok());
}

TEST_F(VerbsGidsTest, AnOldLibraryFindsAnAddressAtItsPlaceOnly) {
  verbs_.library().query_gid_table = nullptr;
  EXPECT_EQ(device_->find_gid(gid_).value(), gid_);
  move_to(5);
  EXPECT_TRUE(absl::IsFailedPrecondition(device_->find_gid(gid_).status()));
}

TEST_F(VerbsGidsTest, ATableThatCannotBeReadIsAnErrorOfTheDevice) {
  fake_.other_gids.resize(16, entry(gid_, IBV_GID_TYPE_ROCE_V1));
  EXPECT_THAT(device_->find_gid(gid_).status().message(), HasSubstr("cannot report its GIDs: Invalid argument"));
}

TEST_F(VerbsGidsTest, AQueuePairIsConnectedByTheIndexOfThatMoment) {
  move_to(4);
  const auto pair = make_pair();
  move_to(5);
  EXPECT_TRUE(connect_with_itself(*pair).ok());
  EXPECT_THAT(fake_.joined_by, ElementsAre(5));
  EXPECT_EQ(pair->gid().index, 5);
}

TEST_F(VerbsGidsTest, AnIndexThatMovesWhileItIsUsedIsFoundOnceMore) {
  for (auto* const moment : {&fake_.before_joining, &fake_.after_joining}) {
    fake_.joined_by.clear();
    fake_.received = 0;
    move_to(3);
    const auto pair = make_pair();
    *moment = [&, moment] {
      move_to(6);
      *moment = nullptr;
    };
    EXPECT_TRUE(connect_with_itself(*pair).ok());
    EXPECT_EQ(fake_.joined_by.back(), 6);
    EXPECT_EQ(fake_.received, 2U) << "a reset queue pair has lost its receives";
  }
}

TEST_F(VerbsGidsTest, AnIndexThatKeepsChangingIsAnError) {
  const auto pair = make_pair();
  fake_.before_joining = [&] { move_to(fake_.gid.index + 1); };
  const absl::Status refused = connect_with_itself(*pair);
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_THAT(refused.message(), HasSubstr("kept changing"));
  EXPECT_THAT(fake_.joined_by, IsEmpty());
}

TEST_F(VerbsGidsTest, ARefusalForAnotherReasonIsNotRepeated) {
  const auto pair = make_pair();
  int tries = 0;
  fake_.before_joining = [&] { ++tries; };
  fake_.join_error = ETIMEDOUT;
  EXPECT_THAT(connect_with_itself(*pair).message(),
              HasSubstr("cannot find the neighbour's port, or join its queue pair: Connection timed out"));
  EXPECT_EQ(tries, 1);
}

TEST_F(VerbsGidsTest, AnAddressThatGoesWhileItIsUsedIsTheReason) {
  const auto pair = make_pair();
  fake_.before_joining = [&] { fake_.has_gid = false; };
  EXPECT_THAT(connect_with_itself(*pair).message(), HasSubstr("no RoCE v2 GID fe80:: any more"));
}

TEST_F(VerbsGidsTest, AFlushIsMadeByTheIndexOfThatMoment) {
  move_to(9);
  EXPECT_TRUE(VerbsFlush::create(device_, gid_, 1, {}).ok());
  EXPECT_THAT(fake_.joined_by, ElementsAre(9));
}

TEST_F(VerbsGidsTest, AHopEndsOnlyIfItsAddressStaysAway) {
  auto [here, there] = test::connected_pair();
  auto pair = make_pair();
  ASSERT_TRUE(connect_with_itself(*pair).ok());
  const RdmaEndpoint endpoint = pair->endpoint();
  const auto end = make_rdma_end({device_, 0, std::move(pair), endpoint});
  const auto hop = end->make_link(std::move(here), {HopPlace::kSource}).value();
  EXPECT_TRUE(hop->check().ok());
  move_to(5);
  report_change();
  EXPECT_TRUE(hop->check().ok()) << "it has moved";
  EXPECT_TRUE(hop->check().ok());
  fake_.has_gid = false;
  EXPECT_TRUE(hop->check().ok()) << "no event has reported it";
  report_change();
  EXPECT_TRUE(hop->check().ok()) << "it may come back at once";
  fake_.has_gid = true;
  move_to(6);
  EXPECT_TRUE(hop->check().ok()) << "it has";
  fake_.has_gid = false;
  report_change();
  EXPECT_TRUE(hop->check().ok());
  const absl::Status gone = hop->check();
  EXPECT_TRUE(absl::IsUnavailable(gone)) << gone;
  EXPECT_THAT(gone.message(), HasSubstr("the port's address may have been removed"));
}

}  // namespace
}  // namespace cableway::host
