#include "core/linux/node/relay_service.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/circuit_events.h"
#include "core/flow/chunk_checksum.h"
#include "core/linux/hop/asio_connection.h"
#include "core/linux/hop/transport_table.h"
#include "core/linux/relay/store_table.h"
#include "core/linux/tcp/lingering_close.h"
#include "core/settings/settings_table.h"

namespace cableway::host {

absl::StatusOr<std::unique_ptr<RelayService>> RelayService::start(boost::asio::io_context& io, const Settings& settings,
                                                                  const std::string& name, Asks node, EventSink& events,
                                                                  PortStampPage& stamps) {
  std::unique_ptr<RelayService> service(new RelayService(io, settings, name, std::move(node), events, stamps));
  if (absl::Status status = service->open(settings); !status.ok()) return status;
  return service;
}

RelayService::RelayService(boost::asio::io_context& io, const Settings& settings, const std::string& name, Asks node,
                           EventSink& events, PortStampPage& stamps)
    : io_(io),
      name_(name),
      memory_text_(find_setting("relay_memory")->show(settings)),
      memory_(share_out_relay_memory(settings.relay_memory)),
      node_(std::move(node)),
      events_(events),
      stamps_(stamps),
      transports_(host_transports(settings, Idle::kSleeps)),
      dialer_(io, transports_),
      transit_(dialer_.means(), *this, events, name) {}

absl::Status RelayService::open(const Settings& settings) {
  auto stores = host_stores(settings, events_);
  if (!stores.ok()) return stores.status();
  stores_ = *std::move(stores);
  std::vector<RelayStore*> lent;
  lent.reserve(stores_.size());
  for (const auto& store : stores_) lent.push_back(store.get());
  auto loop = RelayLoop::start(
      lent, {.spin = settings.relay_spin, .checksums = settings.checksum, .stamps = &stamps_},
      {[this](RelayLoop::Closed closed) {
         auto shared = std::make_shared<RelayLoop::Closed>(std::move(closed));
         boost::asio::post(io_, [this, shared] { on_closed(std::move(*shared)); });
       },
       [this](RelayStore& store) { boost::asio::post(io_, [this, &store] { on_out_of_leases(store); }); }});
  if (!loop.ok()) return loop.status();
  loop_ = *std::move(loop);
  if (memory_.leases == 0) {
    events_.raise(EventCode::kRelayMemoryShort,
                  absl::StrCat("the relay memory of ", memory_text_,
                               " is too small for a lease for busy circuits; one needs ", 2 * lease_memory(), " bytes"),
                  {{"memory", memory_text_}});
  }
  return absl::OkStatus();
}

void RelayService::release_lost() {
  for (const auto& store : stores_) store->release_lost();
}

RelayStatus RelayService::completed(RelayStatus status) const {
  status.setups_refused = setups_refused_;
  for (const auto& store : stores_) store->add_status(status);
  return status;
}

absl::Status RelayService::no_room(std::size_t in_setup) const {
  const std::string others = in_setup == 0 ? "" : absl::StrCat(" and ", in_setup, " being set up");
  return absl::ResourceExhaustedError(
      absl::StrCat("node ", name_, " has no room for another circuit: its relay memory of ", memory_text_,
                   " is taken by ", loop_->circuits(), others, "; raise CABLEWAY_RELAY_MEMORY there"));
}

absl::StatusOr<std::unique_ptr<Slot>> RelayService::make_floor(const TransportEnd& upstream,
                                                               const TransportEnd& downstream) {
  return loop_->make_floor(static_cast<const HostEnd&>(upstream), static_cast<const HostEnd&>(downstream));
}

absl::Status RelayService::relay(const CircuitSetup& setup, OpenHop upstream, OpenHop downstream,
                                 std::unique_ptr<Slot> floor) {
  return loop_->add(setup, release(std::move(upstream)), release(std::move(downstream)), std::move(floor));
}

void RelayService::refused_connection(const std::string& peer, const absl::Status& reason) {
  ++setups_refused_;
  events_.raise(EventCode::kConnectionRefused,
                absl::StrCat("refused a connection from ", peer, ": ", reason_text(reason)),
                {{"address", peer}, {"reason", std::string(reason.message())}});
}

void RelayService::on_closed(RelayLoop::Closed closed) {
  transit_.circuit_ended(closed.setup);
  events_.raise(closed.broken ? EventCode::kCircuitBroken : EventCode::kCircuitEnded,
                absl::StrCat("circuit ", circuit_text(closed.setup), " ended: ", reason_text(closed.reason)),
                circuit_fields(closed.setup, closed.reason));
  if (found_corruption(closed.reason)) {
    events_.raise(EventCode::kChunkCorrupted, reason_text(closed.reason), circuit_fields(closed.setup, closed.reason));
  }
  // The ends need only the reason, and the circuits that remain need the relay's memory.
  close_lingering(io_, std::move(closed.upstream), Unsent::kForget);
  close_lingering(io_, std::move(closed.downstream), Unsent::kForget);
}

void RelayService::on_out_of_leases(RelayStore& store) {
  LeaseShortage shortage = store.lease_shortage(memory_text_);
  events_.raise(shortage.event, std::move(shortage.text),
                {{"leases", absl::StrCat(store.pool().size())}, {"memory", memory_text_}});
}

}  // namespace cableway::host
