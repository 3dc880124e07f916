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
// Relays check as often for slots that they have recalled.
constexpr std::chrono::milliseconds kPollIdleInterval{250};
constexpr std::uint32_t kChunkBytes = 1U << 20;

}  // namespace

absl::StatusOr<std::shared_ptr<Process>> Process::start(const Settings& settings, const std::string& daemon, Log log) {
  std::shared_ptr<Process> process(new Process(settings, log));
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
      membership_(
          *control_, settings_, log_, [this](const Welcome& welcome) { take(welcome); },
          [this](const PortLost& lost) { lose_port(lost); }),
      transports_(host::host_transports(settings, host::Idle::kPolls)) {}

Process::~Process() {
  boost::asio::post(control_->io(), [this] { stop(); });
  // Pending work there may use every member of this object.
  control_->join();
}

void Process::stop() {
  stopping_ = true;
  acceptor_.reset();
  dialer_.reset();
  membership_.close();
  if (checks_timer_) checks_timer_->cancel();
  if (poll_idle_timer_) poll_idle_timer_->cancel();
}

void Process::take(const Welcome& welcome) {
  setup_key_ = welcome.setup_key;
  if (acceptor_ != nullptr) acceptor_->seal_with(setup_key_);
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
    auto acceptor = host::CircuitAcceptor::listen(
        control_->io(), addresses_, settings_.data_ports,
        [this](ArrivedSetup arrived) { on_setup(std::move(arrived)); },
        [this](const std::string& peer, const absl::Status& reason) {
          log_.info(absl::StrCat("refused a connection from ", peer, ": ", reason.message()));
        });
    if (!acceptor.ok()) return acceptor.status();
    acceptor_ = *std::move(acceptor);
    acceptor_->seal_with(setup_key_);
    dialer_ = std::make_unique<host::CircuitDialer>(control_->io(), transports_);
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
  return ListenHandle{listener->cookie(), port, welcome_.node};
}

void Process::remove_listener(const ListenComm& listener) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(listener.name());
}

absl::Status Process::check_arrival(ListenComm& listener, const CircuitSetup& setup) const {
  if (const absl::Status status = listener.admission().admit(setup); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat("node ", welcome_.node, ": ", status.message()));
  }
  if (listener.has_room()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("node ", welcome_.node, ": ", ListenComm::kMaxWaiting,
                                                   " connections are already waiting for accept"));
}

void Process::on_setup(ArrivedSetup arrived) {
  const CircuitSetup setup = arrived.setup();
  const auto refused = [&](const absl::Status& reason) {
    return absl::StrCat("refused circuit ", describe_path(setup), ": ", reason.message());
  };
  std::shared_ptr<ListenComm> listener;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = listeners_.find(setup.listener);
    if (entry != listeners_.end()) listener = entry->second.lock();
  }
  if (listener == nullptr) {
    const auto reason = absl::NotFoundError(
        absl::StrCat("node ", welcome_.node, ": the process no longer listens for this connection"));
    log_.info(refused(reason));
    return std::move(arrived).refuse(reason);
  }
  if (absl::Status reason = check_arrival(*listener, setup); !reason.ok()) {
    // Untrusted peers can cause all other refusals at any rate.
    absl::IsResourceExhausted(reason) ? log_.warn(refused(reason)) : log_.info(refused(reason));
    return std::move(arrived).refuse(reason);
  }
  absl::StatusOr<OpenHop> hop = accept_hop(std::move(arrived), transports_, {});
  if (absl::IsCancelled(hop.status())) {
    return log_.info(absl::StrCat(describe_path(setup), ": ", hop.status().message()));
  }
  if (!hop.ok()) return log_.warn(refused(hop.status()));
  listener->put(ArrivedCircuit{host::release(*std::move(hop)), setup});
}

std::shared_ptr<OpeningCircuit> Process::open_circuit(const ListenHandle& handle) {
  auto opening = std::make_shared<OpeningCircuit>();
  boost::asio::post(control_->io(), [this, handle, opening] {
    membership_.request_path(handle.node, [this, handle, opening](absl::StatusOr<std::vector<Hop>> path) {
      path.ok() ? dial(handle, *std::move(path), opening) : opening->finish(path.status());
    });
  });
  return opening;
}

void Process::dial(const ListenHandle& handle, std::vector<Hop> hops, const std::shared_ptr<OpeningCircuit>& opening) {
  CircuitSetup setup;
  setup.nonce = host::random_value<FlowNonce>();
  setup.flow = host::random_value<std::uint64_t>();
  setup.chunk_bytes = kChunkBytes;
  setup.budget_ms = static_cast<std::uint32_t>(kOpenLimit.count());
  setup.from_node = welcome_.node;
  setup.hops = std::move(hops);
  setup.hops.back().to_port = handle.port;
  add_flow_proof(handle.cookie, setup);
  const auto dialed = [setup, opening](absl::StatusOr<host::HopConnection> connection) {
    if (!connection.ok()) {
      return opening->finish(
          absl::Status(connection.status().code(),
                       absl::StrCat("no circuit ", describe_path(setup), ": ", connection.status().message())));
    }
    opening->finish(OpeningCircuit::Opened{*std::move(connection), setup});
  };
  dialer_->dial(setup, setup_key_, dialed);
}

void Process::close_connections(std::vector<host::UniqueFd> sockets) {
  for (host::UniqueFd& socket : sockets) host::close_lingering(control_->io(), std::move(socket));
}

void Process::watch(FlowComm* comm, FlowOpened report) {
  boost::asio::post(control_->io(),
                    [this, comm, report = std::move(report)] { membership_.reports().opened(comm, report); });
  const std::lock_guard lock(mutex_);
  watched_.insert(comm);
}

void Process::unwatch(FlowComm* comm, const std::string& failure) {
  boost::asio::post(control_->io(), [this, comm, failure] { membership_.reports().ended(comm, failure); });
  const std::lock_guard lock(mutex_);
  watched_.erase(comm);
}

void Process::run_checks() {
  if (stopping_) return;
  // A restarted node needs a session to know that it is in use, and to announce its new ports. It may not be up yet.
  membership_.rejoin_if_ended().IgnoreError();
  if (!listening_) listen_on(addresses_);
  host::VerbsDevices::of_this_process().check();
  {
    const std::lock_guard lock(mutex_);
    for (FlowComm* comm : watched_) {
      comm->check();
      report_failure(comm);
    }
  }
  checks_timer_->expires_after(kCheckInterval);
  checks_timer_->async_wait([this](boost::system::error_code stopped) {
    if (!stopped) run_checks();
  });
}

void Process::lose_port(const PortLost& lost) {
  const std::lock_guard lock(mutex_);
  for (FlowComm* comm : watched_) {
    comm->lose_port(lost);
    report_failure(comm);
  }
}

void Process::report_failure(FlowComm* comm) {
  if (const std::string failure = comm->failure(); !failure.empty()) membership_.reports().ended(comm, failure);
}

void Process::poll_idle_flows() {
  if (stopping_) return;
  {
    const std::lock_guard lock(mutex_);
    for (FlowComm* comm : watched_) comm->poll_if_idle();
  }
  poll_idle_timer_->expires_after(kPollIdleInterval);
  poll_idle_timer_->async_wait([this](boost::system::error_code stopped) {
    if (!stopped) poll_idle_flows();
  });
}

}  // namespace cableway::nccl
