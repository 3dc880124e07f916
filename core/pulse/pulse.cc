#include "core/pulse/pulse.h"

#include "core/wire.h"

namespace cableway {
namespace {

constexpr std::uint8_t kHearsNothing = 1;
constexpr std::uint8_t kHearsNothingLarge = 2;
constexpr std::uint8_t kLarge = 4;

std::uint8_t says(const Pulse& pulse) {
  return static_cast<std::uint8_t>((pulse.hears ? 0 : kHearsNothing) | (pulse.hears_large ? 0 : kHearsNothingLarge) |
                                   (pulse.large ? kLarge : 0));
}

}  // namespace

void encode_pulse(const Pulse& pulse, const DatagramSeal& seal, std::vector<std::byte>& out) {
  out.clear();
  WireWriter writer(out);
  writer.put(kPulseMagic);
  writer.put(kPulseVersion);
  writer.put(says(pulse));
  writer.put(pulse.from.port);
  writer.put(pulse.to.port);
  writer.put(pulse.from.node.value);
  writer.put(pulse.to.node.value);
  writer.put(pulse.boot_nonce);
  writer.put(pulse.counter);
  writer.put(pulse.interval_ms);
  writer.put(pulse.late_ms);
  const SealBytes sealed = seal.seal(out);
  writer.put_bytes(sealed);
}

std::optional<Pulse> decode_pulse(std::span<const std::byte> bytes) {
  if (bytes.size() != kPulseBytes) return std::nullopt;
  WireReader reader(bytes.first(kPulseBytes - kSealBytes));
  if (reader.get<std::uint16_t>() != kPulseMagic || reader.get<std::uint8_t>() != kPulseVersion) return std::nullopt;
  const auto said = reader.get<std::uint8_t>();
  Pulse pulse;
  pulse.hears = (said & kHearsNothing) == 0;
  pulse.hears_large = (said & kHearsNothingLarge) == 0;
  pulse.large = (said & kLarge) != 0;
  pulse.from.port = reader.get<std::uint32_t>();
  pulse.to.port = reader.get<std::uint32_t>();
  pulse.from.node.value = reader.get<std::uint64_t>();
  pulse.to.node.value = reader.get<std::uint64_t>();
  pulse.boot_nonce = reader.get<std::uint64_t>();
  pulse.counter = reader.get<std::uint64_t>();
  pulse.interval_ms = reader.get<std::uint16_t>();
  pulse.late_ms = reader.get<std::uint16_t>();
  if (!reader.finished() || said != says(pulse) || pulse.counter == 0) return std::nullopt;
  if (pulse.interval_ms == 0 || pulse.interval_ms > kMaxPulseIntervalMs) return std::nullopt;
  return pulse;
}

bool is_pulse_sealed(std::span<const std::byte> bytes, const DatagramSeal& seal) {
  return seal.matches(bytes.first(kPulseBytes - kSealBytes), bytes.last<kSealBytes>());
}

}  // namespace cableway
