// The TCP implementation of the connection that a hop is set up on (core/circuit/setup_connection.h).
#ifndef CABLEWAY_CORE_LINUX_HOP_ASIO_CONNECTION_H_
#define CABLEWAY_CORE_LINUX_HOP_ASIO_CONNECTION_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "core/circuit/open_hop.h"
#include "core/circuit/setup_connection.h"
#include "core/linux/link/hop_connection.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// `socket` must be connected.
std::unique_ptr<SetupConnection> make_setup_connection(boost::asio::ip::tcp::socket socket);
// Takes the socket out of a connection made by make_setup_connection().
UniqueFd release_socket(std::unique_ptr<SetupConnection> connection);
// Converts a hop whose set-up is done into the parts that its link needs.
HopConnection release(OpenHop hop);

// Lives on the thread that runs `io`. `io` must outlive it.
class AsioConnector final : public SetupConnector {
 public:
  explicit AsioConnector(boost::asio::io_context& io) : io_(io) {}

  [[nodiscard]] std::unique_ptr<Attempt> connect(const Hop& hop, Connected connected) override;

 private:
  boost::asio::io_context& io_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_ASIO_CONNECTION_H_
