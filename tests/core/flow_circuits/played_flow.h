// The source's circuits of a played flow over played paths:
//
//        +--am-- m --mb--+
//   a ---+--an-- n --nb--+--- b
//        +-------ab------+
#ifndef CABLEWAY_TESTS_CORE_FLOW_CIRCUITS_PLAYED_FLOW_H_
#define CABLEWAY_TESTS_CORE_FLOW_CIRCUITS_PLAYED_FLOW_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/flow_circuits/source_circuits.h"
#include "tests/core/flow_circuits/played_paths.h"

namespace cableway::test {

inline const PathOffer kDirect = path_over({{"ab", "b"}});
inline const PathOffer kOverM = path_over({{"am", "m"}, {"mb", "b"}});
inline const PathOffer kOverN = path_over({{"an", "n"}, {"nb", "b"}});

class PlayedFlow final : public SourceCircuits::Flow {
 public:
  std::optional<CircuitName> reserve() override {
    if (slots == 0) return std::nullopt;
    return CircuitName{next_slot, ++generation};
  }
  void release(const CircuitName& reserved) override { released.push_back(reserved.generation); }
  absl::Status join(const CircuitSetup& setup, OpenHop first_hop) override {
    if (!join_error.ok()) return join_error;
    joined.push_back(setup);
    hops.push_back(std::move(first_hop));
    ++alive;
    return absl::OkStatus();
  }
  std::size_t live() override { return alive; }
  void end_circuit(const CircuitName& circuit, const absl::Status&) override { ended.push_back(circuit); }
  bool waits() override { return waiting; }
  std::uint64_t arrived() override { return landed; }
  void lacks_circuit(const absl::Status& reason) override { lacks.emplace_back(reason.message()); }
  void fail(const absl::Status& reason) override { failures.push_back(reason); }

  std::size_t slots = 4;
  std::uint8_t next_slot = 0;
  std::uint32_t generation = 0;
  std::size_t alive = 0;
  bool waiting = true;
  std::uint64_t landed = 0;
  absl::Status join_error;
  std::vector<std::uint32_t> released;
  std::vector<CircuitName> ended;
  std::vector<CircuitSetup> joined;
  std::vector<OpenHop> hops;
  std::vector<absl::Status> failures;
  std::vector<std::string> lacks;
};

class SourceCircuitsFixture : public testing::Test {
 protected:
  SourceCircuitsFixture() {
    identity_.cookie.fill(std::byte{7});
    identity_.nonce.fill(std::byte{9});
    identity_.source_node = "a";
    identity_.source_port = 4001;
    identity_.destination_node = "b";
    identity_.destination_port = 4002;
    paths_.offers = {kDirect, kOverM, kOverN};
  }
  void begin(std::chrono::milliseconds path_wait = std::chrono::seconds(30)) {
    circuits_.emplace(paths_.means, identity_,
                      SourceCircuits::Limits{.open = std::chrono::seconds(10),
                                             .path_wait = path_wait,
                                             .chunk_bytes = 1U << 20,
                                             .shares = CircuitShare::kBundle},
                      flow_);
    circuits_->start();
    paths_.turn();
  }
  void open_first() {
    paths_.reach();
    paths_.accept();
    ASSERT_THAT(flow_.joined, testing::SizeIs(1));
  }
  void end_circuit(const std::string& reason = "cut", std::uint8_t slot = 0) {
    --flow_.alive;
    circuits_->circuit_ended({slot, flow_.generation}, absl::UnavailableError(reason));
    paths_.turn();
  }
  // The first cable of the newest dial.
  std::string dialled() const { return paths_.connector.dialled.back()->hop.cable; }
  std::size_t dials() const { return paths_.connector.dialled.size(); }
  void run_for(Duration time) { paths_.clock.run_for(time); }

  PlayedPaths paths_;
  FlowIdentity identity_;
  PlayedFlow flow_;
  std::optional<SourceCircuits> circuits_;
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_FLOW_CIRCUITS_PLAYED_FLOW_H_
