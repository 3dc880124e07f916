#include "core/circuit/transport_negotiator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/core/circuit/played_connection.h"

namespace cableway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// An end with only a name and parameters.
class NamedEnd final : public TransportEnd {
 public:
  NamedEnd(std::string name, std::vector<std::byte> parameters)
      : name_(std::move(name)), parameters_(std::move(parameters)) {}
  std::string name() const override { return name_; }
  std::vector<std::byte> parameters() const override { return parameters_; }
  std::uint32_t max_chunk_bytes() const override { return 128; }

 private:
  const std::string name_;
  const std::vector<std::byte> parameters_;
};

struct Played {
  absl::Status broken;    // of the device
  bool there = true;      // behind this port
  bool required = false;  // nothing else may be used
  bool crosses_routers = false;
  absl::Status unsettled;
};

class PlayedTransport final : public Transport {
 public:
  PlayedTransport(TransportKind kind, const Played& how) : kind_(kind), how_(how) {}

  TransportKind kind() const override { return kind_; }
  bool crosses_routers() const override { return how_.crosses_routers; }
  absl::StatusOr<TransportChoice> offer(const CircuitSetup&) override { return open("offered"); }
  absl::Status settle(const CircuitSetup&, const SetupConnection&, TransportEnd&, std::span<const std::byte>) override {
    return how_.unsettled;
  }
  absl::StatusOr<TransportChoice> join(const CircuitSetup&, const SetupConnection&,
                                       std::span<const std::byte>) override {
    return open("joined");
  }
  absl::StatusOr<std::string> missing_there() const override {
    if (how_.required) return absl::FailedPreconditionError("it has to be there");
    return "the other end has none";
  }

 private:
  absl::StatusOr<TransportChoice> open(const std::string& name) const {
    if (!how_.broken.ok()) return how_.broken;
    if (!how_.there) return TransportChoice{nullptr, "no device here"};
    const std::vector<std::byte> parameters(3, static_cast<std::byte>(kind_));
    return TransportChoice{std::make_unique<NamedEnd>(name + std::to_string(static_cast<int>(kind_)), parameters),
                           kAtBothEnds};
  }

  const TransportKind kind_;
  const Played& how_;
};

constexpr auto kFirst = TransportKind::kRdma;
constexpr auto kSecond = static_cast<TransportKind>(2);

class TransportNegotiatorTest : public testing::Test {
 protected:
  TransportNegotiatorTest() {
    setup_.from_node = "n0";
    setup_.hops.push_back({.cable = "c0", .from_address = "10.0.0.1", .to_node = "n1", .to_address = "10.0.0.2"});
  }
  TransportNegotiator negotiator() {
    std::vector<std::unique_ptr<Transport>> list;
    list.push_back(std::make_unique<PlayedTransport>(kFirst, first_));
    list.push_back(std::make_unique<PlayedTransport>(kSecond, second_));
    return {std::move(list), [] { return std::make_unique<NamedEnd>("connection", std::vector<std::byte>()); }};
  }
  std::vector<TransportKind> kinds() const {
    std::vector<TransportKind> kinds;
    for (const TransportOffer& offer : setup_.offers) kinds.push_back(offer.kind);
    return kinds;
  }
  static std::string described(const TransportChoice& choice) { return choice.end->name() + ": " + choice.why; }

  CircuitSetup setup_;
  Played first_;
  Played second_;
  test::PlayedConnection connection_;
};

TEST_F(TransportNegotiatorTest, OffersAllTransportsAndUsesTheAnsweredOne) {
  const TransportNegotiator table = negotiator();
  auto offered = table.offer(setup_);
  ASSERT_TRUE(offered.ok());
  EXPECT_THAT(kinds(), ElementsAre(kFirst, kSecond));
  EXPECT_EQ(setup_.offers[1].parameters, std::vector<std::byte>(3, std::byte{2}));
  auto settled = table.settle(setup_, connection_, {0, TransportOffer{kSecond, {}}}, *std::move(offered));
  ASSERT_TRUE(settled.ok()) << settled.status();
  EXPECT_EQ(described(*settled), "offered2: both ends have it");
}

TEST_F(TransportNegotiatorTest, UsesTheConnectionIfThisEndHasNoTransport) {
  first_.there = second_.there = false;
  const TransportNegotiator table = negotiator();
  auto offered = table.offer(setup_);
  ASSERT_TRUE(offered.ok());
  EXPECT_THAT(kinds(), IsEmpty());
  EXPECT_EQ(described(*table.settle(setup_, connection_, {}, *std::move(offered))), "connection: no device here");
}

