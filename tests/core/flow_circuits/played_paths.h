// What a flow's ends need of a process, played: paths, connections and time.
#ifndef CABLEWAY_TESTS_CORE_FLOW_CIRCUITS_PLAYED_PATHS_H_
#define CABLEWAY_TESTS_CORE_FLOW_CIRCUITS_PLAYED_PATHS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/circuit/circuit_setup.h"
#include "core/circuit/handshake.h"
#include "core/circuit/transport_negotiator.h"
#include "core/flow_circuits/flow_paths.h"
#include "sim/virtual_clock.h"
#include "tests/core/circuit/played_connector.h"

namespace cableway::test {

// "a -ab-> b": {"ab", "b"}, then further hops.
inline PathOffer path_over(const std::vector<std::pair<std::string, std::string>>& hops) {
  PathOffer path;
  for (const auto& [cable, node] : hops) path.hops.push_back(Hop{cable, "10.0.0.2", node, "10.0.0.1", 7000, false});
  return path;
}

class PlayedPaths {
 public:
  // Answered at once. An error, if set, is answered instead.
  PathOffers offers;
  // Those of the flow with that ordinal; null: `offers` for all.
  std::function<PathOffers(std::uint64_t ordinal)> offers_to;
  absl::Status no_path;
  bool asks = true;           // false: inquiries find no path
  PathOffers inquiry_offers;  // for inquiries, where there are none for circuits; empty: the error
  std::size_t requests = 0;
  std::size_t inquiries = 0;  // requests for their paths
  std::string requested_node;

  Duration no_path_after{0};  // how long the node waits for one

  sim::VirtualClock clock;
  std::unique_ptr<Timer> late_answer;
  PlayedConnector connector;
  const TransportNegotiator transports{{}, [] { return std::make_unique<PlayedConnectionEnd>(); }};
  const FlowMeans means{{clock, connector, transports, [] { return Challenge{}; }},
                        [this](const std::string& node, std::uint64_t ordinal, std::size_t,
                               const std::function<void(absl::StatusOr<PathOffers>)>& done) {
                          ++requests;
                          requested_node = node;
                          if (no_path.ok() && offers_to != nullptr) return done(offers_to(ordinal));
                          if (no_path.ok()) return done(offers);
                          if (no_path_after == Duration{0}) return done(no_path);
                          late_answer = clock.call_after(no_path_after, [this, done] { done(no_path); });
                        },
                        [this](const std::string& node, std::uint64_t, std::size_t,
                               const std::function<void(absl::StatusOr<PathOffers>)>& done) {
                          if (!asks) return done(absl::UnavailableError("no path"));
                          ++inquiries;
                          requested_node = node;
                          if (no_path.ok()) return done(offers);
                          inquiry_offers.empty() ? done(no_path) : done(inquiry_offers);
                        },
                        [] { return std::nullopt; }};

  // Lets a dial begin, which takes a turn of its own.
  void turn() { clock.run_for(Duration{1}); }
  // The newest dial reaches its peer; returns the set-up that it sends there.
  CircuitSetup reach() {
    peer = connector.reach();
    absl::StatusOr<CircuitSetup> setup = decode_circuit_setup(peer->take_frame().second);
    EXPECT_TRUE(setup.ok()) << setup.status();
    return setup.ok() ? *std::move(setup) : CircuitSetup();
  }
  void accept() {
    peer->deliver(encode_setup_answer({}));
    peer->run();
  }
  void refuse(const std::string& reason, FailureScope scope = FailureScope::kCircuit) {
    std::optional<CircuitSeal> none;
    peer->deliver(refusal(reason, scope, none));
    peer->run();
  }

  std::shared_ptr<PlayedPeer> peer;  // of the newest dial that was reached
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_FLOW_CIRCUITS_PLAYED_PATHS_H_
