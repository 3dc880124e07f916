#include "nccl_adapter/process/process.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/flow_proof.h"
#include "core/circuit/hop_names.h"
#include "core/linux/hop/asio_connection.h"
#include "core/linux/hop/transport_table.h"
#include "core/linux/os/random_value.h"
#include "core/linux/ports/own_network.h"
#include "core/linux/rdma/verbs_devices.h"
#include "core/linux/tcp/lingering_close.h"

namespace cableway::nccl {
namespace {

constexpr std::chrono::milliseconds kOpenLimit{10000};
constexpr std::chrono::seconds kCheckInterval{1};
// Relays check at the same interval for slots that they have recalled.
constexpr std::chrono::milliseconds kPollIdleInterval{250};
constexpr std::uint32_t kChunkBytes = 1U << 20;

CircuitShare shares_of(MultipathSetting multipath) {
  switch (multipath) {
    case MultipathSetting::kOff:
      return CircuitShare::kNone;
    case MultipathSetting::kBundle:
      return CircuitShare::kBundle;
    case MultipathSetting::kAll:
      return CircuitShare::kAlternate;
  }
  return CircuitShare::kNone;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Process>> Process::start(const Settings& settings, const std::string& daemon, Log log) {
  std::shared_ptr<Process> process(new Process(settings, log));
  absl::StatusOr<std::unique_ptr<host::SharedPortStamps>> stamps = host::SharedPortStamps::create_unshared();
  if (!stamps.ok()) return stamps.status();
  process->port_stamps_ = *std::move(stamps);
  absl::StatusOr<Welcome> welcome = process->membership_.join(daemon);
  if (!welcome.ok()) return welcome.status();
  process->welcome_ = *std::move(welcome);
  if (absl::Status status = process->listen(); !status.ok()) return status;
  process->detect_gpu_memory();
  return process;
}

Process::Process(const Settings& settings, Log log)
    : settings_(settings),
      log_(log),
      control_(std::make_unique<ControlThread>()),
      membership_(*control_, settings_, log_,
                  {[this](const Welcome& welcome) { take(welcome); },
                   [this](const host::UniqueFd& file) { share_port_stamps(file); },
                   [this](const PortLost& lost) { lose_port(lost); }, [this] { paths_changed(); },
                   [this] { unused_.clear(); }}),
      transports_(host::host_transports(settings, host::Idle::kPolls)) {}

Process::~Process() {
  boost::asio::post(control_->io(), [this] { stop(); });
  // Pending work there may use every member of this object.
  control_->join();
}

void Process::stop() {
  stopping_ = true;
  acceptor_.reset();
  flows_.reset();
  dialer_.reset();
  membership_.close();
  if (checks_timer_) checks_timer_->cancel();
  if (poll_idle_timer_) poll_idle_timer_->cancel();
}

void Process::share_port_stamps(const host::UniqueFd& file) {
  const absl::Status status = port_stamps_->adopt(file);
  if (!status.ok()) log_.warn(absl::StrCat(status.message(), ": alternates stay unused (CABLEWAY_MULTIPATH=all)"));
}

void Process::take(const Welcome& welcome) {
  setup_keys_ = welcome.setup_keys;
  unused_ = welcome.unused;
  if (acceptor_ != nullptr) acceptor_->seal_with(setup_keys_);
  listen_on(welcome.addresses);
}

void Process::detect_gpu_memory() {
  gpu_memory_ = host::gpu_memory_support(welcome_.addresses, settings_);
  if (!gpu_memory_.any())
    return log_.info(absl::StrCat("GPU memory is copied through the host: ", gpu_memory_.why_not));
  if (gpu_memory_.dmabuf) log_.info("GPU memory can be used directly, through dmabuf");
  if (gpu_memory_.peer_memory) log_.info("GPU memory can be used directly, through nvidia_peermem");
}

absl::Status Process::listen() {
  return control_->run_and_wait([this]() -> absl::Status {
    host::CircuitAcceptor::Limits limits;
    // For as long as a flow waits for a path, and then some.
    limits.keep_former += std::chrono::milliseconds(settings_.path_wait);
    auto acceptor = host::CircuitAcceptor::listen(
        control_->io(), addresses_, settings_.data_ports,
        [this](ArrivedSetup arrived) { on_setup(std::move(arrived)); },
        [this](const std::string& peer, const absl::Status& reason) {
          log_.info(absl::StrCat("refused a connection from ", peer, ": ", reason.message()));
        },
        limits);
    if (!acceptor.ok()) return acceptor.status();
    acceptor_ = *std::move(acceptor);
    acceptor_->seal_with(setup_keys_);
    if (acceptor_->port() != 0) membership_.listens_at(acceptor_->port());
    dialer_ = std::make_unique<host::CircuitDialer>(control_->io(), transports_);
    flow_means_.emplace(FlowMeans{
        dialer_->means(),
        [this](const std::string& node, std::uint64_t ordinal, std::size_t most, NodeMembership::HavePaths done) {
          membership_.request_paths(node, ordinal, most, false, std::move(done));
        },
        [this](const std::string& node, std::uint64_t ordinal, std::size_t most, NodeMembership::HavePaths done) {
          membership_.request_paths(node, ordinal, most, true, std::move(done));
        },
        [this] { return setup_keys_.sealing(); }});
    flows_ = std::make_unique<ProcessFlows>(*flow_means_,
                                            ProcessFlows::Limits{.open = kOpenLimit,
                                                                 .path_wait = settings_.path_wait,
                                                                 .chunk_bytes = kChunkBytes,
                                                                 .shares = shares_of(settings_.multipath)},
                                            membership_.reports(), log_, [this](std::vector<host::UniqueFd> sockets) {
                                              close_connections(std::move(sockets));
                                            });
    checks_timer_ = std::make_unique<boost::asio::steady_timer>(control_->io());
    poll_idle_timer_ = std::make_unique<boost::asio::steady_timer>(control_->io());
    run_checks();
    poll_idle_flows();
    return absl::OkStatus();
  });
}

void Process::listen_on(const std::vector<std::string>& addresses) {
  addresses_ = addresses;
  if (acceptor_ == nullptr) return;
  const absl::Status status = acceptor_->set_addresses(addresses_);
  listening_ = status.ok();
  if (!status.ok()) log_.info(absl::StrCat(status.message(), "; retrying"));
  if (acceptor_->port() != 0) membership_.listens_at(acceptor_->port());
}

absl::StatusOr<ListenHandle> Process::add_listener(const std::shared_ptr<ListenComm>& listener) {
  const std::uint16_t port = acceptor_->port();
  if (port == 0) {
    const std::string no_cables = host::no_cables_advised(host::read_own_network());
    return absl::UnavailableError(absl::StrCat(
        "node ", welcome_.node, " has no cable port with an address to listen on: ",
        no_cables.empty() ? "see `cableway ports` for the reason, and set CABLEWAY_PORTS to the interfaces "
                            "to use"
                          : no_cables));
  }
  const std::lock_guard lock(mutex_);
  listeners_[listener->name()] = listener;
  return ListenHandle{listener->cookie(), port, welcome_.node,
                      static_cast<std::uint32_t>(std::chrono::milliseconds(settings_.path_wait).count())};
}

void Process::remove_listener(const ListenComm& listener) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(listener.name());
}

absl::Status Process::check_arrival(ListenComm& listener, const CircuitSetup& setup) const {
  if (absl::Status status = listener.admission().admit(setup); !status.ok()) return status;
  if (listener.has_room()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(ListenComm::kMaxWaiting, " connections are already waiting for accept"));
}

// The source may not know yet that its cable carries no data. It will end its end of the circuit when it does, but
// the last bytes of that end may not arrive here.
absl::Status Process::check_cable(const CircuitSetup& setup) const {
  const HopEnd end = accepting_end(setup, setup.hop);
  for (const UnusedCable& unused : unused_) {
    if (unused.cable != end.cable || (unused.only_relayed && !end.other_relays)) continue;
    return absl::UnavailableError(absl::StrCat("it does not use cable ", unused.cable, " now: ", unused.reason));
  }
  return absl::OkStatus();
}

void Process::on_setup(ArrivedSetup arrived) {
  const CircuitSetup& setup = arrived.setup();
  if (setup.purpose == SetupPurpose::kInquiry) return answer_inquiry(std::move(arrived));
  if (const absl::Status unused = check_cable(setup); !unused.ok()) {
    return refuse(std::move(arrived), unused, FailureScope::kCircuit);
  }
  const ProcessFlows::Destination flow = flows_->find_destination(setup.nonce);
  if (flow.comm != nullptr) return join_flow(flow, std::move(arrived));
  if (const std::optional<std::string> why = flows_->why_ended(setup); why.has_value()) {
    log_.info(absl::StrCat("refused circuit ", describe_path(setup), ", whose flow has ended: ", *why));
    return std::move(arrived).refuse(absl::UnavailableError(*why), FailureScope::kFlow);
  }
  begin_flow(std::move(arrived));
}

void Process::answer_inquiry(ArrivedSetup inquiry) {
  const ProcessFlows::Answer answer = flows_->asked(inquiry.setup());
  const std::string known = answer.open ? ": the flow is open here" : ": the process no longer has this flow";
  const std::string text = answer.why_ended.value_or(absl::StrCat("node ", welcome_.node, known));
  std::move(inquiry).refuse(absl::UnavailableError(text), answer.open ? FailureScope::kCircuit : FailureScope::kFlow);
}

void Process::join_flow(const ProcessFlows::Destination& flow, ArrivedSetup arrived) {
  const CircuitSetup setup = arrived.setup();
  if (!verify_flow_proof(flow.cookie, setup)) {
    return refuse(
        std::move(arrived),
        absl::PermissionDeniedError("the set-up's proof is wrong: its sender does not have the listen handle"),
        FailureScope::kFlow);
  }
  if (!flow.comm->may_join(setup.circuit)) {
    return refuse(std::move(arrived), absl::PermissionDeniedError("the set-up is a copy of an earlier one"),
                  FailureScope::kCircuit);
  }
  std::optional<host::HopConnection> connection = accept(std::move(arrived));
  if (!connection.has_value()) return;
  const HopTransport transport = transport_of(*connection);
  if (absl::Status joined = flow.comm->join(setup, *std::move(connection)); !joined.ok()) {
    return log_.info(absl::StrCat("circuit ", describe_path(setup), " cannot join its flow: ", joined.message()));
  }
  flows_->joined(flow.comm.get(), setup, transport);
  log_.info(absl::StrCat("circuit ", describe_path(setup), " has joined its flow"));
}

void Process::begin_flow(ArrivedSetup arrived) {
  const CircuitSetup setup = arrived.setup();
  std::shared_ptr<ListenComm> listener;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = listeners_.find(setup.listener);
    if (entry != listeners_.end()) listener = entry->second.lock();
  }
  if (listener == nullptr) {
    return refuse(std::move(arrived), absl::NotFoundError("the process no longer listens for this connection"),
                  FailureScope::kFlow);
  }
  if (absl::Status reason = check_arrival(*listener, setup); !reason.ok()) {
    return refuse(std::move(arrived), reason,
                  absl::IsResourceExhausted(reason) ? FailureScope::kBusy : FailureScope::kFlow);
  }
  std::optional<host::HopConnection> connection = accept(std::move(arrived));
  if (!connection.has_value()) return;
  const HopTransport transport = transport_of(*connection);
  auto comm =
      std::make_shared<RecvComm>(origin_of(listener->context(), absl::StrCat("flow from node ", setup.from_node)));
  if (absl::Status joined = comm->join(setup, *std::move(connection)); !joined.ok()) {
    return log_.warn(absl::StrCat("circuit ", describe_path(setup), ": ", joined.message()));
  }
  listener->admission().begun(setup);
  FlowIdentity identity{.cookie = listener->cookie(),
                        .nonce = setup.nonce,
                        .flow = setup.flow,
                        .source_node = setup.from_node,
                        .source_port = setup.source_port,
                        .destination_node = welcome_.node,
                        .destination_port = acceptor_->port(),
                        .path_wait = std::chrono::milliseconds(setup.path_wait_ms)};
  flows_->arrived(comm, identity, setup, transport);
  if (listener->put(comm)) return;
  close_connections(comm->abandon(kNeverAccepted));
  flows_->closed(comm.get(), "");
}

std::optional<host::HopConnection> Process::accept(ArrivedSetup arrived) {
  const CircuitSetup setup = arrived.setup();
  absl::StatusOr<OpenHop> hop = accept_hop(std::move(arrived), transports_, {});
  if (hop.ok()) return host::release(*std::move(hop));
  if (absl::IsCancelled(hop.status())) {
    log_.info(absl::StrCat(describe_path(setup), ": ", hop.status().message()));
  } else {
    log_.warn(absl::StrCat("refused circuit ", describe_path(setup), ": ", hop.status().message()));
  }
  return std::nullopt;
}

void Process::refuse(ArrivedSetup arrived, const absl::Status& reason, FailureScope scope) {
  const absl::Status named(reason.code(), absl::StrCat("node ", welcome_.node, ": ", reason.message()));
  const std::string text = absl::StrCat("refused circuit ", describe_path(arrived.setup()), ": ", named.message());
  // Untrusted peers can cause all other refusals at any rate.
  absl::IsResourceExhausted(reason) ? log_.warn(text) : log_.info(text);
  std::move(arrived).refuse(named, scope);
}

FlowComm::Origin Process::origin_of(Context& context, std::string flow) {
  const auto needs_control = [this](FlowComm* comm) {
    boost::asio::post(control_->io(), [this, comm] {
      if (flows_ != nullptr) flows_->look_at(comm);
    });
  };
  return {context,
          std::move(flow),
          welcome_.node,
          log_,
          needs_control,
          settings_.checksum,
          port_stamps_->is_shared() ? port_stamps_ : nullptr};
}

std::shared_ptr<SendComm> Process::open_flow(Context& context, const ListenHandle& handle) {
  auto comm = std::make_shared<SendComm>(origin_of(context, absl::StrCat("flow to node ", handle.node)));
  boost::asio::post(control_->io(), [this, comm, handle] {
    if (flows_ == nullptr) return;
    flows_->open(comm, FlowIdentity{.cookie = handle.cookie,
                                    .nonce = host::random_value<FlowNonce>(),
                                    .flow = host::random_value<std::uint64_t>(),
                                    .source_node = welcome_.node,
                                    .source_port = acceptor_->port(),
                                    .destination_node = handle.node,
                                    .destination_port = handle.port,
                                    .ordinal = membership_.next_ordinal(handle.node),
                                    .path_wait = std::chrono::milliseconds(handle.path_wait_ms)});
  });
  return comm;
}

void Process::close_connections(std::vector<host::UniqueFd> sockets) {
  for (host::UniqueFd& socket : sockets) host::close_lingering(control_->io(), std::move(socket));
}

void Process::in_use(FlowComm* comm) {
  boost::asio::post(control_->io(), [this, comm] {
    if (flows_ != nullptr) flows_->in_use(comm);
  });
}

void Process::closed(FlowComm* comm, const std::string& failure) {
  boost::asio::post(control_->io(), [this, comm, failure] {
    if (flows_ != nullptr) flows_->closed(comm, failure);
  });
}

void Process::run_checks() {
  if (stopping_) return;
  // A restarted node needs a session to know that it is in use, and to announce its new ports. It may not be up yet.
  note_rejoined(membership_.rejoin_if_ended());
  if (!listening_) listen_on(addresses_);
  host::VerbsDevices::of_this_process().check();
  flows_->check();
  checks_timer_->expires_after(kCheckInterval);
  checks_timer_->async_wait([this](boost::system::error_code stopped) {
    if (!stopped) run_checks();
  });
}

// A node that is not up yet is tried again. A refusal will not change by itself, so it is logged.
void Process::note_rejoined(const absl::Status& status) {
  const bool may_come = status.ok() || absl::IsNotFound(status) || absl::IsUnavailable(status);
  const std::string refusal(may_come ? "" : status.message());
  if (std::exchange(rejoin_refusal_, refusal) != refusal && !refusal.empty()) log_.warn(refusal);
}

void Process::lose_port(const PortLost& lost) {
  // Valid until the Welcome that follows, which lists the cable.
  if (!lost.cable.empty()) unused_.push_back({lost.cable, lost.reason, lost.only_relayed});
  if (flows_ != nullptr) flows_->lose_port(lost);
}

void Process::paths_changed() {
  if (flows_ != nullptr) flows_->paths_changed();
}

void Process::poll_idle_flows() {
  if (stopping_) return;
  flows_->poll_idle();
  poll_idle_timer_->expires_after(kPollIdleInterval);
  poll_idle_timer_->async_wait([this](boost::system::error_code stopped) {
    if (!stopped) poll_idle_flows();
  });
}

}  // namespace cableway::nccl
