// Opens hops of circuits from this process: core/circuit/hop_dial.h over TCP connections.
#ifndef CABLEWAY_CORE_LINUX_HOP_CIRCUIT_DIALER_H_
#define CABLEWAY_CORE_LINUX_HOP_CIRCUIT_DIALER_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <list>
#include <optional>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_dial.h"
#include "core/circuit/transport_negotiator.h"
#include "core/crypto/sub_key.h"
#include "core/linux/hop/asio_connection.h"
#include "core/linux/os/asio_clock.h"

namespace cableway::host {

// Lives on the thread that runs `io`.
class CircuitDialer {
 public:
  // Called exactly once, never from inside dial(): this end of the hop, or why there is none (HopDial::Done).
  using Done = std::function<void(absl::StatusOr<HopConnection>)>;

  // Both outlive it.
  CircuitDialer(boost::asio::io_context& io, const TransportNegotiator& transports)
      : clock_(io), connector_(io), transports_(transports) {}
  // Drops what is under way without a call.
  ~CircuitDialer() = default;
  CircuitDialer(const CircuitDialer&) = delete;
  CircuitDialer& operator=(const CircuitDialer&) = delete;

  void dial(const CircuitSetup& setup, const std::optional<SubKey>& key, Done done);
  // For those who dial by themselves.
  HopDial::Means means();

 private:
  AsioClock clock_;
  AsioConnector connector_;
  const TransportNegotiator& transports_;
  std::list<HopDial> dials_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_CIRCUIT_DIALER_H_
