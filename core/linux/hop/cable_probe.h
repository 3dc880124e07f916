// Measures a cable's throughput: sends data over it for a short time, from node to node, beside other traffic.
//
// One TCP connection to the neighbour's relay port for each direction, opened by a probe (core/flow/frame.h) in place
// of a set-up, and answered by set-up-ok or failed. Offset 0: the dialing end sends the data, then the other end
// reports in an ack how many bytes arrived. Offset 1: the other end sends the data. Either way the sender shuts down
// afterwards. Probe and answer are sealed as a set-up and its answer are (core/circuit/handshake.h); data and ack are
// not.
//
// Bounded in time and memory: each direction of a port has at most one test of this node and one of a neighbour at a
// time, of at most 2 s and 4 GiB, on its own thread, whose every wait has a limit.
#ifndef CABLEWAY_CORE_LINUX_HOP_CABLE_PROBE_H_
#define CABLEWAY_CORE_LINUX_HOP_CABLE_PROBE_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/circuit/hop_reception.h"
#include "core/flow/frame.h"
#include "core/session/session_message.h"

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
  using Done = std::function<void(const CableProbeReply&)>;

  explicit CableProbes(boost::asio::io_context& io);
  // Ends running tests without calling their `done`.
  ~CableProbes();
  CableProbes(const CableProbes&) = delete;
  CableProbes& operator=(const CableProbes&) = delete;

  // Calls `done` once, within the duration and some seconds, never from inside this call.
  void run(const CableProbePlan& plan, Done done);
  // Serves a neighbour's test that begins with this probe. Refuses it if one of that direction is running.
  void serve(ArrivedProbe arrived);

  std::size_t running() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_CABLE_PROBE_H_
