// The TCP ports at which the processes of a node accept circuits, as the node tells its direct neighbours over their
// adjacency (message kind 2, docs/protocol.md). A relay connects to no other TCP port of a neighbour, except that of
// its relay. Why: docs/decisions/0028.
//
// One thread at a time.
#ifndef CABLEWAY_CORE_FLOODING_TOLD_PORTS_H_
#define CABLEWAY_CORE_FLOODING_TOLD_PORTS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "routing/link_state/advertisement.h"

namespace cableway {

using TcpPorts = std::set<std::uint16_t>;

// As many as a node has sessions.
inline constexpr std::size_t kMaxToldPorts = 1024;

// The whole list of a node. Requires at most kMaxToldPorts.
std::vector<std::byte> encode_told_ports(const TcpPorts& ports);
// InvalidArgument names the fault.
absl::StatusOr<TcpPorts> decode_told_ports(std::span<const std::byte> bytes);

// The ports that neighbours have announced.
class ToldPorts {
 public:
  // A port that is no longer announced still counts for this time: its process may have lost the session with its node
  // for a moment, and if it has ended, its host's answer is what tells the flow's source.
  static constexpr std::chrono::minutes kFormer{1};
  static constexpr std::size_t kMaxFormer = kMaxToldPorts;  // of one node; more: the first to expire are dropped
  // Former neighbours whose lists are kept, in addition to current neighbours; one more replaces an arbitrary one of
  // them. They count for set-ups that are under way.
  static constexpr std::size_t kMaxNodes = 32;

  // The node has announced its list; it replaces the last one. `is_neighbour`: whether a cable to that node is up.
  void take(routing::NodeId node, const TcpPorts& ports, Instant now,
            const std::function<bool(routing::NodeId)>& is_neighbour);
  // Of a node that is no neighbour any more, its last list counts.
  bool has(routing::NodeId node, std::uint16_t port, Instant now) const;

 private:
  using Of = std::map<std::uint16_t, std::optional<Instant>>;  // when a former one expires

  static void drop_former(Of& of, Instant now);

  std::map<routing::NodeId, Of> nodes_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_TOLD_PORTS_H_
