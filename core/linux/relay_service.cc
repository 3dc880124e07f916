#include "core/linux/relay_service.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/circuit_dialer.h"
#include "core/linux/lingering_close.h"
#include "core/linux/pipe_slot.h"
#include "core/linux/session_socket.h"
#include "core/status_view.h"
#include "routing/topology_file.h"

namespace cableway::linux_ {
namespace {

constexpr std::size_t kMaxCircuits = 16384;

std::string text(const absl::Status& status) {
  return std::string(status.message());
}

}  // namespace

absl::StatusOr<std::unique_ptr<RelayService>> RelayService::start(boost::asio::io_context& io, const Settings& settings,
                                                                  Node node, Log log) {
  std::unique_ptr<RelayService> service(new RelayService(io, std::move(node), std::move(log)));
  RelayService* raw = service.get();
  auto endpoint = session_endpoint(settings.cluster, settings.runtime_dir);
  if (!endpoint.ok()) return endpoint.status();
  // First, because binding the session socket is what makes this process the node.
  auto sessions = SessionServer::listen(io, *endpoint, raw->node_.welcome(),
                                        [raw](const SessionMessage& request) { return raw->answer(request); });
  if (!sessions.ok()) return sessions.status();
  service->sessions_ = *std::move(sessions);
  auto loop = RelayLoop::start([raw](RelayLoop::Closed closed) {
    auto shared = std::make_shared<RelayLoop::Closed>(std::move(closed));
    boost::asio::post(raw->io_, [raw, shared] { raw->on_closed(std::move(*shared)); });
  });
  if (!loop.ok()) return loop.status();
  service->loop_ = *std::move(loop);
  auto acceptor = CircuitAcceptor::listen(
      io, raw->node_.addresses(), raw->node_.relay_port(),
      [raw](PendingCircuit pending) { raw->on_setup(std::move(pending)); },
      [raw](const std::string& peer, const absl::Status& reason) {
        ++raw->setups_refused_;
        raw->log_briefly(absl::StrCat("refused a connection from ", peer, ": ", reason.message()));
      });
  // Not AlreadyExists, which says that another node runs here.
  if (!acceptor.ok()) return absl::UnavailableError(acceptor.status().message());
  service->acceptor_ = *std::move(acceptor);
  return service;
}

bool RelayService::idle() const {
  return sessions_->connections() == 0 && dialing_ == 0 && loop_->circuits() == 0;
}

void RelayService::log_briefly(const std::string& line) {
  constexpr std::uint64_t kLinesPerSecond = 10;
  const auto now = std::chrono::steady_clock::now();
  if (now - brief_since_ >= std::chrono::seconds(1)) {
    if (brief_lines_ > kLinesPerSecond) log_(absl::StrCat(brief_lines_ - kLinesPerSecond, " more of that kind"));
    brief_since_ = now;
    brief_lines_ = 0;
  }
  if (++brief_lines_ <= kLinesPerSecond) log_(line);
}

void RelayService::refuse(PendingCircuit pending, const absl::Status& reason) {
  ++setups_refused_;
  log_briefly(absl::StrCat("refused circuit ", describe_path(pending.setup()), ": ", reason.message()));
  std::move(pending).refuse(reason);
}

void RelayService::on_setup(PendingCircuit pending) {
  if (absl::Status status = node_.check_transit(pending.setup()); !status.ok()) {
    return refuse(std::move(pending), status);
  }
  if (loop_->circuits() + dialing_ >= kMaxCircuits) {
    return refuse(std::move(pending), absl::ResourceExhaustedError(absl::StrCat("node ", node_.name(), " relays ",
                                                                                kMaxCircuits, " circuits already")));
  }
  CircuitSetup onward = pending.setup();
  ++onward.hop;
  // A tenth of the time is left for this node's answer to travel back.
  onward.budget_ms -= onward.budget_ms / 10;
  ++dialing_;
  auto shared = std::make_shared<PendingCircuit>(std::move(pending));
  dial_circuit(io_, std::move(onward),
               [this, shared](absl::StatusOr<UniqueFd> downstream) { on_dialed(shared, std::move(downstream)); });
}

void RelayService::on_dialed(const std::shared_ptr<PendingCircuit>& pending, absl::StatusOr<UniqueFd> downstream) {
  --dialing_;
  if (!downstream.ok()) return refuse(std::move(*pending), downstream.status());
  absl::StatusOr<RelayLoop::Slots> slots = RelayLoop::make_slots();
  if (!slots.ok()) {
    return refuse(std::move(*pending), absl::ResourceExhaustedError(absl::StrCat(
                                           "node ", node_.name(), " can relay no more: ", slots.status().message())));
  }
  warn_of_small_pipes(*slots);
  const CircuitSetup setup = pending->setup();
  absl::StatusOr<UniqueFd> upstream = std::move(*pending).accept();
  if (!upstream.ok()) return log_(absl::StrCat("lost circuit ", describe_path(setup), ": ", text(upstream.status())));
  loop_->add(setup, *std::move(upstream), *std::move(downstream), *std::move(slots));
}

void RelayService::warn_of_small_pipes(const RelayLoop::Slots& slots) {
  constexpr int kSmall = 65536;
  const int bytes = static_cast<const PipeSlot&>(*slots.back()).capacity();
  if (bytes >= kSmall || std::exchange(warned_of_small_pipes_, true)) return;
  log_(absl::StrCat("pipes are down to ", bytes,
                    " bytes: this user has as many as fs.pipe-user-pages-soft allows, and"
                    " further circuits are relayed slower; run cablewayd as root, or raise that limit"));
}

void RelayService::on_closed(RelayLoop::Closed closed) {
  log_(absl::StrCat("circuit ", describe_path(closed.setup), " ended: ", closed.reason.message()));
  close_lingering(io_, std::move(closed.upstream));
  close_lingering(io_, std::move(closed.downstream));
}

SessionMessage RelayService::answer(const SessionMessage& request) const {
  if (const auto* path = std::get_if<PathRequest>(&request)) {
    absl::StatusOr<std::vector<Hop>> hops = node_.path_for_flow(path->node, path->ordinal);
    if (!hops.ok()) return PathReply{path->request, text(hops.status()), {}};
    return PathReply{path->request, {}, *std::move(hops)};
  }
  if (const auto* wanted = std::get_if<ViewRequest>(&request)) return view(wanted->name);
  return Refusal{"not a request that a node answers"};
}

ViewReply RelayService::view(const std::string& name) const {
  if (name == "topology") return ViewReply{{}, routing::to_topology_file(node_.topology())};
  if (name == "status") {
    RelayStatus status = loop_->status();
    status.setups_refused = setups_refused_;
    return ViewReply{{}, status_view(node_, status, sessions_->sessions())};
  }
  return ViewReply{absl::StrCat("no view \"", name, "\"; there are topology and status"), {}};
}

}  // namespace cableway::linux_
