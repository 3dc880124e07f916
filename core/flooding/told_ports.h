// The TCP ports at which a node accepts circuits, its relay's and those of its processes, as it tells its direct
// neighbours over each adjacency (message kind 2, docs/protocol.md). A relay connects to no other TCP port of a
// neighbour. Why: docs/decisions/0028.
//
// One thread at a time.
#ifndef CABLEWAY_CORE_FLOODING_TOLD_PORTS_H_
#define CABLEWAY_CORE_FLOODING_TOLD_PORTS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "core/discovery/neighbour.h"

namespace cableway {

using TcpPorts = std::vector<std::uint16_t>;  // ascending, each once

// As many as a node has sessions.
inline constexpr std::size_t kMaxToldPorts = 1024;
// How often one list may follow another over an adjacency, and how many at once, as the processes of a job start
// together. The sender keeps to it; of lists beyond it the receiver takes the newest only.
inline constexpr std::chrono::milliseconds kTellPortsEvery{100};
inline constexpr int kTellPortsAtOnce = 8;

// What a node announces: always all of it.
struct AnnouncedPorts {
  std::uint16_t relay = 0;  // where it accepts circuits to relay; 0: it relays none
  TcpPorts processes;       // at most kMaxToldPorts
  friend bool operator==(const AnnouncedPorts&, const AnnouncedPorts&) = default;
};

std::vector<std::byte> encode_told_ports(const AnnouncedPorts& ports);
// InvalidArgument names the fault.
absl::StatusOr<AnnouncedPorts> decode_told_ports(std::span<const std::byte> bytes);

// The ports that neighbours have announced, by adjacency: what one party announces counts for its own cable only, also
// if it has the name of another one's neighbour.
class ToldPorts {
 public:
  // A process's port that is no longer announced still counts for this time: its process may have lost the session with
  // its node for a moment, and if it has ended, its host's answer is what tells the flow's source.
  static constexpr std::chrono::minutes kFormer{1};
  static constexpr std::size_t kMaxFormer = kMaxToldPorts;  // of one adjacency; more: the first to expire are dropped
  // Of adjacencies that have ended, what was told last counts, for set-ups that are under way and for inquiries over
  // former cables. So many are kept, of each port of this node and in all; those that ended first are dropped.
  static constexpr std::size_t kMaxEndedOfPort = 32;
  static constexpr std::size_t kMaxEnded = 128;

  // The adjacency is up. If it was before, the processes' ports of then count until the first list arrives, as they
  // outlive their node; its relay's does not.
  void begin(const NeighbourKey& key);
  // It has ended, and was the cable of this name. Nothing happens without begin().
  void end(const NeighbourKey& key, const std::string& cable, Instant now);
  // The neighbour has announced its ports over the adjacency, which is up; they replace the last ones.
  void take(const NeighbourKey& key, const AnnouncedPorts& announced, Instant now);

  // Whether a process of the neighbour accepts circuits at that port.
  bool has_process(const NeighbourKey& key, std::uint16_t port, Instant now) const;
  // nullopt: the neighbour has not announced its ports yet since the adjacency came up.
  std::optional<std::uint16_t> relay_of(const NeighbourKey& key) const;
  // Of the adjacencies to the node that have ended, the last one that was the cable of this name. nullopt: none is
  // kept.
  std::optional<NeighbourKey> ended(routing::NodeId node, const std::string& cable) const;

 private:
  struct Former {
    std::uint16_t port = 0;
    Instant expires;
  };
  struct Ended {
    std::string cable;
    Instant since;
  };
  struct Told {
    std::optional<std::uint16_t> relay;
    TcpPorts processes;
    std::vector<Former> former;  // the first to expire first; none of `processes`
    std::optional<Ended> ended;
  };

  void drop_ended(std::optional<PortId> of_port, std::size_t most);

  std::map<NeighbourKey, Told> told_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_TOLD_PORTS_H_
