// The relay of a node on this host: the set-ups of circuits that pass through it (core/circuit/transit_setups.h), the
// memory for their chunks, and the loop that relays them.
#ifndef CABLEWAY_CORE_LINUX_NODE_RELAY_SERVICE_H_
#define CABLEWAY_CORE_LINUX_NODE_RELAY_SERVICE_H_

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/transit_setups.h"
#include "core/circuit/transport_negotiator.h"
#include "core/event/event_sink.h"
#include "core/linux/hop/circuit_dialer.h"
#include "core/linux/link/relay_store.h"
#include "core/linux/relay/relay_loop.h"
#include "core/linux/tcp/relay_memory.h"
#include "core/neighbour_shares.h"
#include "core/ports/port_lost.h"
#include "core/relay/relay_status.h"
#include "core/settings/settings.h"

namespace cableway::host {

// Lives on the thread that runs `io`; the data path has its own (relay_loop.h).
class RelayService final : private TransitSetups::Host {
 public:
  // What the relay asks the node (core/node/node.h).
  struct Asks {
    std::function<absl::Status(const CircuitSetup&)> check_transit;  // Node::check_transit()
    std::function<ShareHolder(const std::string& own_address, const std::string& other_address)> neighbour_at;
    std::function<std::set<ShareHolder>()> neighbours;
  };

  // Uses the settings relay_memory, relay_spin, transport and those of RDMA. `name` is the node's. `events` and
  // `stamps` must outlive it.
  static absl::StatusOr<std::unique_ptr<RelayService>> start(boost::asio::io_context& io, const Settings& settings,
                                                             const std::string& name, Asks node, EventSink& events,
                                                             PortStampPage& stamps);

  // The key that set-ups are sealed with (KeyUse::kCircuitSetup).
  void seal_with(const std::optional<SubKey>& key) { transit_.seal_with(key); }
  // For set-ups that this node begins.
  HopDial::Means means() { return dialer_.means(); }
  void arrived(ArrivedSetup setup) { transit_.arrived(std::move(setup)); }
  // A connection from that address was refused before its set-up arrived.
  void refused_connection(const std::string& peer, const absl::Status& reason);
  void topology_changed() { transit_.topology_changed(); }
  // Ends the circuits and set-ups over that port.
  void lose_port(const PortLost& lost) {
    transit_.lose_port(lost);
    loop_->lose_port(lost);
  }
  // Releases devices that have failed.
  void release_lost();

  // True if no circuit is open or being set up.
  bool idle() const { return transit_.in_setup() == 0 && loop_->circuits() == 0; }
  RelayStatus status() const { return completed(loop_->status()); }
  // Without the list of circuits.
  RelayStatus counts() const { return completed(loop_->counts()); }

 private:
  RelayStatus completed(RelayStatus status) const;
  RelayService(boost::asio::io_context& io, const Settings& settings, const std::string& name, Asks node,
               EventSink& events, PortStampPage& stamps);
  absl::Status open(const Settings& settings);

  absl::Status check_transit(const CircuitSetup& setup) override { return node_.check_transit(setup); }
  ShareHolder neighbour_at(const SetupConnection& connection) const override {
    return node_.neighbour_at(connection.own_address(), connection.other_address());
  }
  std::set<ShareHolder> neighbours() const override { return node_.neighbours(); }
  std::size_t circuits() const override { return loop_->circuits(); }
  std::size_t max_circuits() const override { return memory_.max_circuits; }
  absl::Status no_room(std::size_t in_setup) const override;
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const TransportEnd& upstream,
                                                   const TransportEnd& downstream) override;
  absl::Status relay(const CircuitSetup& setup, OpenHop upstream, OpenHop downstream,
                     std::unique_ptr<Slot> floor) override;
  void refused(const CircuitSetup& /*setup*/, const absl::Status& /*reason*/) override { ++setups_refused_; }
  void lost(const CircuitSetup& /*setup*/, const absl::Status& /*reason*/) override {}

  void on_closed(RelayLoop::Closed closed);
  void on_out_of_leases(RelayStore& store);

  boost::asio::io_context& io_;
  const std::string name_;
  const std::string memory_text_;  // the setting's text, for messages
  const RelayMemory memory_;       // bounds the circuits with slots of any kind
  const Asks node_;
  EventSink& events_;
  PortStampPage& stamps_;
  const TransportNegotiator transports_;
  CircuitDialer dialer_;
  std::uint64_t setups_refused_ = 0;
  std::vector<std::unique_ptr<RelayStore>> stores_;
  std::unique_ptr<RelayLoop> loop_;
  TransitSetups transit_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_NODE_RELAY_SERVICE_H_
