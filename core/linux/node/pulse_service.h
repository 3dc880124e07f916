// What a node does with its pulses: tells their thread which cables are up, and acts on verdicts about them.
#ifndef CABLEWAY_CORE_LINUX_NODE_PULSE_SERVICE_H_
#define CABLEWAY_CORE_LINUX_NODE_PULSE_SERVICE_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/crypto/datagram_seal.h"
#include "core/linux/pulse/pulse_thread.h"
#include "core/node/doubted_cable.h"
#include "core/node/node.h"
#include "core/ports/port_lost.h"
#include "core/pulse/pulses.h"
#include "core/settings/settings.h"
#include "core/view/status_view.h"

namespace cableway::host {

// Lives on the thread that runs `io`. A verdict is this node's alone: it is not flooded, and the topology keeps the
// cable until no hello has arrived for the hold time.
class PulseService {
 public:
  struct Listener {
    // Circuits over it must end. Called after the node has stopped offering paths over the cable.
    std::function<void(PortLost)> lost;
    // A cable can be used again, perhaps only where there is no other path (proving).
    std::function<void()> usable;
  };

  // Null without an error if the settings want no pulses. Everything but `settings` must outlive it.
  static absl::StatusOr<std::unique_ptr<PulseService>> start(boost::asio::io_context& io, const Settings& settings,
                                                             const DatagramSeal& seal, Node& node, Listener listener);

  // Call when cables, ports or neighbours may have changed.
  void update();

  // One for each cable of the topology that is not fully trusted now, or that loses packets.
  std::vector<HostProblem> problems() const;

 private:
  PulseService(Node& node, Listener listener) : node_(node), listener_(std::move(listener)) {}

  std::vector<PulsedCable> cables() const;
  void on_verdict(const PulsedCable& cable, const CableVerdict& verdict);
  void on_loss(const PulsedCable& cable, unsigned percent);
  void on_failed(const PulsedCable& cable, const std::string& reason);

  Node& node_;
  const Listener listener_;
  std::vector<PulsedCable> pulsed_;
  DoubtedCables doubted_;
  std::map<std::string, std::string> lossy_;                         // by the cable's name: what is said of it
  const std::shared_ptr<char> lifetime_ = std::make_shared<char>();  // of what the thread has posted
  std::unique_ptr<PulseThread> thread_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_NODE_PULSE_SERVICE_H_
