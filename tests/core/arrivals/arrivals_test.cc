#include "core/arrivals/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/arrivals/flood_notes.h"
#include "sim/virtual_clock.h"
#include "tests/core/circuit/played_connection.h"
#include "tests/core/event/recorded_events.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::PlayedConnection;
using test::PlayedPeer;
using testing::HasSubstr;
using testing::IsEmpty;

class ArrivalsTest : public testing::Test {
 protected:
  using Peer = std::shared_ptr<PlayedPeer>;

  static constexpr const char* kOwn = "10.0.0.1";
  static constexpr const char* kNeighbour = "10.0.0.2";
  static constexpr const char* kOther = "10.0.0.9";

  static CircuitSetup setup(const std::string& from) {
    CircuitSetup setup;
    setup.chunk_bytes = 1U << 20;
    setup.budget_ms = 1000;
    setup.from_node = "n0";
    setup.hops = {{"c0", from, "n1", kOwn, 7000, false}};
    return setup;
  }
  // Those of one address are one party.
  Peer connect(const std::string& from, const std::string& port = "eth0") {
    auto peer = std::make_shared<PlayedPeer>();
    arrivals_.take(std::make_unique<PlayedConnection>(peer, kOwn, from), kOwn, {port, from}, SetupKeys(), Challenge{});
    return peer;
  }
  static void send_setup(PlayedPeer& peer, const std::string& from) {
    peer.deliver(encode_setup_frame(setup(from)));
    peer.run();
  }
  static void begin(PlayedPeer& peer, const std::string& from) {
    const std::vector<std::byte> frame = encode_setup_frame(setup(from));
    peer.deliver(std::span(frame).first(kFrameHeaderBytes));
    peer.run();
  }
  std::vector<Peer> flood(std::size_t number, const std::string& from) {
    std::vector<Peer> peers;
    for (std::size_t i = 0; i < number; ++i) peers.push_back(connect(from));
    return peers;
  }
  static std::size_t open_of(const std::vector<Peer>& peers) {
    return static_cast<std::size_t>(
        std::count_if(peers.begin(), peers.end(), [](const Peer& peer) { return peer->is_open; }));
  }

  sim::VirtualClock clock_;
  test::RecordedEvents events_;
  FloodNotes notes_{clock_, events_, 7470};
  std::size_t arrived_ = 0;
  std::vector<std::string> refused_;
  Arrivals::Limits limits_;
  Arrivals arrivals_{clock_, limits_,
                     [this](const std::string& /*peer*/, Arrivals::Opening opening) {
                       if (opening.ok()) return void(++arrived_);
                       refused_.emplace_back(opening.status().message());
                     },
                     [this](const IdleRate::From& from, std::size_t rate) { notes_.note(from, rate, "eth0"); }};
};

TEST_F(ArrivalsTest, FloodsOfSilentConnectionsKeepNoSetUpOut) {
  // 1,000 a second for five seconds, from the address of the neighbour whose set-ups come in between.
  std::vector<Peer> silent;
  for (int i = 0; i < 5000; ++i) {
    silent.push_back(connect(kNeighbour));
    clock_.run_for(milliseconds(1));
    if (i % 100 != 0) continue;
    const Peer late = connect(kNeighbour);
    clock_.run_for(milliseconds(1));  // a round trip
    send_setup(*late, kNeighbour);
  }
  EXPECT_EQ(arrived_, 50U);
  EXPECT_LE(open_of(silent), limits_.each);
  EXPECT_LE(arrivals_.size(), limits_.each);
}

TEST_F(ArrivalsTest, TheOldestThatHasSentNothingIsClosedFirst) {
  const Peer begun = connect(kNeighbour);
  begin(*begun, kNeighbour);
  const std::vector<Peer> silent = flood(limits_.each - 1, kNeighbour);
  EXPECT_EQ(open_of(silent), silent.size());
  connect(kNeighbour);
  EXPECT_TRUE(begun->is_open);
  EXPECT_FALSE(silent[0]->is_open);
  EXPECT_THAT(silent[0]->final_frame, IsEmpty()) << "an answer would cost as much as the flood";
  EXPECT_TRUE(silent[1]->is_open);
}

TEST_F(ArrivalsTest, OfThoseThatHaveBegunTheOldestIsClosed) {
  std::vector<Peer> begun;
  for (std::size_t i = 0; i < limits_.each; ++i) {
    begun.push_back(connect(kNeighbour));
    begin(*begun.back(), kNeighbour);
  }
  const Peer newest = connect(kNeighbour);
  EXPECT_FALSE(begun[0]->is_open);
  EXPECT_EQ(open_of(begun), begun.size() - 1);
  send_setup(*newest, kNeighbour);
  EXPECT_EQ(arrived_, 1U);
}

TEST_F(ArrivalsTest, EachPartyLosesItsOwnConnectionsOnly) {
  const Peer patient = connect(kNeighbour);
  flood(10 * limits_.each, kOther);
  EXPECT_TRUE(patient->is_open);
  EXPECT_EQ(arrivals_.size(), limits_.each + 1);
  // All together are bounded as well: then the party with the most gives way.
  for (int i = 0; arrivals_.size() < limits_.all; ++i) flood(limits_.each - 1, "10.0.1." + std::to_string(i));
  flood(5, "10.0.2.1");
  EXPECT_EQ(arrivals_.size(), limits_.all);
  EXPECT_TRUE(patient->is_open);
}

