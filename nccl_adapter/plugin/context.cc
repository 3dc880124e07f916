#include "nccl_adapter/plugin/context.h"

#include <sys/random.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/files/settings_reader.h"
#include "core/linux/os/own_library.h"
#include "core/settings/settings.h"
#include "nccl_adapter/algorithm/tuner_cabling.h"
#include "nccl_adapter/process/fork_guard.h"

namespace cableway::nccl {
namespace {

// Finds cablewayd relative to the library, both in the build tree and in packages.
absl::StatusOr<std::string> find_daemon(const Settings& settings) {
  if (!settings.daemon.empty()) return settings.daemon;
  const std::filesystem::path file = host::own_library();
  if (file.empty()) return absl::InternalError("cannot determine where the plugin was loaded from");
  const std::filesystem::path folder = file.parent_path();
  for (const std::filesystem::path& place : {folder.parent_path() / "bin" / "cablewayd", folder / "cablewayd"}) {
    if (::access(place.c_str(), X_OK) == 0) return place.string();
  }
  return absl::NotFoundError(
      absl::StrCat("no cablewayd beside ", file.string(), ": install it, or set CABLEWAY_DAEMON"));
}

// The plugin's only mutable globals. Never destroyed: NCCL may make calls while the process exits.
struct Shared {
  std::mutex mutex;
  std::weak_ptr<Process> process;              // the only one, while any context uses it
  std::multiset<std::uint64_t> communicators;  // ids of those that have a context
  std::unique_ptr<Context> legacy;             // shared by v8 to v10, whose functions have no context argument
};

Shared& shared() {
  static Shared& instance = *new Shared;
  return instance;
}

absl::StatusOr<std::shared_ptr<Process>> join_process(Log log) {
  const std::lock_guard lock(shared().mutex);
  if (std::shared_ptr<Process> process = shared().process.lock()) return process;
  absl::StatusOr<Settings> settings =
      host::read_settings({.environment = environ, .host_name = host::host_name(), .options = {}});
  if (!settings.ok()) return settings.status();
  absl::StatusOr<std::string> daemon = find_daemon(*settings);
  if (!daemon.ok()) return daemon.status();
  absl::StatusOr<std::shared_ptr<Process>> process = Process::start(*settings, *daemon, log);
  if (process.ok()) shared().process = *process;
  return process;
}

// A missing prerequisite of this host, such as the daemon, does not mean that a flow has ended (abi/result.h).
absl::Status as_lack(const absl::Status& status) {
  return absl::IsNotFound(status) ? absl::FailedPreconditionError(status.message()) : status;
}

std::uint64_t read_ticket(const void* handle) {
  std::uint64_t ticket = 0;
  std::memcpy(&ticket, static_cast<const std::byte*>(handle) + kListenHandleScratch, sizeof ticket);
  return ticket;
}

void write_ticket(void* handle, std::uint64_t ticket) {
  std::memcpy(static_cast<std::byte*>(handle) + kListenHandleScratch, &ticket, sizeof ticket);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Context>> Context::create(Log log, std::optional<std::uint64_t> communicator) {
  absl::StatusOr<std::shared_ptr<Process>> process = join_process(log);
  if (!process.ok()) return as_lack(process.status());
  return std::unique_ptr<Context>(new Context(*std::move(process), communicator));
}

absl::StatusOr<Context*> Context::legacy(Log log) {
  // create() also takes the lock, and v8 to v10 initialise only once: two concurrent calls waste one context.
  absl::StatusOr<std::unique_ptr<Context>> context = create(log, std::nullopt);
  if (!context.ok()) return context.status();
  const std::lock_guard lock(shared().mutex);
  if (shared().legacy == nullptr) shared().legacy = *std::move(context);
  return shared().legacy.get();
}

Context* Context::legacy() {
  // A lock may have been held when the process forked; the child has no other thread that could change what it
  // protects.
  if (in_forked_child()) return shared().legacy.get();
  const std::lock_guard lock(shared().mutex);
  return shared().legacy.get();
}

absl::StatusOr<std::shared_ptr<const Process>> Context::this_process() {
  if (in_forked_child()) return forked_child_error();
  const std::lock_guard lock(shared().mutex);
  std::shared_ptr<const Process> process = shared().process.lock();
  if (process == nullptr) return absl::FailedPreconditionError("init has not succeeded");
  return process;
}

bool Context::serves(std::uint64_t communicator) {
  if (in_forked_child()) return false;
  const std::lock_guard lock(shared().mutex);
  return shared().communicators.contains(communicator);
}

Context::Context(std::shared_ptr<Process> process, std::optional<std::uint64_t> communicator)
    : process_(std::move(process)),
      communicator_(communicator),
      tuner_(tuner_mark(tuner_cabling(process_->settings(), communicator.has_value(), ::getenv("NCCL_NET")))) {
  if (!communicator_) return;
  const std::lock_guard lock(shared().mutex);
  shared().communicators.insert(*communicator_);
}

Context::~Context() {
  if (communicator_) {
    const std::lock_guard lock(shared().mutex);
    shared().communicators.extract(*communicator_);
  }
  constexpr const char* kFinalized = "its communicator was finalized before it was closed";
  for (auto& [comm, owned] : flows_) abandon(*owned, kFinalized);
  for (auto& [ticket, opening] : opening_) abandon(*opening, kFinalized);
  for (auto& [listener, owned] : listeners_) stop_listening(*owned);
}

void Context::abandon(FlowComm& comm, const char* reason) {
  std::vector<host::UniqueFd> connections = comm.abandon(reason);
  process_->closed(&comm, comm.failure());
  process_->close_connections(std::move(connections));
}

void Context::stop_listening(ListenComm& listener) {
  process_->remove_listener(listener);
  for (const std::shared_ptr<RecvComm>& flow : listener.close()) abandon(*flow, kNeverAccepted);
}

absl::StatusOr<ListenComm*> Context::listen(void* handle) {
  Cookie cookie;
  if (::getrandom(cookie.data(), cookie.size(), 0) != static_cast<ssize_t>(cookie.size())) {
    return absl::InternalError("the kernel returned no random bytes");
  }
  auto listener = std::make_shared<ListenComm>(*this, cookie);
  absl::StatusOr<ListenHandle> listening = process_->add_listener(listener);
  if (!listening.ok()) return listening.status();
  listening->tuner = tuner_;
  const auto bytes = encode_listen_handle(*listening);
  std::memcpy(handle, bytes.data(), bytes.size());
  const std::lock_guard lock(mutex_);
  listeners_[listener.get()] = listener;
  return listener.get();
}

absl::StatusOr<SendComm*> Context::connect(void* handle) {
  if (const std::uint64_t ticket = read_ticket(handle); ticket != 0) return take_opened(ticket);
  const std::span<const std::byte, kListenHandleBytes> bytes(static_cast<const std::byte*>(handle), kListenHandleBytes);
  absl::StatusOr<ListenHandle> peer = decode_listen_handle(bytes);
  if (!peer.ok()) return peer.status();
  if (absl::Status status = check_tuner_mark(tuner_, peer->tuner, peer->node); !status.ok()) return status;
  std::shared_ptr<SendComm> opening = process_->open_flow(*this, *peer);
  const std::lock_guard lock(mutex_);
  write_ticket(handle, next_ticket_);
  opening_.emplace(next_ticket_++, std::move(opening));
  return nullptr;
}

absl::StatusOr<SendComm*> Context::take_opened(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  const auto entry = opening_.find(ticket);
  if (entry == opening_.end()) {
    return absl::InvalidArgumentError("the handle is damaged: no connection is being opened with it");
  }
  const absl::StatusOr<bool> opened = entry->second->opened();
  if (opened.ok() && !*opened) return nullptr;
  const std::shared_ptr<SendComm> comm = std::move(entry->second);
  opening_.erase(entry);
  if (opened.ok()) return keep(comm);
  process_->closed(comm.get(), "");
  return opened.status();
}

absl::StatusOr<RecvComm*> Context::accept(ListenComm* listener) {
  const std::shared_ptr<RecvComm> comm = listener->take();
  if (comm == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  return keep(comm);
}

template <typename Comm>
Comm* Context::keep(const std::shared_ptr<Comm>& comm) {
  process_->in_use(comm.get());
  flows_.emplace(comm.get(), comm);
  return comm.get();
}

absl::Status Context::close(FlowComm* comm) {
  std::shared_ptr<FlowComm> owned;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = flows_.find(comm);
    if (entry == flows_.end()) return absl::InvalidArgumentError("close of a comm that is not open");
    owned = std::move(entry->second);
    flows_.erase(entry);
  }
  std::vector<host::UniqueFd> connections = owned->close();
  process_->closed(comm, owned->failure());
  process_->close_connections(std::move(connections));
  return absl::OkStatus();
}

absl::Status Context::close(ListenComm* listener) {
  std::shared_ptr<ListenComm> owned;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = listeners_.find(listener);
    if (entry == listeners_.end()) return absl::InvalidArgumentError("closeListen of a comm that is not open");
    owned = std::move(entry->second);
    listeners_.erase(entry);
  }
  stop_listening(*owned);
  return absl::OkStatus();
}

}  // namespace cableway::nccl
