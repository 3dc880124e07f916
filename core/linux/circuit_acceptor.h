// Accepts circuits: listens on a node's cable ports, reads the set-up that opens each connection, and hands both to a
// handler. Strangers get a deadline, a bound on their number, and an answer that says what was wrong.
#ifndef CABLEWAY_CORE_LINUX_CIRCUIT_ACCEPTOR_H_
#define CABLEWAY_CORE_LINUX_CIRCUIT_ACCEPTOR_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit_setup.h"
#include "core/linux/unique_fd.h"

namespace cableway::linux_ {

// A connection whose set-up has been read and not yet answered. Dropping it closes it without an answer.
class PendingCircuit {
 public:
  PendingCircuit(boost::asio::io_context& io, UniqueFd socket, CircuitSetup setup)
      : io_(&io), socket_(std::move(socket)), setup_(std::move(setup)) {}

  const CircuitSetup& setup() const { return setup_; }
  // Answers yes and gives the connection.
  absl::StatusOr<UniqueFd> accept() &&;
  // Answers with the reason, and closes.
  void refuse(const absl::Status& reason) &&;

 private:
  boost::asio::io_context* io_;
  UniqueFd socket_;
  CircuitSetup setup_;
};

class CircuitAcceptor {
 public:
  // On `io`'s thread.
  using Handler = std::function<void(PendingCircuit)>;
  // What a connection that is refused before the handler sees it was refused for, for the log.
  using OnRefused = std::function<void(const std::string& peer, const absl::Status& reason)>;

  struct Limits {
    std::chrono::milliseconds setup{5000};  // within which a connection's set-up must be complete
    std::size_t without_setup = 256;        // connections to one address that may lack one; more are refused at once
  };

  // Listens on `port` of every address; 0: one free port number, the same on all.
  static absl::StatusOr<std::unique_ptr<CircuitAcceptor>> listen(boost::asio::io_context& io,
                                                                 const std::vector<std::string>& addresses,
                                                                 std::uint16_t port, const Handler& handler,
                                                                 const OnRefused& on_refused, const Limits& limits);
  static absl::StatusOr<std::unique_ptr<CircuitAcceptor>> listen(boost::asio::io_context& io,
                                                                 const std::vector<std::string>& addresses,
                                                                 std::uint16_t port, const Handler& handler,
                                                                 const OnRefused& on_refused) {
    return listen(io, addresses, port, handler, on_refused, Limits());
  }
  ~CircuitAcceptor();
  CircuitAcceptor(const CircuitAcceptor&) = delete;
  CircuitAcceptor& operator=(const CircuitAcceptor&) = delete;

  std::uint16_t port() const;

 private:
  struct State;
  explicit CircuitAcceptor(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_CIRCUIT_ACCEPTOR_H_
