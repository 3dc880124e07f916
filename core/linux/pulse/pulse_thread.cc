#include "core/linux/pulse/pulse_thread.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "core/linux/control/control_socket.h"

namespace cableway::host {
namespace {

constexpr std::chrono::seconds kRetryOpening{1};

Instant steady_now() {
  return Instant{std::chrono::steady_clock::now().time_since_epoch()};
}

// Requests the lowest real-time priority: it only has to precede ordinary threads. The thread runs for microseconds
// at a time.
void ask_for_priority() {
  sched_param lowest{};
  lowest.sched_priority = ::sched_get_priority_min(SCHED_RR);
  ::sched_setscheduler(0, SCHED_RR, &lowest);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PulseThread>> PulseThread::start(const Options& options, const DatagramSeal& seal,
                                                                Listener listener) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return absl::ErrnoToStatus(errno, "cannot create the eventfd of the pulses");
  std::unique_ptr<PulseThread> pulses(new PulseThread(options, seal, std::move(listener), std::move(wake)));
  pulses->thread_ = std::thread([raw = pulses.get()] { raw->run(); });
  return pulses;
}

PulseThread::PulseThread(const Options& options, const DatagramSeal& seal, Listener listener, UniqueFd wake)
    : options_(options),
      listener_(std::move(listener)),
      wake_(std::move(wake)),
      pulses_(options.interval, seal, *this) {}

PulseThread::~PulseThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void PulseThread::set_cables(std::vector<PulsedCable> cables) {
  if (cables.size() > Pulses::kMaxCables) cables.resize(Pulses::kMaxCables);
  std::optional<std::vector<PulsedCable>> wanted(std::move(cables));
  {
    const std::lock_guard lock(mutex_);
    wanted_.swap(wanted);
  }
  ::eventfd_write(wake_.get(), 1);
}

void PulseThread::run() {
  ask_for_priority();
  counters_ = std::make_unique<ReceiveCounters>();
  while (take_cables(steady_now())) {
    const Instant now = steady_now();
    if (now >= next_open_) open_sockets();
    if (now >= pulses_.next()) {
      counters_are_fresh_ = false;
      read_all(now);
      pulses_.tick(now);
    }
    sleep_until(pulses_.next());
  }
}

// False: the thread must stop.
bool PulseThread::take_cables(Instant now) {
  if (!std::exchange(woken_, false)) return true;
  eventfd_t ignored = 0;
  ::eventfd_read(wake_.get(), &ignored);
  std::optional<std::vector<PulsedCable>> wanted;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    wanted = std::exchange(wanted_, std::nullopt);
  }
  if (!wanted.has_value()) return true;
  std::map<std::string, Link> links;
  for (const PulsedCable& cable : *wanted) {
    const auto known = links_.find(cable.name);
    // Keeps the socket, with arrived pulses that were not read yet.
    if (known != links_.end() && is_same_link(known->second.cable, cable)) {
      known->second.cable = cable;
      links.insert(links_.extract(known));
    } else {
      Link link;
      link.cable = cable;
      links.insert_or_assign(cable.name, std::move(link));
    }
  }
  links_ = std::move(links);
  next_open_ = now;
  pulses_.set_cables(*std::move(wanted), now);
  return true;
}

void PulseThread::open_sockets() {
  bool all = true;
  for (auto& [name, link] : links_) {
    if (!link.socket.valid()) open(link);
    all = all && link.socket.valid();
  }
  next_open_ = steady_now() + (all ? std::chrono::hours(1) : Duration(kRetryOpening));
}

void PulseThread::open(Link& link) {
  absl::StatusOr<UniqueFd> socket =
      open_connected_socket(link.cable.own_address, link.cable.other_address, link.cable.own.port, options_.udp_port);
  if (socket.ok()) {
    link.socket = *std::move(socket);
    link.failure.clear();
    return;
  }
  std::string reason(socket.status().message());
  if (std::exchange(link.failure, reason) != reason) listener_.failed(link.cable, reason);
}

void PulseThread::read_all(Instant now) {
  for (auto& [name, link] : links_) {
    if (link.socket.valid()) read(link);
    link.probe.forget_old(now);
  }
}

void PulseThread::read(Link& link) {
  // The kernel reports errors of earlier sends before datagrams that arrived earlier.
  bool refused = false;
  for (int i = 0; i < kMaxReads; ++i) {
    std::array<Arrival, kMostAtOnce> arrivals;
    const std::variant<std::size_t, int> got =
        receive_datagrams(link.socket.get(), buffer_, kMaxDatagramBytes, arrivals);
    if (const int* error = std::get_if<int>(&got)) {
      if (*error == EAGAIN) break;
      refused = refused || *error == ECONNREFUSED;
      forget_refused(link.socket.get());
      continue;
    }
    const std::size_t count = std::get<std::size_t>(got);
    const Instant now = steady_now();
    for (std::size_t k = 0; k < count; ++k) take(link, arrivals[k], k * kMaxDatagramBytes, now);
    if (count < kMostAtOnce) break;
  }
  if (refused) pulses_.refused(link.cable.name, steady_now());
}

void PulseThread::take(const Link& link, const Arrival& arrival, std::size_t at, Instant now) {
  if (arrival.truncated || arrival.ttl != kControlTtl || arrival.interface != link.cable.own.port) return;
  pulses_.receive(link.cable.name, std::span(buffer_).subspan(at, std::min(arrival.bytes, kPulseBytes)), arrival.bytes,
                  Instant{now.since_start - arrival.waited});
}

// A failure is not handled here: the other end sees a missing pulse.
bool PulseThread::send(const PulsedCable& cable, std::span<const std::byte> bytes) {
  const auto found = links_.find(cable.name);
  if (found == links_.end() || !found->second.socket.valid()) return false;
  const auto send_once = [&] { return send_connected(found->second.socket.get(), bytes); };
  // The first call may report an error of an earlier pulse, and has then sent nothing. Nor has it if this host's
  // queue is full.
  const int error = send_once();
  if (error != 0) forget_refused(found->second.socket.get());
  const bool sent = error == 0 || send_once() == 0;
  if (error == ECONNREFUSED) pulses_.refused(cable.name, steady_now());
  return sent;
}

bool PulseThread::look_for_signs(const PulsedCable& cable) {
  const auto found = links_.find(cable.name);
  if (found == links_.end()) return false;
  Link& link = found->second;
  const Instant now = steady_now();
  const bool answered = link.probe.answered();
  if (!std::exchange(counters_are_fresh_, true)) counters_->refresh();
  const std::uint64_t packets = counters_->packets(cable.interface);
  const bool arrived = std::exchange(link.packets, packets) != packets && cable.only_neighbour;
  link.probe.ask(cable.own.port, cable.own_address, cable.other_address, options_.udp_port, now);
  return answered || arrived;
}

void PulseThread::sleep_until(Instant when) {
  const Duration left = std::max(Duration{0}, std::min(when, next_open_) - steady_now());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec timeout{seconds.count(), (left - seconds).count()};
  pollfd woken{wake_.get(), POLLIN, 0};
  woken_ = ::ppoll(&woken, 1, &timeout, nullptr) > 0;
}

}  // namespace cableway::host
