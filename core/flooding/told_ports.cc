#include "core/flooding/told_ports.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flooding/link_segment.h"
#include "core/wire.h"

namespace cableway {

static_assert((2 + kMaxToldPorts) * sizeof(std::uint16_t) <= kMaxLinkMessageBytes);

std::vector<std::byte> encode_told_ports(const AnnouncedPorts& ports) {
  std::vector<std::byte> bytes;
  WireWriter writer(bytes);
  writer.put(ports.relay);
  writer.put(static_cast<std::uint16_t>(ports.processes.size()));
  for (const std::uint16_t port : ports.processes) writer.put(port);
  return bytes;
}

absl::StatusOr<AnnouncedPorts> decode_told_ports(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  AnnouncedPorts ports;
  ports.relay = reader.get<std::uint16_t>();
  const std::size_t number = reader.get<std::uint16_t>();
  if (number > kMaxToldPorts) {
    return absl::InvalidArgumentError(absl::StrCat("announced ports: ", number, " of them, at most ", kMaxToldPorts));
  }
  TcpPorts& processes = ports.processes;
  processes.reserve(number);
  for (std::size_t i = 0; i < number && reader.ok(); ++i) processes.push_back(reader.get<std::uint16_t>());
  if (!reader.finished()) return absl::InvalidArgumentError("announced ports: bad length");
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  if (!processes.empty() && processes.front() == 0) return absl::InvalidArgumentError("announced ports: port 0");
  return ports;
}

void ToldPorts::begin(const NeighbourKey& key) {
  Told& told = told_[key];
  told.relay.reset();
  told.ended.reset();
}

void ToldPorts::end(const NeighbourKey& key, const std::string& cable, Instant now) {
  const auto told = told_.find(key);
  if (told == told_.end()) return;
  told->second.ended = Ended{cable, now};
  drop_ended(key.port, kMaxEndedOfPort);
  drop_ended(std::nullopt, kMaxEnded);
}

// Of one port of this node, or of all.
void ToldPorts::drop_ended(std::optional<PortId> of_port, std::size_t most) {
  std::size_t count = 0;
  auto first = told_.end();
  for (auto each = told_.begin(); each != told_.end(); ++each) {
    const std::optional<Ended>& ended = each->second.ended;
    if (!ended.has_value() || (of_port.has_value() && each->first.port != *of_port)) continue;
    ++count;
    if (first == told_.end() || ended->since < first->second.ended->since) first = each;
  }
  if (count > most) told_.erase(first);
}

// In the order of n log n, whatever the neighbour announces.
void ToldPorts::take(const NeighbourKey& key, const AnnouncedPorts& announced, Instant now) {
  Told& told = told_[key];
  std::erase_if(told.former, [&](const Former& each) {
    return each.expires <= now || std::binary_search(announced.processes.begin(), announced.processes.end(), each.port);
  });
  TcpPorts gone;
  std::set_difference(told.processes.begin(), told.processes.end(), announced.processes.begin(),
                      announced.processes.end(), std::back_inserter(gone));
  for (const std::uint16_t port : gone) told.former.push_back({port, now + kFormer});
  if (told.former.size() > kMaxFormer) {
    const auto dropped = static_cast<std::ptrdiff_t>(told.former.size() - kMaxFormer);
    told.former.erase(told.former.begin(), told.former.begin() + dropped);
  }
  told.relay = announced.relay;
  told.processes = announced.processes;
}

bool ToldPorts::has_process(const NeighbourKey& key, std::uint16_t port, Instant now) const {
  const auto told = told_.find(key);
  if (told == told_.end()) return false;
  const auto& [relay, processes, former, ended] = told->second;
  return std::binary_search(processes.begin(), processes.end(), port) ||
         std::any_of(former.begin(), former.end(),
                     [&](const Former& each) { return each.port == port && now < each.expires; });
}

std::optional<std::uint16_t> ToldPorts::relay_of(const NeighbourKey& key) const {
  const auto told = told_.find(key);
  return told == told_.end() ? std::nullopt : told->second.relay;
}

std::optional<NeighbourKey> ToldPorts::ended(routing::NodeId node, const std::string& cable) const {
  auto last = told_.end();
  for (auto each = told_.begin(); each != told_.end(); ++each) {
    const std::optional<Ended>& ended = each->second.ended;
    if (!ended.has_value() || each->first.node != node || ended->cable != cable) continue;
    if (last == told_.end() || last->second.ended->since < ended->since) last = each;
  }
  return last == told_.end() ? std::nullopt : std::optional(last->first);
}

}  // namespace cableway
