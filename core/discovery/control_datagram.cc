#include "core/discovery/control_datagram.h"

#include "core/wire.h"

namespace cableway {

std::vector<std::byte> encode_control_datagram(const ControlDatagram& datagram, const DatagramSeal& seal) {
  std::vector<std::byte> bytes;
  bytes.reserve(kControlEnvelopeBytes + datagram.body.size());
  WireWriter writer(bytes);
  writer.put(kControlMagic);
  writer.put(kControlVersion);
  writer.put(static_cast<std::uint8_t>(datagram.kind));
  writer.put(datagram.cluster);
  writer.put(datagram.sender.value);
  writer.put(datagram.boot_nonce);
  writer.put(datagram.counter);
  writer.put(datagram.port);
  writer.put_bytes(datagram.body);
  const SealBytes sealed = seal.seal(bytes);
  writer.put_bytes(sealed);
  return bytes;
}

ControlFault decode_control_datagram(std::span<const std::byte> bytes, std::uint64_t cluster, const DatagramSeal& seal,
                                     ControlDatagram& datagram) {
  if (bytes.size() < kControlEnvelopeBytes) return ControlFault::kGarbage;
  const std::span<const std::byte> sealed = bytes.first(bytes.size() - kSealBytes);
  WireReader reader(sealed);
  if (reader.get<std::uint16_t>() != kControlMagic) return ControlFault::kGarbage;
  if (reader.get<std::uint8_t>() != kControlVersion) return ControlFault::kVersion;
  const auto kind = reader.get<std::uint8_t>();
  datagram.cluster = reader.get<std::uint64_t>();
  datagram.sender.value = reader.get<std::uint64_t>();
  datagram.boot_nonce = reader.get<std::uint64_t>();
  datagram.counter = reader.get<std::uint64_t>();
  datagram.port = reader.get<std::uint32_t>();
  datagram.body = sealed.subspan(kControlHeaderBytes);
  if (datagram.cluster != cluster) return ControlFault::kCluster;
  if (!seal.matches(sealed, bytes.last<kSealBytes>())) return ControlFault::kSeal;
  if (datagram.port == 0 || datagram.counter == 0) return ControlFault::kGarbage;
  if (kind != static_cast<std::uint8_t>(ControlKind::kHello) &&
      kind != static_cast<std::uint8_t>(ControlKind::kSegment)) {
    return ControlFault::kGarbage;
  }
  datagram.kind = static_cast<ControlKind>(kind);
  return ControlFault::kNone;
}

}  // namespace cableway
