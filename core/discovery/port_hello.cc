#include "core/discovery/port_hello.h"

#include <algorithm>
#include <cstring>

#include "core/discovery/port_address_wire.h"
#include "core/wire.h"
#include "routing/text/node_name.h"
#include "routing/topology/port_address.h"

namespace cableway {
namespace {

constexpr std::uint32_t kMaxHoldMs = 120'000;  // as that of the setting hold_ms

absl::Status bad_hello(const char* field) {
  return absl::InvalidArgumentError(std::string("hello: bad ") + field);
}

void get_addresses(WireReader& reader, std::vector<HelloAddress>& addresses) {
  const std::size_t count = reader.get<std::uint8_t>();
  if (count > kMaxHelloAddresses) return reader.reject();
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    HelloAddress address;
    PortPrefix& prefix = address.prefix;
    prefix.address = get_port_address(reader);
    prefix.prefix_length = reader.get<std::uint8_t>();
    address.shared = reader.get<std::uint8_t>() != 0;
    if (prefix.prefix_length > (prefix.address.is_ipv6 ? 128 : 32)) reader.reject();
    addresses.push_back(std::move(address));
  }
}

void get_heard(WireReader& reader, std::vector<HeardNeighbour>& heard) {
  const std::size_t count = reader.get<std::uint8_t>();
  if (count > kMaxHeard) return reader.reject();
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    HeardNeighbour neighbour;
    neighbour.node.value = reader.get<std::uint64_t>();
    neighbour.port = reader.get<std::uint32_t>();
    neighbour.boot_nonce = reader.get<std::uint64_t>();
    neighbour.your_adjacency = reader.get<std::uint64_t>();
    neighbour.my_adjacency = reader.get<std::uint64_t>();
    neighbour.uses = reader.get_flag();
    neighbour.echo.sent_ns = reader.get<std::uint64_t>();
    neighbour.echo.held_ns = reader.get<std::uint64_t>();
    const auto full_size = reader.get<std::uint8_t>();
    if (full_size > static_cast<std::uint8_t>(FullSize::kLost)) reader.reject();
    neighbour.full_size = static_cast<FullSize>(full_size);
    heard.push_back(neighbour);
  }
}

// The rest of the input has to be as many zeros as stated, so that a hello carries nothing that is not read.
bool is_padding(WireReader& reader, std::span<const std::byte> body) {
  const std::size_t bytes = reader.get<std::uint16_t>();
  const std::span<const std::byte> padding = body.last(reader.left());
  return reader.ok() && padding.size() == bytes &&
         (padding.empty() || (padding.front() == std::byte{0} &&
                              std::memcmp(padding.data(), padding.data() + 1, padding.size() - 1) == 0));
}

}  // namespace

const HeardNeighbour* find_heard(const PortHello& hello, const HeardEnd& end) {
  const auto found = std::find_if(hello.heard.begin(), hello.heard.end(), [&](const HeardNeighbour& heard) {
    return heard.node == end.node && heard.port == end.port && heard.boot_nonce == end.boot_nonce;
  });
  return found == hello.heard.end() ? nullptr : &*found;
}

std::vector<std::byte> encode_port_hello(const PortHello& hello, std::size_t least_bytes) {
  std::vector<std::byte> body;
  body.reserve(least_bytes);
  WireWriter writer(body);
  writer.put_text(hello.node);
  writer.put_text(hello.interface);
  writer.put(hello.mtu);
  writer.put(hello.hold_ms);
  writer.put(static_cast<std::uint8_t>(hello.leaving));
  writer.put(hello.sent_ns);
  writer.put(static_cast<std::uint8_t>(hello.addresses.size()));
  for (const HelloAddress& address : hello.addresses) {
    put_port_address(writer, address.prefix.address);
    writer.put(address.prefix.prefix_length);
    writer.put(static_cast<std::uint8_t>(address.shared));
  }
  writer.put(static_cast<std::uint8_t>(hello.heard.size()));
  for (const HeardNeighbour& neighbour : hello.heard) {
    writer.put(neighbour.node.value);
    writer.put(neighbour.port);
    writer.put(neighbour.boot_nonce);
    writer.put(neighbour.your_adjacency);
    writer.put(neighbour.my_adjacency);
    writer.put(static_cast<std::uint8_t>(neighbour.uses));
    writer.put(neighbour.echo.sent_ns);
    writer.put(neighbour.echo.held_ns);
    writer.put(static_cast<std::uint8_t>(neighbour.full_size));
  }
  const std::size_t bytes = std::max(least_bytes, body.size() + sizeof(std::uint16_t));
  writer.put(static_cast<std::uint16_t>(bytes - body.size() - sizeof(std::uint16_t)));
  body.resize(bytes);
  return body;
}

absl::StatusOr<PortHello> decode_port_hello(std::span<const std::byte> body) {
  WireReader reader(body);
  PortHello hello;
  hello.node = reader.get_printable(routing::kMaxNodeNameBytes);
  hello.interface = reader.get_printable(routing::kMaxInterfaceNameBytes);
  hello.mtu = reader.get<std::uint32_t>();
  hello.hold_ms = reader.get<std::uint32_t>();
  hello.leaving = reader.get<std::uint8_t>() != 0;
  hello.sent_ns = reader.get<std::uint64_t>();
  if (!reader.ok()) return bad_hello("length");
  get_addresses(reader, hello.addresses);
  if (!reader.ok()) return bad_hello("addresses");
  get_heard(reader, hello.heard);
  if (!reader.ok()) return bad_hello("list of heard neighbours");
  if (!is_padding(reader, body)) return bad_hello("padding");
  if (!routing::is_valid_name(hello.node, routing::kMaxNodeNameBytes)) return bad_hello("node name");
  if (!routing::is_valid_interface_name(hello.interface)) return bad_hello("interface name");
  if (hello.hold_ms == 0 || hello.hold_ms > kMaxHoldMs) return bad_hello("hold time");
  return hello;
}

}  // namespace cableway
