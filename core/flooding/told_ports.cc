#include "core/flooding/told_ports.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flooding/link_segment.h"
#include "core/wire.h"

namespace cableway {

static_assert(2 + kMaxToldPorts * sizeof(std::uint16_t) <= kMaxLinkMessageBytes);

std::vector<std::byte> encode_told_ports(const TcpPorts& ports) {
  std::vector<std::byte> bytes;
  WireWriter writer(bytes);
  writer.put(static_cast<std::uint16_t>(ports.size()));
  for (const std::uint16_t port : ports) writer.put(port);
  return bytes;
}

absl::StatusOr<TcpPorts> decode_told_ports(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  const std::size_t number = reader.get<std::uint16_t>();
  if (number > kMaxToldPorts) {
    return absl::InvalidArgumentError(absl::StrCat("announced ports: ", number, " of them, at most ", kMaxToldPorts));
  }
  TcpPorts ports;
  for (std::size_t i = 0; i < number && reader.ok(); ++i) ports.insert(reader.get<std::uint16_t>());
  if (!reader.finished()) return absl::InvalidArgumentError("announced ports: bad length");
  if (ports.contains(0)) return absl::InvalidArgumentError("announced ports: port 0");
  return ports;
}

void ToldPorts::take(routing::NodeId node, const TcpPorts& ports, Instant now,
                     const std::function<bool(routing::NodeId)>& is_neighbour) {
  if (!nodes_.contains(node)) {
    std::size_t gone = 0;
    auto first = nodes_.end();
    for (auto each = nodes_.begin(); each != nodes_.end(); ++each) {
      if (is_neighbour(each->first)) continue;
      if (gone++ == 0) first = each;
    }
    if (gone >= kMaxNodes) nodes_.erase(first);
  }
  Of& of = nodes_[node];
  for (auto& [port, expires] : of) {
    if (!ports.contains(port) && !expires.has_value()) expires = now + kFormer;
  }
  for (const std::uint16_t port : ports) of[port].reset();
  drop_former(of, now);
}

void ToldPorts::drop_former(Of& of, Instant now) {
  std::erase_if(of, [&](const auto& each) { return each.second.has_value() && *each.second <= now; });
  const auto is_former = [](const auto& each) { return each.second.has_value(); };
  for (auto former = std::count_if(of.begin(), of.end(), is_former); former > std::ptrdiff_t{kMaxFormer}; --former) {
    of.erase(std::min_element(of.begin(), of.end(), [](const auto& left, const auto& right) {
      return left.second.has_value() && (!right.second.has_value() || *left.second < *right.second);
    }));
  }
}

bool ToldPorts::has(routing::NodeId node, std::uint16_t port, Instant now) const {
  const auto of = nodes_.find(node);
  if (of == nodes_.end()) return false;
  const auto told = of->second.find(port);
  return told != of->second.end() && (!told->second.has_value() || now < *told->second);
}

}  // namespace cableway
