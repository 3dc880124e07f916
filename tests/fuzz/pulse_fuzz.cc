// Feeds bytes to the decoder of pulses, and to the judgement of a cable that they claim to be for.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/pulse/pulses.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

namespace {

using namespace cableway;
using std::chrono::milliseconds;

constexpr std::size_t kLargeBytes = 1472;

class Judge final : public Pulses::Host {
 public:
  bool send(const PulsedCable& /*cable*/, std::span<const std::byte> bytes) override {
    require(bytes.size() == kPulseBytes || bytes.size() == kLargeBytes, "a pulse of another size was sent");
    return true;
  }
  void loss(const PulsedCable& /*cable*/, unsigned /*percent*/) override {
    require(false, "one pulse says nothing about loss");
  }
  bool look_for_signs(const PulsedCable& /*cable*/) override { return false; }
  void verdict(const PulsedCable& /*cable*/, const CableVerdict& verdict) override {
    require(!verdict.reason.empty() && verdict.reason.size() < 256, "a verdict without a reason");
    ++verdicts;
  }
  std::size_t verdicts = 0;
};

// Judges the cable that the pulse claims to be from.
void judge(const Pulse& pulse, std::span<const std::byte> bytes) {
  PulsedCable cable;
  cable.name = "c0";
  cable.neighbour = "n1";
  cable.own = pulse.to;
  cable.other = pulse.from;
  cable.other_boot_nonce = pulse.boot_nonce;
  cable.large_bytes = kLargeBytes;
  const NoSeal seal;
  Judge host;
  Pulses pulses(milliseconds(10), seal, host);
  Instant now{std::chrono::hours(1)};
  pulses.set_cables({cable}, now);
  pulses.receive(cable.name, bytes, pulse.large ? kLargeBytes : bytes.size(), now);
  for (int i = 0; i < 200; ++i) {
    now = pulses.next();
    pulses.tick(now);
  }
  require(host.verdicts <= 1, "one pulse caused more than one verdict");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const NoSeal seal;
  const std::optional<Pulse> pulse = decode_pulse(bytes);
  if (!pulse.has_value()) return 0;
  std::vector<std::byte> again;
  encode_pulse(*pulse, seal, again);
  if (!is_pulse_sealed(bytes, seal)) return 0;
  require(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()), "a pulse does not survive a round trip");
  judge(*pulse, bytes);
  return 0;
}
