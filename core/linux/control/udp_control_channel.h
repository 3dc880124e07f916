// The control channel over UDP. Each address of a port has a socket of its own, each family of a port one more for what
// goes to all; so several nodes may share an interface, as on loopback, each with its own address.
#ifndef CABLEWAY_CORE_LINUX_CONTROL_UDP_CONTROL_CHANNEL_H_
#define CABLEWAY_CORE_LINUX_CONTROL_UDP_CONTROL_CHANNEL_H_

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/discovery/control_channel.h"
#include "core/discovery/control_counters.h"
#include "core/discovery/port_inventory.h"

namespace cableway::host {

// Needs no privilege. What does not come from a cable's other end is dropped and counted: see control_socket.h. Wakes
// for datagrams only, and, while a socket could not be opened, after 250 ms to try again, doubling up to 8 s. Takes at
// most 64 datagrams of a socket before others' turn. Lives on the thread that runs `io`; may be destroyed, and given
// other ports, from inside `receive`.
class UdpControlChannel final : public ControlChannel {
 public:
  explicit UdpControlChannel(boost::asio::io_context& io, std::uint16_t udp_port = kDefaultControlPort);
  ~UdpControlChannel() override;

  // The ports from now on. Sockets of those that stay are kept.
  void update_ports(std::vector<PortFacts> ports);
  ControlCounters counters() const;

  // To a port that is none, both do nothing.
  void send_to_all(PortId port, std::span<const std::byte> bytes) override;
  void send(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) override;
  void listen(std::function<void(const ReceivedDatagram&)> receive) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_CONTROL_UDP_CONTROL_CHANNEL_H_
