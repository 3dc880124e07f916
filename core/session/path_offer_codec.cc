#include "core/session/path_offer_codec.h"

#include <cstddef>
#include <cstdint>

namespace cableway {

void put_path_offer(WireWriter& writer, const PathOffer& path) {
  writer.put(static_cast<std::uint8_t>(path.kind));
  writer.put(static_cast<std::uint8_t>(path.may_stripe));
  writer.put(static_cast<std::uint8_t>(path.equals_first));
  writer.put(static_cast<std::uint8_t>(path.last_resort));
  writer.put(static_cast<std::uint16_t>(path.hops.size()));
  for (const Hop& hop : path.hops) put_hop(writer, hop);
}

PathOffer get_path_offer(WireReader& reader) {
  const auto kind = reader.get<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(PathKind::kAlternate)) reader.reject();
  PathOffer offer{static_cast<PathKind>(kind), reader.get_flag(), {}, reader.get_flag(), reader.get_flag()};
  const std::size_t hops = reader.get<std::uint16_t>();
  if (hops == 0 || hops > kMaxHops) reader.reject();
  for (std::size_t i = 0; i < hops && reader.ok(); ++i) offer.hops.push_back(get_hop(reader));
  return offer;
}

}  // namespace cableway