TEST_F(TransportNegotiatorTest, UsesTheConnectionIfTheOtherEndHasNoTransport) {
  const TransportNegotiator table = negotiator();
  EXPECT_EQ(described(*table.settle(setup_, connection_, {}, *table.offer(setup_))),
            "connection: the other end has none");
  setup_.offers.clear();
  EXPECT_EQ(described(table.join(setup_, connection_)->choice), "connection: the other end has none");
}

TEST_F(TransportNegotiatorTest, FailsIfTheOtherEndLacksARequiredTransport) {
  const TransportNegotiator table = negotiator();
  for (Played* required : {&first_, &second_}) {
    required->required = true;
    EXPECT_EQ(table.settle(setup_, connection_, {}, *table.offer(setup_)).status(),
              absl::FailedPreconditionError("it has to be there"));
    setup_.offers.clear();
    EXPECT_EQ(table.join(setup_, connection_).status(), absl::FailedPreconditionError("it has to be there"));
    required->required = false;
  }
}

TEST_F(TransportNegotiatorTest, NeverFallsBackSilentlyFromAFailedDevice) {
  first_.broken = absl::InternalError("the device is on fire");
  const TransportNegotiator table = negotiator();
  EXPECT_EQ(table.offer(setup_).status(), first_.broken);
  setup_.offers = {{kFirst, {}}, {kSecond, {}}};
  EXPECT_EQ(table.join(setup_, connection_).status(), first_.broken);
}

TEST_F(TransportNegotiatorTest, JoinsTheBestOfferedTransport) {
  const TransportNegotiator table = negotiator();
  setup_.offers = {{kSecond, {}}, {kFirst, {}}, {static_cast<TransportKind>(99), {}}};
  auto joined = table.join(setup_, connection_);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(described(joined->choice), "joined1: both ends have it");
  EXPECT_EQ(joined->answer, (TransportOffer{kFirst, std::vector<std::byte>(3, std::byte{1})}));
  first_.there = false;
  EXPECT_EQ(described(table.join(setup_, connection_)->choice), "joined2: both ends have it");
}

TEST_F(TransportNegotiatorTest, IgnoresUnknownTransports) {
  setup_.offers = {{static_cast<TransportKind>(99), {}}};
  const TransportNegotiator table = negotiator();
  auto joined = table.join(setup_, connection_);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined->choice.end->name(), "connection");
  EXPECT_FALSE(joined->answer.has_value());
}

TEST_F(TransportNegotiatorTest, RefusesAnAnswerThatWasNotOffered) {
  second_.there = false;
  const TransportNegotiator table = negotiator();
  EXPECT_EQ(table.settle(setup_, connection_, {0, TransportOffer{kSecond, {}}}, *table.offer(setup_)).status(),
            absl::InvalidArgumentError("it answered with a transport of kind 2, which was not offered"));
  EXPECT_TRUE(absl::IsInvalidArgument(TransportNegotiator({}, [] { return nullptr; })
                                          .settle(setup_, connection_, {0, TransportOffer{kFirst, {}}}, {})
                                          .status()));
}

TEST_F(TransportNegotiatorTest, ReturnsTheErrorOfSettle) {
  first_.unsettled = absl::InvalidArgumentError("another GID");
  const TransportNegotiator table = negotiator();
  EXPECT_EQ(table.settle(setup_, connection_, {0, TransportOffer{kFirst, {}}}, *table.offer(setup_)).status(),
            first_.unsettled);
}

TEST_F(TransportNegotiatorTest, OffersNothingWithinANodeAndThroughRoutersOnlyWhatCrossesThem) {
  const TransportNegotiator table = negotiator();
  setup_.hops[0].routed = true;
  auto offered = table.offer(setup_);
  EXPECT_THAT(kinds(), IsEmpty());
  EXPECT_EQ(described(*table.settle(setup_, connection_, {}, *std::move(offered))),
            "connection: IP routers are in between");
  setup_.offers = {{kFirst, {}}};
  EXPECT_EQ(described(table.join(setup_, connection_)->choice), "connection: IP routers are in between");
  second_.crosses_routers = true;
  ASSERT_TRUE(table.offer(setup_).ok());
  EXPECT_THAT(kinds(), ElementsAre(kSecond));
  EXPECT_EQ(described(table.join(setup_, connection_)->choice), "joined2: both ends have it");
  setup_.hops[0].to_node = "n0";
  EXPECT_EQ(described(table.join(setup_, connection_)->choice), "connection: both ends are on this node");
}

}  // namespace
}  // namespace cableway
