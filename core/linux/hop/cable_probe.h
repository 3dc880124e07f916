// Measures the throughput of cables: sends data over them for a short time, from node to node, in addition to other
// traffic.
//
// One TCP connection to the neighbour's relay port for each cable and direction, opened by a probe (core/flow/frame.h)
// in place of a set-up, and answered by set-up-ok or failed. Offset 0: the dialing end sends the data, then the other
// end reports in an ack how many bytes arrived. Offset 1: the other end sends the data. Either way the sender shuts
// down afterwards. Probe and answer are sealed as a set-up and its answer are (core/circuit/handshake.h); data and ack
// are not.
//
// Where hops over the cable use RDMA, probe and answer carry each end's offer, as set-ups do, and the data is written
// into the other end's memory (rdma_probe.h). The sending end measures the rate. A sending end that serves the test
// begins when it receives an ack, and reports the rate, in Mbit/s, in an ack of its own.
//
// Bounded in time and memory: each direction of a port has at most one test of this node and one of a neighbour at a
// time, of at most 2 s (over TCP, 4 GiB), on its own thread, whose every wait has a limit.
#ifndef CABLEWAY_CORE_LINUX_HOP_CABLE_PROBE_H_
#define CABLEWAY_CORE_LINUX_HOP_CABLE_PROBE_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/hop_reception.h"
#include "core/flow/frame.h"
#include "core/linux/rdma/verbs_ports.h"
#include "core/session/session_message.h"
#include "core/settings/settings.h"

namespace cableway::host {

struct CableProbePlan {
  std::string cable;  // for messages
  std::string from_address;
  std::string to_address;
  std::uint16_t to_port = 0;  // the neighbour's relay port
  std::chrono::milliseconds duration{500};
  bool both_ways = false;                    // both directions at once; else only from here to there
  std::optional<SubKey> key = std::nullopt;  // of KeyUse::kCircuitSetup, where the cluster has one
};

// Lives on the thread that runs `io`.
class CableProbes {
 public:
  // In the order of the plans.
  using Done = std::function<void(const std::vector<CableRates>&)>;

  // `settings` and `host` determine which data goes over RDMA, as for hops.
  CableProbes(boost::asio::io_context& io, const Settings& settings, VerbsHost host = {});
  // Ends running tests without calling their `done`.
  ~CableProbes();
  CableProbes(const CableProbes&) = delete;
  CableProbes& operator=(const CableProbes&) = delete;

  // Runs all tests at once; there must be at least one. Calls `done` once, within the duration plus a few seconds,
  // never from inside this call.
  void run(const std::vector<CableProbePlan>& plans, Done done);
  // Serves a neighbour's test that begins with this probe. Refuses it if one of that direction is running.
  void serve(ArrivedProbe arrived);

  std::size_t running() const;

 private:
  struct State;
  template <typename Finish>
  void start(const CableProbePlan& plan, std::uint64_t direction, const Finish& finish);

  std::shared_ptr<State> state_;
  const Settings settings_;
  const VerbsHost host_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_CABLE_PROBE_H_
