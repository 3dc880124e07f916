// Opens hops of circuits from this process: drives core/circuit/hop_dial.h over TCP connections.
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
  // Called exactly once, never from inside dial(), with this end of the hop or the reason of the failure
  // (HopDial::Done).
  using Done = std::function<void(absl::StatusOr<HopConnection>)>;

  // `io` and `transports` must outlive it.
  CircuitDialer(boost::asio::io_context& io, const TransportNegotiator& transports)
      : clock_(io), connector_(io), transports_(transports) {}
  // Drops pending dials without calling their `done`.
  ~CircuitDialer() = default;
  CircuitDialer(const CircuitDialer&) = delete;
  CircuitDialer& operator=(const CircuitDialer&) = delete;

  void dial(const CircuitSetup& setup, const std::optional<SubKey>& key, Done done);
  // For callers that run a HopDial themselves.
  HopDial::Means means();

 private:
  AsioClock clock_;
  AsioConnector connector_;
  const TransportNegotiator& transports_;
  std::list<HopDial> dials_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_CIRCUIT_DIALER_H_
