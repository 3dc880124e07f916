// Accepts circuits: listens on a node's cable ports, reads what opens each connection (core/circuit/hop_reception.h),
// and hands it on. Untrusted peers get a deadline, a bound on their number, and an answer that says what was wrong.
#ifndef CABLEWAY_CORE_LINUX_HOP_CIRCUIT_ACCEPTOR_H_
#define CABLEWAY_CORE_LINUX_HOP_CIRCUIT_ACCEPTOR_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/hop_reception.h"
#include "core/settings/port_range.h"

namespace cableway::host {

class CircuitAcceptor {
 public:
  // On `io`'s thread.
  using Handler = std::function<void(ArrivedSetup)>;
  // What a connection that is refused before the handler sees it was refused for, for the log.
  using OnRefused = std::function<void(const std::string& peer, const absl::Status& reason)>;

  struct Limits {
    std::chrono::milliseconds setup{5000};  // within which a connection's set-up must be complete
    std::size_t without_setup = 256;        // connections to one address that may lack one; more are refused at once
  };

  // Listens on one port out of `ports`, the same on every address. AlreadyExists: all of them are taken. Without
  // addresses it has no port until set_addresses() gives it some.
  static absl::StatusOr<std::unique_ptr<CircuitAcceptor>> listen(boost::asio::io_context& io,
                                                                 const std::vector<std::string>& addresses,
                                                                 PortRange ports, const Handler& handler,
                                                                 const OnRefused& on_refused, const Limits& limits);
  static absl::StatusOr<std::unique_ptr<CircuitAcceptor>> listen(boost::asio::io_context& io,
                                                                 const std::vector<std::string>& addresses,
                                                                 PortRange ports, const Handler& handler,
                                                                 const OnRefused& on_refused) {
    return listen(io, addresses, ports, handler, on_refused, Limits());
  }
  ~CircuitAcceptor();
  CircuitAcceptor(const CircuitAcceptor&) = delete;
  CircuitAcceptor& operator=(const CircuitAcceptor&) = delete;

  // From now on whoever connects must have this key (of KeyUse::kCircuitSetup), and is proven that this end has it;
  // with none, nobody may have one.
  void seal_with(std::optional<SubKey> key);

  // What a connection that begins with a probe goes to; without one it is refused.
  using OnProbe = std::function<void(ArrivedProbe)>;
  void on_probe(OnProbe on_probe);

  // The addresses from now on, each on port(). Connections that were accepted stay. The first address that cannot be
  // listened on is named, and those that can be are listened on all the same: call it again later.
  absl::Status set_addresses(const std::vector<std::string>& addresses);

  // 0 until there has been an address. Any thread.
  std::uint16_t port() const;

 private:
  struct State;
  explicit CircuitAcceptor(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_CIRCUIT_ACCEPTOR_H_
