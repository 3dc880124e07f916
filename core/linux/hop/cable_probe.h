// How fast a cable is: data sent over it for a moment, from node to node, beside everything else.
//
// One TCP connection to the neighbour's relay port for each direction, opened by a probe (core/flow/frame.h) in place
// of a set-up, answered by set-up-ok or failed. Offset 0: the data comes from who opened it, then the other end says in
// an ack how many bytes came. Offset 1: the data comes from the other end. Either way its sender shuts down after it.
// Probe and answer are sealed as a set-up and its answer are (core/circuit/handshake.h); data and ack are not.
//
// It cannot take a node's time or memory: each direction of a port has one test of this node's and one of a neighbour's
// at a time, of at most 2 s and 4 GiB, on a thread of its own, whose every wait has a limit.
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
  bool both_ways = false;                    // at once; else from here to there
  std::optional<SubKey> key = std::nullopt;  // of KeyUse::kCircuitSetup, where the cluster has one
};

// Lives on the thread that runs `io`.
class CableProbes {
 public:
  using Done = std::function<void(const CableProbeReply&)>;

  explicit CableProbes(boost::asio::io_context& io);
  // Ends those that run, and does not call their `done`.
  ~CableProbes();
  CableProbes(const CableProbes&) = delete;
  CableProbes& operator=(const CableProbes&) = delete;

  // `done` is called once, within the duration and some seconds, never from inside this call.
  void run(const CableProbePlan& plan, Done done);
  // A neighbour's test that begins with this probe. Refuses it where one runs already.
  void serve(ArrivedProbe arrived);

  std::size_t running() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_CABLE_PROBE_H_
