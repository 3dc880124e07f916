// Nodes' ports and the cables between them, in memory and virtual time: the simulator's PortInventory and
// ControlChannel. Cables carry datagrams with a delay, and lose, duplicate, reorder and corrupt as many of them as
// configured. They also carry pulses, and what kernels answer without a process: refusals of pulses where no socket is
// open, and answers to questions.
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
#include "core/ports/port_inventory.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

class CableFabric;

// Receives what concerns pulses at one node.
class PulseSockets {
 public:
  virtual ~PulseSockets() = default;
  // False: no socket is open for pulses from there, so the kernel refuses it.
  virtual bool pulse(PortId port, const routing::PortAddress& from, std::span<const std::byte> bytes) = 0;
  // The kernel there has refused a pulse, or answered a question.
  virtual void refused(PortId port, const routing::PortAddress& from) = 0;
  virtual void answered(PortId port, const routing::PortAddress& from) = 0;
};

// One node's view of the fabric.
class FabricPorts final : public PortInventory, public ControlChannel {
 public:
  std::vector<PortFacts> ports() const override;
  std::vector<RejectedPort> rejected() const override { return rejected_; }
  void watch(std::function<void()> changed) override { changed_ = std::move(changed); }

  void send_to_all(PortId port, std::span<const std::byte> bytes) override;
  // Sends only in the family of the port's first address, like send_to_all().
  void send_to_family(PortId port, bool is_ipv6, std::span<const std::byte> bytes) override;
  void send(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) override;
  void listen(std::function<void(const ReceivedDatagram&)> receive) override { receive_ = std::move(receive); }

  // Null: the kernel refuses all pulses.
  void open_pulse_sockets(PulseSockets* sockets) { pulse_sockets_ = sockets; }
  void send_pulse(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes);
  // Asks the kernel there for an answer.
  void ask_kernel(PortId port, const routing::PortAddress& to);
  // The number of packets of all kinds that have arrived at the port.
  std::uint64_t packets(PortId port) const {
    const auto counted = packets_.find(port);
    return counted == packets_.end() ? 0 : counted->second;
  }

 private:
  friend class CableFabric;
  explicit FabricPorts(CableFabric& fabric) : fabric_(fabric) {}

  CableFabric& fabric_;
  std::map<PortId, PortFacts> ports_;
  std::map<PortId, std::uint64_t> packets_;
  std::vector<RejectedPort> rejected_;
  PulseSockets* pulse_sockets_ = nullptr;
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
    Duration jitter{0};                     // maximum extra delay, which reorders datagrams
    std::uint32_t corrupted_per_mille = 0;  // of those that arrive, one byte is changed
    // Bursts of losses (E. N. Gilbert, "Capacity of a Burst-Noise Channel", 1960): with each datagram a burst, in which
    // every datagram is lost, may begin or end.
    std::uint32_t burst_begins_per_mille = 0;
    std::uint32_t burst_ends_per_mille = 200;
    std::size_t queue = SIZE_MAX;  // datagrams in flight on a segment; further ones are lost
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

  // Adds an unconnected port with these facts to `node`; the fabric assigns the ID.
  PortId add_port(NodeNumber node, PortFacts facts);
  void change_port(NodeNumber node, PortId port, const std::function<void(PortFacts&)>& change);
  // Sets the interfaces that the node's inventory reports as rejected.
  void set_rejected(NodeNumber node, std::vector<RejectedPort> rejected);

  // Joins ports to a cable or a switch: they all hear each other. A port is on at most one segment. Gives the ports
  // their carrier.
  SegmentNumber join(const std::vector<std::pair<NodeNumber, PortId>>& ports);
  // Adds a port to each of the two nodes and joins them, with addresses in their own subnet.
  SegmentNumber add_cable(NodeNumber a, NodeNumber b);
  // Makes two cables one wire, like the cables of a split port: a datagram that is sent on one is received on both.
  // Each keeps its own carrier, weather and silence.
  void share_wire(SegmentNumber one, SegmentNumber other);
  void set_carrier(SegmentNumber segment, bool carrier);
  // Drops all datagrams while the carrier stays.
  void set_silent(SegmentNumber segment, bool silent);
  // Drops datagrams that one of the ports sends; `end` is its place in join()'s list (cables: 0 is a, 1 is b).
  void set_mute(SegmentNumber segment, std::size_t end, bool mute) { segments_[segment].mute[end] = mute; }
  // Drops IP packets of more than `bytes` that one of the ports sends, and so datagrams with such fragments; `end` as
  // in set_mute().
  void set_largest_packet(SegmentNumber segment, std::size_t end, std::size_t bytes) {
    segments_[segment].largest_packet[end] = bytes;
  }
  // Sets an additional delay of what a port sends.
  void set_more_delay(NodeNumber node, PortId port, Duration more) { more_delay_[{node, port}] = more; }
  void set_weather(const Weather& weather) { weather_ = weather; }
  // Overrides the fabric's weather for one segment.
  void set_weather(SegmentNumber segment, const std::optional<Weather>& weather);
  // A node that is off neither sends nor receives; its neighbours keep their carrier, as behind a switch.
  void set_off(NodeNumber node, bool off) { off_[node] = off; }

