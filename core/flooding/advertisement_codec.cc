#include "core/flooding/advertisement_codec.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/discovery/port_address_wire.h"
#include "core/wire.h"
#include "routing/text/node_name.h"
#include "routing/topology/port_address.h"
#include "routing/topology/topology_check.h"

namespace cableway {
namespace {

absl::Status bad_advertisement(const char* field) {
  return absl::InvalidArgumentError(absl::StrCat("advertisement: bad ", field));
}

routing::AdvertisedPort get_port(WireReader& reader) {
  routing::AdvertisedPort port;
  port.id = reader.get<std::uint32_t>();
  port.interface = reader.get_printable(routing::kMaxInterfaceNameBytes);
  port.plug = reader.get_printable(routing::kMaxPlugLength);
  port.root = reader.get_printable(routing::kMaxPlugLength);
  port.rate_mbps = reader.get<std::uint64_t>();
  port.link_mbps = reader.get<std::uint64_t>();
  port.root_mbps = reader.get<std::uint64_t>();
  const bool valid_rates =
      port.rate_mbps >= 1 && std::max({port.rate_mbps, port.link_mbps, port.root_mbps}) <= routing::kMaxRateMbps;
  const bool valid_parts = routing::is_valid_part_name(port.plug) && routing::is_valid_part_name(port.root);
  if (port.id == 0 || !valid_rates || !valid_parts || !routing::is_valid_interface_name(port.interface)) {
    reader.reject();
  }
  return port;
}

// Whether there is one, then the address.
void put_optional_address(WireWriter& writer, const std::optional<routing::PortAddress>& address) {
  writer.put(static_cast<std::uint8_t>(address.has_value()));
  if (address.has_value()) put_port_address(writer, *address);
}

std::optional<routing::PortAddress> get_optional_address(WireReader& reader) {
  if (!reader.get_flag()) return std::nullopt;
  return get_port_address(reader);
}

routing::AdvertisedAdjacency get_adjacency(WireReader& reader) {
  routing::AdvertisedAdjacency adjacency;
  adjacency.port = reader.get<std::uint32_t>();
  adjacency.neighbour.value = reader.get<std::uint64_t>();
  adjacency.neighbour_port = reader.get<std::uint32_t>();
  adjacency.address = get_port_address(reader);
  adjacency.neighbour_address = get_optional_address(reader);
  adjacency.latency_ns = reader.get<std::uint32_t>();
  adjacency.draining = reader.get_flag();
  adjacency.loss_percent = reader.get<std::uint8_t>();
  if (adjacency.loss_percent > routing::kMaxLossPercent) reader.reject();
  return adjacency;
}

// Requires canonical (strictly ascending) order, so that equal lists have equal encodings.
template <typename Item, typename Get, typename Less>
void get_list(WireReader& reader, std::size_t limit, std::vector<Item>& items, Get get, Less less) {
  const std::size_t count = reader.get<std::uint16_t>();
  if (count > limit) return reader.reject();
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    items.push_back(get(reader));
    if (i > 0 && !less(items[i - 1], items[i])) reader.reject();
  }
}

bool port_less(const routing::AdvertisedPort& a, const routing::AdvertisedPort& b) {
  return a.id < b.id;
}

bool adjacency_less(const routing::AdvertisedAdjacency& a, const routing::AdvertisedAdjacency& b) {
  return std::tuple(a.port, a.neighbour, a.neighbour_port) < std::tuple(b.port, b.neighbour, b.neighbour_port);
}

}  // namespace

std::vector<std::byte> encode_advertisement(const FloodedAdvertisement& flooded) {
  const routing::Advertisement& advertisement = flooded.advertisement;
  std::vector<std::byte> bytes;
  WireWriter writer(bytes);
  writer.put(static_cast<std::uint32_t>(flooded.age.count()));
  writer.put(advertisement.origin.value);
  writer.put(advertisement.version.boot_nonce);
  writer.put(advertisement.version.sequence);
  writer.put_text(advertisement.name);
  writer.put(advertisement.relay_port);
  writer.put(static_cast<std::uint8_t>(advertisement.draining));
  writer.put(static_cast<std::uint16_t>(advertisement.ports.size()));
  for (const routing::AdvertisedPort& port : advertisement.ports) {
    writer.put(port.id);
    writer.put_text(port.interface);
    writer.put_text(port.plug);
    writer.put_text(port.root);
    writer.put(port.rate_mbps);
    writer.put(port.link_mbps);
    writer.put(port.root_mbps);
  }
  writer.put(static_cast<std::uint16_t>(advertisement.adjacencies.size()));
  for (const routing::AdvertisedAdjacency& adjacency : advertisement.adjacencies) {
    writer.put(adjacency.port);
    writer.put(adjacency.neighbour.value);
    writer.put(adjacency.neighbour_port);
    put_port_address(writer, adjacency.address);
    put_optional_address(writer, adjacency.neighbour_address);
    writer.put(adjacency.latency_ns);
    writer.put(static_cast<std::uint8_t>(adjacency.draining));
    writer.put(adjacency.loss_percent);
  }
  return bytes;
}

absl::StatusOr<FloodedAdvertisement> decode_advertisement(std::span<const std::byte> bytes,
                                                          const std::string& cluster) {
  WireReader reader(bytes);
  FloodedAdvertisement flooded;
  routing::Advertisement& advertisement = flooded.advertisement;
  flooded.age = std::chrono::milliseconds(reader.get<std::uint32_t>());
  advertisement.origin.value = reader.get<std::uint64_t>();
  advertisement.version.boot_nonce = reader.get<std::uint64_t>();
  advertisement.version.sequence = reader.get<std::uint64_t>();
  advertisement.name = reader.get_printable(routing::kMaxNodeNameBytes);
  advertisement.relay_port = reader.get<std::uint16_t>();
  advertisement.draining = reader.get<std::uint8_t>() != 0;
  if (!reader.ok()) return bad_advertisement("length");
  get_list(reader, routing::kMaxAdvertisedPorts, advertisement.ports, get_port, port_less);
  if (!reader.ok()) return bad_advertisement("list of ports");
  get_list(reader, routing::kMaxAdvertisedAdjacencies, advertisement.adjacencies, get_adjacency, adjacency_less);
  if (!reader.finished()) return bad_advertisement("list of adjacencies");
  if (!routing::is_valid_name(advertisement.name, routing::kMaxNodeNameBytes)) return bad_advertisement("node name");
  if (routing::node_id(cluster, advertisement.name) != advertisement.origin) return bad_advertisement("origin");
  if (advertisement.relay_port == 0) return bad_advertisement("relay port");
  const routing::AdvertisementVersion& version = advertisement.version;
  // The greatest nonce has no successor: the origin could never supersede a forged advertisement.
  if (version.boot_nonce == std::numeric_limits<std::uint64_t>::max()) return bad_advertisement("version");
  if (version.sequence == 0 || version.sequence > routing::kMaxSequence) return bad_advertisement("version");
  return flooded;
}

}  // namespace cableway
