// Nodes' ports and the cables between them, in memory and virtual time: the simulator's PortInventory and
// ControlChannel. Cables carry datagrams with a delay, and lose, repeat, reorder and spoil as many of them as they are
// told to.
#ifndef CABLEWAY_SIM_NODES_CABLE_FABRIC_H_
#define CABLEWAY_SIM_NODES_CABLE_FABRIC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/discovery/control_channel.h"
#include "core/discovery/port_inventory.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

class CableFabric;

// What one node sees of the fabric.
class FabricPorts final : public PortInventory, public ControlChannel {
 public:
  std::vector<PortFacts> ports() const override;
  std::vector<RejectedPort> rejected() const override { return rejected_; }
  void watch(std::function<void()> changed) override { changed_ = std::move(changed); }

  void send_to_all(PortId port, std::span<const std::byte> bytes) override;
  void send(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) override;
  void listen(std::function<void(const ReceivedDatagram&)> receive) override { receive_ = std::move(receive); }

 private:
  friend class CableFabric;
  explicit FabricPorts(CableFabric& fabric) : fabric_(fabric) {}

  CableFabric& fabric_;
  std::map<PortId, PortFacts> ports_;
  std::vector<RejectedPort> rejected_;
  std::function<void()> changed_ = [] {};
  std::function<void(const ReceivedDatagram&)> receive_ = [](const ReceivedDatagram&) {};
};

class CableFabric {
 public:
  using NodeNumber = std::size_t;
  using SegmentNumber = std::size_t;

  struct Weather {
    std::uint32_t lost_per_mille = 0;
    std::uint32_t doubled_per_mille = 0;
    Duration delay = std::chrono::microseconds(5);
    Duration jitter{0};                     // up to so much more, so datagrams overtake each other
    std::uint32_t corrupted_per_mille = 0;  // of those that arrive, one byte is another
    // Losses that come together (E. N. Gilbert, "Capacity of a Burst-Noise Channel", 1960): with each datagram a burst,
    // in which everything is lost, may begin or end.
    std::uint32_t burst_begins_per_mille = 0;
    std::uint32_t burst_ends_per_mille = 200;
    std::size_t queue = SIZE_MAX;  // datagrams on their way over a segment; what is more is lost
  };
  // Two ports of one segment, in the direction of travel.
  struct Way {
    NodeNumber from = 0;
    PortId from_port = 0;
    NodeNumber to = 0;
    PortId to_port = 0;
    friend auto operator<=>(const Way&, const Way&) = default;
  };

  CableFabric(VirtualClock& clock, std::uint64_t seed) : clock_(clock), random_(seed) {}

  NodeNumber add_node();
  FabricPorts& ports_of(NodeNumber node) { return *nodes_[node]; }

  // Gives `node` a port with these facts (the id is chosen here) that leads nowhere yet.
  PortId add_port(NodeNumber node, PortFacts facts);
  void change_port(NodeNumber node, PortId port, const std::function<void(PortFacts&)>& change);
  // What the node's inventory says of interfaces that are no ports.
  void set_rejected(NodeNumber node, std::vector<RejectedPort> rejected);

  // A cable, or a switch: all its ports hear each other. A port is on one segment at most. Ports get their carrier.
  SegmentNumber join(const std::vector<std::pair<NodeNumber, PortId>>& ports);
  // Adds a port to each of both nodes and joins them, with addresses of a subnet of their own.
  SegmentNumber add_cable(NodeNumber a, NodeNumber b);
  void set_carrier(SegmentNumber segment, bool carrier);
  // Nothing gets through although the carrier stays.
  void set_silent(SegmentNumber segment, bool silent);
  // The same for what one of its ports sends; the place is that in join()'s list (cables: 0 is a, 1 is b).
  void set_mute(SegmentNumber segment, std::size_t end, bool mute) { segments_[segment].mute[end] = mute; }
  void set_weather(const Weather& weather) { weather_ = weather; }
  // For one segment, in place of the fabric's.
  void set_weather(SegmentNumber segment, const std::optional<Weather>& weather);
  // A node that is off neither sends nor receives; its neighbours keep their carrier, as beyond a switch.
  void set_off(NodeNumber node, bool off) { off_[node] = off; }

  // A datagram that nobody sent, as seen by `node`.
  void inject(NodeNumber node, PortId port, const routing::PortAddress& from, std::vector<std::byte> bytes);
  // Sees every datagram that is sent.
  void tap(std::function<void(NodeNumber from, PortId port, std::span<const std::byte>)> tap) { tap_ = std::move(tap); }
  // Sees every datagram that a node is about to receive.
  void tap_arrivals(std::function<void(const Way&, std::span<const std::byte>)> tap) { arrivals_ = std::move(tap); }

  std::size_t segment_count() const { return segments_.size(); }
  const std::vector<std::pair<NodeNumber, PortId>>& ends_of(SegmentNumber segment) const {
    return segments_[segment].ends;
  }
  bool has_carrier(SegmentNumber segment) const { return segments_[segment].carrier; }
  // Whether what that port sends gets through, but for the weather.
  bool carries(SegmentNumber segment, std::size_t end) const;
  bool is_off(NodeNumber node) const { return off_[node]; }
  std::uint64_t datagrams() const { return datagrams_; }

 private:
  friend class FabricPorts;
  using End = std::pair<NodeNumber, PortId>;
  struct Segment {
    std::vector<End> ends;
    bool carrier = true;
    std::vector<bool> mute;  // by end
    std::optional<Weather> weather;
    bool in_burst = false;
    std::size_t on_the_way = 0;
  };

  NodeNumber number_of(const FabricPorts& ports) const { return numbers_.at(&ports); }
  void transmit(const FabricPorts& from, PortId port, const routing::PortAddress* to, std::span<const std::byte> bytes);
  bool has_address(const End& end, const routing::PortAddress& address) const;
  void launch(Segment& segment, const Way& way, const std::shared_ptr<const std::vector<std::byte>>& bytes);
  bool is_lost(Segment& segment, const Weather& weather);
  std::shared_ptr<const std::vector<std::byte>> spoiled(const std::vector<std::byte>& bytes);
  void deliver(const Way& way, const std::vector<std::byte>& bytes);
  bool happens(std::uint32_t per_mille) { return random_() % 1000 < per_mille; }
  void report_change(NodeNumber node);

  VirtualClock& clock_;
  std::mt19937_64 random_;
  Weather weather_;
  std::vector<std::unique_ptr<FabricPorts>> nodes_;
  std::map<const FabricPorts*, NodeNumber> numbers_;
  std::vector<bool> off_;
  std::vector<Segment> segments_;
  std::map<End, SegmentNumber> segment_of_;
  PortId last_port_ = 0;
  std::uint32_t subnets_ = 0;
  std::uint64_t datagrams_ = 0;
  std::function<void(NodeNumber, PortId, std::span<const std::byte>)> tap_;
  std::function<void(const Way&, std::span<const std::byte>)> arrivals_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_NODES_CABLE_FABRIC_H_