// A neighbour can have as many names as a segment may have ports.
TEST_F(ArrivalsTest, ManyNamesAtOnePortLoseTheirOwnConnectionsOnly) {
  std::vector<Peer> honest;
  for (int i = 0; i < 10; ++i) honest.push_back(connect(kNeighbour));
  for (int i = 0; i < 100; ++i) {
    for (int name = 0; name < 112; ++name) connect("10.0.1." + std::to_string(name), "eth1");
  }
  EXPECT_EQ(arrivals_.size(), limits_.all);
  EXPECT_EQ(open_of(honest), honest.size());
  // At that port the largest party gives way.
  const Peer newest = connect("10.0.1.200", "eth1");
  for (int i = 0; i < 5; ++i) connect(kNeighbour);
  EXPECT_TRUE(newest->is_open);
}

TEST_F(ArrivalsTest, SilenceIsShortOnlyWhileItIsScarce) {
  const std::vector<Peer> few = flood(limits_.each / 2, kNeighbour);
  const std::vector<Peer> many = flood(limits_.each / 2 + 10, kOther);
  clock_.run_for(limits_.silent + milliseconds(1));
  EXPECT_EQ(open_of(few), few.size());
  EXPECT_EQ(open_of(many), limits_.each / 2);
  clock_.run_for(limits_.setup);
  EXPECT_EQ(arrivals_.size(), 0U);
  EXPECT_EQ(refused_.size(), limits_.each) << "those that were not dropped get an answer";
  EXPECT_EQ(refused_.front(), "no complete set-up within 5000 ms");
}

TEST_F(ArrivalsTest, AFloodIsReportedWithItsPortItsSourceAndItsRate) {
  for (int i = 0; i < 3000; ++i) {
    connect(kNeighbour);
    clock_.run_for(milliseconds(1));
  }
  EXPECT_EQ(events_.count(EventCode::kConnectionsFlooded), 1U) << "once in 10 s";
  EXPECT_THAT(
      events_.raised.front().text,
      HasSubstr(" connections a second to TCP port 7470 at 10.0.0.1 (port eth0) brought no valid set-up, most of them "
                "from 10.0.0.2, an address of node 10.0.0.2"));
  EXPECT_EQ(test::field_of(events_.raised.front().fields, "address"), "10.0.0.2");
  EXPECT_GT(std::stoi(test::field_of(events_.raised.front().fields, "rate")), 800);
  EXPECT_THAT(notes_.problem(), HasSubstr("they are closed or refused"));
  clock_.run_for(FloodNotes::kLasts + seconds(2));
  EXPECT_EQ(notes_.problem(), "");
}

TEST_F(ArrivalsTest, InvalidSetUpsAreReportedAsAFlood) {
  for (int i = 0; i < 1000; ++i) {
    const Peer peer = connect(kOther);
    peer->deliver(std::vector<std::byte>(64, std::byte{'G'}));
    peer->run();
    clock_.run_for(milliseconds(1));
  }
  clock_.run_for(seconds(1));
  EXPECT_EQ(refused_.size(), 1000U);
  ASSERT_EQ(events_.count(EventCode::kConnectionsFlooded), 1U);
  EXPECT_THAT(notes_.problem(), HasSubstr("brought no valid set-up, most of them from 10.0.0.9"));
}

// Of a later version: who dials is told in a field.
TEST_F(ArrivalsTest, AnUnknownPurposeIsRefusedWithThatCause) {
  const Peer peer = connect(kNeighbour);
  std::vector<std::byte> frame = encode_setup_frame(setup(kNeighbour));
  constexpr std::size_t kPurpose = kFrameHeaderBytes + sizeof kProtocolVersion;
  frame[kPurpose] = std::byte{static_cast<std::uint8_t>(SetupPurpose::kView) + 1};
  peer->deliver(frame);
  peer->run();
  ASSERT_GE(peer->final_frame.size(), kFrameHeaderBytes);
  const Frame answer = decode_frame(std::span(peer->final_frame).first<kFrameHeaderBytes>()).value();
  EXPECT_EQ(cause_of(answer), RefusalCause::kUnknownPurpose);
  EXPECT_EQ(scope_of(answer), FailureScope::kCircuit);
  const Peer other = connect(kNeighbour);
  send_setup(*other, kOther);
  EXPECT_EQ(cause_of(decode_frame(std::span(other->final_frame).first<kFrameHeaderBytes>()).value()),
            RefusalCause::kOther);
}

// As after a node has stood still: its peers have given up meanwhile.
TEST_F(ArrivalsTest, PeersThatHaveClosedAreNoFlood) {
  for (const Peer& peer : flood(100, kNeighbour)) {
    peer->ended = absl::UnavailableError("End of file");
    peer->run();
  }
  clock_.run_for(seconds(2));
  EXPECT_EQ(refused_.size(), 100U);
  EXPECT_EQ(events_.raised.size(), 0U);
}

TEST_F(ArrivalsTest, FewSilentConnectionsAreNoFlood) {
  // The silent ones are closed once half of the share is taken.
  const std::size_t few = limits_.each / 2 + IdleRate::kMany - 1;
  flood(few, kNeighbour);
  clock_.run_for(seconds(2));
  EXPECT_EQ(events_.raised.size(), 0U);
}

}  // namespace
}  // namespace cableway
