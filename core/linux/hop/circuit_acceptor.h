// Accepts circuits: listens on a node's cable ports, reads what opens each connection (core/circuit/hop_reception.h),
// and passes it to a handler. Untrusted peers get a deadline, a share of the connections that may wait
// (core/arrivals/arrivals.h), and an answer that names the error.
#ifndef CABLEWAY_CORE_LINUX_HOP_CIRCUIT_ACCEPTOR_H_
#define CABLEWAY_CORE_LINUX_HOP_CIRCUIT_ACCEPTOR_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/arrivals/arrivals.h"
#include "core/circuit/hop_reception.h"
#include "core/crypto/setup_keys.h"
#include "core/neighbour_shares.h"
#include "core/settings/port_range.h"

namespace cableway::host {

class CircuitAcceptor {
 public:
  // Called on `io`'s thread.
  using Handler = std::function<void(ArrivedSetup)>;
  // Reports why a connection was refused before the handler saw it, for the log.
  using OnRefused = std::function<void(const std::string& peer, const absl::Status& reason)>;

  struct Limits {
    Arrivals::Limits without_setup = {};                              // of connections whose set-up has not arrived
    std::chrono::milliseconds keep_former = std::chrono::minutes(1);  // see set_addresses()
  };

  // Listens on one TCP port out of `ports`, the same on every address. AlreadyExists: all of them are taken. Without
  // addresses it has no TCP port until set_addresses() supplies some.
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

  // From now on peers must prove that they have one of these keys, and this end proves to each that it has the same
  // one. Without a key, peers must not have one either.
  void seal_with(SetupKeys keys);

  // Receives connections that begin with a probe; without it they are refused.
  using OnProbe = std::function<void(ArrivedProbe)>;
  void on_probe(OnProbe on_probe);

  // Whose share a connection counts in. Without it: that of the address that it arrived at.
  using PartyOf = std::function<ShareHolder(const SetupConnection&)>;
  void share_by(PartyOf party_of);
  // Reports that many connections bring no valid set-up.
  void on_flood(IdleRate::Report on_flood);

  // Replaces the addresses; each uses port(). Accepted connections stay. Listens on as many as possible; the status
  // names the first address that failed. Call it again later to retry. A former address stays open for
  // Limits::keep_former: while it is back on its port and not yet known to be (a network manager applies its
  // configuration again), a refusal would look like the end of this process.
  absl::Status set_addresses(const std::vector<std::string>& addresses);

  // 0 until there has been an address. Callable from any thread.
  std::uint16_t port() const;

 private:
  struct State;
  explicit CircuitAcceptor(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_CIRCUIT_ACCEPTOR_H_
