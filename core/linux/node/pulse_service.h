// The pulses of a node on a host: informs their thread which cables are up, and passes its verdicts on
// (core/node/cable_verdicts.h).
#ifndef CABLEWAY_CORE_LINUX_NODE_PULSE_SERVICE_H_
#define CABLEWAY_CORE_LINUX_NODE_PULSE_SERVICE_H_

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/crypto/datagram_seal.h"
#include "core/linux/pulse/pulse_thread.h"
#include "core/node/cable_verdicts.h"
#include "core/node/node.h"
#include "core/pulse/pulses.h"
#include "core/settings/settings.h"
#include "core/view/status_view.h"

namespace cableway::host {

// Lives on the thread that runs `io`.
class PulseService {
 public:
  using Listener = CableVerdicts::Listener;

  // Null without an error if the settings disable pulses. All arguments except `settings` must outlive it.
  static absl::StatusOr<std::unique_ptr<PulseService>> start(boost::asio::io_context& io, const Settings& settings,
                                                             const DatagramSeal& seal, Node& node, Listener listener);

  // Call when cables, ports or neighbours may have changed.
  void update();

  // The cables that the node's processes must not use fully.
  std::vector<UnusedCable> unused() const;
  // One problem for each cable of the topology that is not fully trusted now, or that loses packets.
  std::vector<HostProblem> problems() const;

 private:
  PulseService(Node& node, Listener listener) : node_(node), verdicts_(node, std::move(listener)) {}

  void on_verdict(const PulsedCable& cable, const CableVerdict& verdict) { verdicts_.act(cable, verdict); }
  void on_loss(const PulsedCable& cable, unsigned percent) { verdicts_.lose(cable, percent); }
  void on_failed(const PulsedCable& cable, const std::string& reason);

  Node& node_;
  CableVerdicts verdicts_;
  std::vector<PulsedCable> pulsed_;
  const std::shared_ptr<char> lifetime_ = std::make_shared<char>();  // for work that the thread has posted
  std::unique_ptr<PulseThread> thread_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_NODE_PULSE_SERVICE_H_
