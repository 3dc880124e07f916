#include "routing/topology/cable_quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "routing/topology/topology.h"

namespace cableway::routing {
namespace {

constexpr std::uint64_t kKilo = 1'000;
constexpr std::uint64_t kMega = 1'000'000;
constexpr std::uint64_t kGiga = 1'000'000'000;

struct Unit {
  std::string_view name;
  std::uint64_t worth;  // in Mbit/s, or in ns
};

constexpr Unit kRateUnits[] = {{"Mbit/s", 1}, {"Gbit/s", kKilo}, {"Tbit/s", kMega},
                               {"M", 1},      {"G", kKilo},      {"T", kMega}};
constexpr Unit kTimeUnits[] = {{"ns", 1}, {"us", kKilo}, {"ms", kMega}, {"s", kGiga}};

struct Spelled {
  std::string_view whole;
  std::string_view fraction;
  std::string_view unit;
};

// Digits, optionally a point and digits, optionally a space, and the rest.
std::optional<Spelled> take_apart(std::string_view text) {
  const auto take_digits = [&text] {
    std::size_t length = 0;
    while (length < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[length]))) ++length;
    const std::string_view digits = text.substr(0, length);
    text.remove_prefix(length);
    return digits;
  };
  Spelled spelled;
  spelled.whole = take_digits();
  if (spelled.whole.empty()) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    spelled.fraction = take_digits();
    if (spelled.fraction.empty()) return std::nullopt;
  }
  if (text.starts_with(' ')) text.remove_prefix(1);
  spelled.unit = text;
  return spelled;
}

std::optional<std::uint64_t> worth_of(std::string_view unit, std::span<const Unit> units) {
  const auto* const found =
      std::find_if(units.data(), units.data() + units.size(), [&](const Unit& known) { return known.name == unit; });
  if (found == units.data() + units.size()) return std::nullopt;
  return found->worth;
}

// Uses decimal arithmetic, so that no digit is rounded; nullopt if the result is not a whole number of the smallest
// unit. Nine digits before the point and six after it exceed every accepted bound and cannot overflow.
std::optional<std::uint64_t> in_smallest_units(const Spelled& spelled, std::uint64_t worth) {
  constexpr std::size_t kMaxWhole = 9;
  constexpr std::size_t kMaxFraction = 6;
  std::uint64_t whole = 0;
  if (spelled.whole.size() > kMaxWhole || spelled.fraction.size() > kMaxFraction) return std::nullopt;
  if (!absl::SimpleAtoi(absl::string_view(spelled.whole.data(), spelled.whole.size()), &whole)) return std::nullopt;
  std::uint64_t parts = 0;
  std::uint64_t of = 1;
  for (const char digit : spelled.fraction) {
    parts = parts * 10 + static_cast<std::uint64_t>(digit - '0');
    of *= 10;
  }
  if (parts * worth % of != 0) return std::nullopt;
  return whole * worth + parts * worth / of;
}

std::optional<std::uint64_t> amount_of(std::string_view text, std::span<const Unit> units) {
  const std::optional<Spelled> spelled = take_apart(text);
  if (!spelled) return std::nullopt;
  const std::optional<std::uint64_t> worth = worth_of(spelled->unit, units);
  if (!worth) return std::nullopt;
  return in_smallest_units(*spelled, *worth);
}

}  // namespace

absl::StatusOr<std::uint64_t> parse_rate_mbps(std::string_view text) {
  const std::optional<std::uint64_t> mbps = amount_of(text, kRateUnits);
  if (mbps && *mbps >= 1 && *mbps <= kMaxRateMbps) return *mbps;
  return absl::InvalidArgumentError(absl::StrCat(in_quotes(text), " is not the rate of a cable; expected 1Mbit/s to ",
                                                 kMaxRateMbps / kMega,
                                                 "Tbit/s in whole Mbit/s, such as 100Gbit/s or 100G"));
}

absl::StatusOr<double> parse_latency_us(std::string_view text) {
  const std::optional<std::uint64_t> ns = amount_of(text, kTimeUnits);
  if (ns && static_cast<double>(*ns) <= kMaxLatencyUs * kKilo) return static_cast<double>(*ns) / kKilo;
  return absl::InvalidArgumentError(absl::StrCat(
      in_quotes(text), " is not the latency of a cable; expected 0s to 1s in whole ns, such as 2us, 500ns or 1ms"));
}

absl::StatusOr<std::uint64_t> parse_time_ns(std::string_view text) {
  const std::optional<std::uint64_t> ns = amount_of(text, kTimeUnits);
  if (ns && *ns <= kMaxTimeS * kGiga) return *ns;
  return absl::InvalidArgumentError(
      absl::StrCat(in_quotes(text), " is not a time; expected 0s to ", kMaxTimeS, "s, such as 10ms, 1.5s or 300us"));
}

std::string number_text(double value) {
  std::array<char, 32> buffer;
  const std::to_chars_result result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};  // a double never needs more than 24 characters
}

bool has_unit_of_time(std::string_view text) {
  const std::optional<Spelled> spelled = take_apart(text);
  return spelled && worth_of(spelled->unit, kTimeUnits).has_value();
}

}  // namespace cableway::routing
