// The control channel over UDP. Each address of a port has its own socket, and each address family of a port has one
// more for multicast. So several nodes can share an interface, as on loopback, each with its own address.
#ifndef CABLEWAY_CORE_LINUX_CONTROL_UDP_CONTROL_CHANNEL_H_
#define CABLEWAY_CORE_LINUX_CONTROL_UDP_CONTROL_CHANNEL_H_

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/discovery/control_channel.h"
#include "core/discovery/control_counters.h"
#include "core/ports/port_inventory.h"

namespace cableway::host {

// Needs no privilege. Drops and counts datagrams that do not come from the other end of a cable: see control_socket.h.
// Wakes up only for datagrams and, while a socket could not be opened, to retry after 250 ms, doubling up to 8 s. Reads
// at most 64 datagrams of one socket before serving the others. Lives on the thread that runs `io`; may be destroyed,
// and given other ports, from inside `receive`.
class UdpControlChannel final : public ControlChannel {
 public:
  explicit UdpControlChannel(boost::asio::io_context& io, std::uint16_t udp_port = kDefaultControlPort);
  ~UdpControlChannel() override;

  // Replaces the set of ports. Sockets of ports that remain are kept.
  void update_ports(std::vector<PortFacts> ports);
  ControlCounters counters() const;

  // These do nothing for an unknown port.
  void send_to_all(PortId port, std::span<const std::byte> bytes) override;
  void send_to_family(PortId port, bool is_ipv6, std::span<const std::byte> bytes) override;
  void send(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) override;
  void listen(std::function<void(const ReceivedDatagram&)> receive) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_CONTROL_UDP_CONTROL_CHANNEL_H_
