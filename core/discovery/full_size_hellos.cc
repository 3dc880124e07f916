#include "core/discovery/full_size_hellos.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "core/discovery/control_channel.h"

namespace cableway {
namespace {

constexpr std::size_t kIpv4HeaderBytes = 28;  // with UDP's; hellos have no options
constexpr std::size_t kIpv6HeaderBytes = 48;

std::size_t header_bytes(bool is_ipv6) {
  return is_ipv6 ? kIpv6HeaderBytes : kIpv4HeaderBytes;
}

}  // namespace

std::size_t full_size_bytes(std::uint32_t mtu, bool is_ipv6) {
  const std::size_t header = header_bytes(is_ipv6);
  return std::min(std::max<std::size_t>(mtu, header) - header, kMaxDatagramBytes);
}

bool FullSizeHellos::hear(const NeighbourKey& key, const PortHello& hello, std::size_t bytes, bool is_ipv6,
                          Instant now) {
  Heard& heard = heard_[key];
  // What has passed at one MTU says nothing about a larger one.
  if (heard.mtu != hello.mtu) heard = Heard{.mtu = hello.mtu, .since = now, .there = heard.there};
  heard.hold = std::chrono::milliseconds(hello.hold_ms);
  if (bytes < full_size_bytes(hello.mtu, is_ipv6)) return false;
  const bool is_news = arrivals(key, now) != FullSize::kArrives;
  heard.arrived = true;
  heard.since = now;
  heard.hold_extension = Duration(0);
  return is_news;
}

void FullSizeHellos::keep_ports(const std::vector<PortFacts>& ports) {
  std::erase_if(hellos_, [&](const auto& counted) {
    return std::none_of(ports.begin(), ports.end(), [&](const PortFacts& port) { return port.id == counted.first; });
  });
}

void FullSizeHellos::extend_holds(Duration stall) {
  for (auto& [key, heard] : heard_) heard.hold_extension += stall;
}

FullSize FullSizeHellos::arrivals(const NeighbourKey& key, Instant now) const {
  const auto heard = heard_.find(key);
  if (heard == heard_.end()) return FullSize::kAwaited;
  const Heard& known = heard->second;
  if (now - known.since >= known.hold * kFullSizeEvery + known.hold_extension) return FullSize::kLost;
  return known.arrived ? FullSize::kArrives : FullSize::kAwaited;
}

bool FullSizeHellos::pass(const NeighbourKey& key, Instant now) const {
  const auto heard = heard_.find(key);
  return heard != heard_.end() && heard->second.there == FullSize::kArrives && arrivals(key, now) == FullSize::kArrives;
}

LargePacketLoss FullSizeHellos::loss(const NeighbourKey& key, Instant now) const {
  const auto heard = heard_.find(key);
  if (heard == heard_.end()) return {};
  return {.from = arrivals(key, now) == FullSize::kLost, .to = heard->second.there == FullSize::kLost};
}

std::string explain_loss(const PortFacts& port, const Neighbour& neighbour, const LargePacketLoss& loss) {
  const std::string here = absl::StrCat("port ", port.interface);
  const std::string there = absl::StrCat("port ", neighbour.interface, " of node ", neighbour.name);
  const bool is_ipv6 = !port.addresses.empty() && port.addresses.front().address.is_ipv6;
  const std::string lost = loss.from && loss.to
                               ? absl::StrCat("between ", here, " and ", there, " arrive at neither end")
                           : loss.from ? absl::StrCat("from ", there, " do not arrive on ", here)
                                       : absl::StrCat("from ", here, " do not arrive on ", there);
  return absl::StrCat("large packets are lost: hellos of ", full_size_bytes(port.mtu, is_ipv6) + header_bytes(is_ipv6),
                      " bytes ", lost, ", small ones do: check the MTU at both ends (", port.mtu,
                      " here) and that a switch in between passes such frames");
}

}  // namespace cableway
