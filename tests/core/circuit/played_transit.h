// TransitSetups of node n1 between n0 and n2, with a host, connections and answers that the test plays.
#ifndef CABLEWAY_TESTS_CORE_CIRCUIT_PLAYED_TRANSIT_H_
#define CABLEWAY_TESTS_CORE_CIRCUIT_PLAYED_TRANSIT_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/transit_setups.h"
#include "sim/cable/link_inbox.h"
#include "sim/virtual_clock.h"
#include "tests/core/circuit/played_connection.h"
#include "tests/core/circuit/played_connector.h"
#include "tests/core/event/recorded_events.h"

namespace cableway::test {

inline constexpr std::uint32_t kSlotBytes = 65536;

class PlayedTransitHost final : public TransitSetups::Host {
 public:
  absl::Status check_transit(const CircuitSetup&) override {
    ++checks;
    return transit;
  }
  ShareHolder neighbour_at(const SetupConnection& connection) const override {
    const auto found = addresses.find(connection.other_address());
    return found == addresses.end() ? ShareHolder() : found->second;
  }
  std::set<ShareHolder> neighbours() const override {
    std::set<ShareHolder> holders;
    for (const auto& [address, holder] : addresses) holders.insert(holder);
    return holders;
  }
  std::size_t circuits() const override { return relayed; }
  std::size_t max_circuits() const override { return limit; }
  absl::Status no_room(std::size_t in_setup) const override {
    return absl::ResourceExhaustedError("full, with " + std::to_string(in_setup) + " in set-up");
  }
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const TransportEnd&, const TransportEnd&) override {
    if (!floor.ok()) return floor;
    return std::make_unique<sim::MemorySlot>(kSlotBytes);
  }
  absl::Status relay(const CircuitSetup&, OpenHop up, OpenHop down, std::unique_ptr<Slot>) override {
    ++relayed;
    upstream = std::move(up);
    downstream = std::move(down);
    return absl::OkStatus();
  }
  void refused(const CircuitSetup&, const absl::Status& reason) override { refusals.emplace_back(reason.message()); }
  void lost(const CircuitSetup&, const absl::Status& reason) override { losses.emplace_back(reason.message()); }

  absl::Status transit;
  absl::Status floor;
  // Of neighbours that are up.
  std::map<std::string, ShareHolder> addresses{{"10.0.0.2", {"eth0", "n0"}}, {"10.0.1.2", {"eth1", "n2"}}};
  std::size_t checks = 0;
  std::size_t relayed = 0;
  std::size_t limit = 10;
  std::vector<std::string> refusals;
  std::vector<std::string> losses;
  OpenHop upstream;
  OpenHop downstream;
};

class PlayedTransit : public testing::Test {
 protected:
  // From n0 through this node, n1, to n2.
  static CircuitSetup setup(std::uint32_t budget_ms = 1000) {
    CircuitSetup setup;
    setup.chunk_bytes = 1U << 20;
    setup.budget_ms = budget_ms;
    setup.from_node = "n0";
    setup.hops = {{"c0", "10.0.0.2", "n1", "10.0.0.1", 7000, false}, {"c1", "10.0.1.1", "n2", "10.0.1.2", 7001, false}};
    return setup;
  }
  std::shared_ptr<PlayedPeer> arrive(const CircuitSetup& setup, const std::string& from = "10.0.0.2") {
    auto peer = std::make_shared<PlayedPeer>();
    auto connection = std::make_unique<PlayedConnection>(peer, "10.0.0.1", from);
    transit_.arrived(ArrivedSetup(std::move(connection), setup, std::nullopt));
    clock_.run_for(Duration{1});  // a dial begins in a turn of its own
    return peer;
  }
  // The next node's answer.
  static void answer(PlayedPeer& peer, const SetupAnswer& answer) {
    peer.deliver(encode_setup_answer(answer));
    peer.run();
  }
  static void refuse(PlayedPeer& peer, const std::string& reason, FailureScope scope = FailureScope::kCircuit,
                     RefusalCause cause = RefusalCause::kOther) {
    std::optional<CircuitSeal> none;
    peer.deliver(refusal(reason, scope, none, cause));
    peer.run();
  }
  // Of a refusal that ends the circuit alone.
  static std::string reason_at(const PlayedPeer& upstream) { return reason_at(upstream, FailureScope::kCircuit); }
  // Of one that asks to try again.
  static std::string busy_reason_at(const PlayedPeer& upstream) { return reason_at(upstream, FailureScope::kBusy); }
  static std::string reason_at(const PlayedPeer& upstream, FailureScope scope,
                               RefusalCause cause = RefusalCause::kOther) {
    if (upstream.final_frame.size() < kFrameHeaderBytes) return "no final frame";
    const Frame frame = decode_frame(std::span(upstream.final_frame).first<kFrameHeaderBytes>()).value();
    const auto text = std::span(upstream.final_frame).subspan(kFrameHeaderBytes);
    EXPECT_EQ(frame, failed_frame(static_cast<std::uint32_t>(text.size()), scope, cause));
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  sim::VirtualClock clock_;
  PlayedConnector connector_;
  PlayedTransitHost host_;
  const TransportNegotiator transports_{{}, [] { return std::make_unique<PlayedConnectionEnd>(); }};
  RecordedEvents events_;
  TransitSetups transit_{{clock_, connector_, transports_, [] { return Challenge{}; }}, host_, events_, "n1"};
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_CIRCUIT_PLAYED_TRANSIT_H_