  // Delivers a forged datagram to `node`.
  void inject(NodeNumber node, PortId port, const routing::PortAddress& from, std::vector<std::byte> bytes);
  // Adds one that is called for every control datagram that is sent.
  using Tap = std::function<void(NodeNumber from, PortId port, std::span<const std::byte>)>;
  void tap(Tap tap) { taps_.push_back(std::move(tap)); }
  // Adds one that is called for every control datagram just before a node receives it.
  using ArrivalTap = std::function<void(const Way&, std::span<const std::byte>)>;
  void tap_arrivals(ArrivalTap tap) { arrival_taps_.push_back(std::move(tap)); }

  // A party on the cable, which gets every control datagram that would be delivered there. True: it keeps this one, and
  // may pass it on later. Null: there is none.
  using Interceptor = std::function<bool(const Way&, std::span<const std::byte>)>;
  void intercept(SegmentNumber segment, Interceptor interceptor) {
    segments_[segment].interceptor = std::move(interceptor);
  }
  void pass_on(const Way& way, const std::vector<std::byte>& bytes) { deliver(way, bytes, Packet::kControl); }

  std::size_t segment_count() const { return segments_.size(); }
  const std::vector<std::pair<NodeNumber, PortId>>& ends_of(SegmentNumber segment) const {
    return segments_[segment].ends;
  }
  bool has_carrier(SegmentNumber segment) const { return segments_[segment].carrier; }
  // Whether datagrams from that port are delivered, regardless of the weather.
  bool carries(SegmentNumber segment, std::size_t end) const;
  // The same for packets of the port's MTU.
  bool carries_full_size(SegmentNumber segment, std::size_t end) const;
  bool is_off(NodeNumber node) const { return off_[node]; }
  std::uint64_t datagrams() const { return datagrams_; }
  std::uint64_t pulses() const { return pulses_; }

 private:
  friend class FabricPorts;
  using End = std::pair<NodeNumber, PortId>;
  enum class Packet : std::uint8_t { kControl, kPulse, kRefusal, kQuestion, kAnswer };
  struct Segment {
    std::vector<End> ends;
    bool carrier = true;
    std::vector<bool> mute;                   // by end
    std::vector<std::size_t> largest_packet;  // by end, bytes
    std::optional<SegmentNumber> shares_wire_with;
    std::optional<Weather> weather;
    bool in_burst = false;
    std::size_t in_flight = 0;
    Interceptor interceptor;
  };

  NodeNumber number_of(const FabricPorts& ports) const { return numbers_.at(&ports); }
  void transmit(const FabricPorts& from, PortId port, const routing::PortAddress* to, std::span<const std::byte> bytes,
                Packet kind = Packet::kControl);
  bool has_address(const End& end, const routing::PortAddress& address) const;
  void spread(SegmentNumber segment, const End& sender, const routing::PortAddress* to,
              const std::shared_ptr<const std::vector<std::byte>>& bytes, Packet kind);
  void launch(Segment& segment, const Way& way, const std::shared_ptr<const std::vector<std::byte>>& bytes,
              Packet kind);
  bool is_lost(Segment& segment, const Weather& weather);
  std::shared_ptr<const std::vector<std::byte>> corrupted(const std::vector<std::byte>& bytes);
  void deliver(const Way& way, const std::vector<std::byte>& bytes, Packet kind);
  void deliver_to_kernel(const Way& way, const routing::PortAddress& from, const std::vector<std::byte>& bytes,
                         Packet kind);
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
  std::map<End, Duration> more_delay_;
  PortId last_port_ = 0;
  std::uint32_t subnets_ = 0;
  std::uint64_t datagrams_ = 0;
  std::uint64_t pulses_ = 0;
  std::vector<Tap> taps_;
  std::vector<ArrivalTap> arrival_taps_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_NODES_CABLE_FABRIC_H_
