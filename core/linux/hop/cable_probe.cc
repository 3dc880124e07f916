#include "core/linux/hop/cable_probe.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <map>
#include <set>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/handshake.h"
#include "core/flow/chunk_link.h"
#include "core/linux/hop/asio_connection.h"
#include "core/linux/hop/rdma_probe.h"
#include "core/linux/os/random_value.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/tcp/data_socket.h"
#include "core/linux/tcp/lingering_close.h"

namespace cableway::host {
namespace {

using boost::asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::uint64_t kDialerSends = 0;  // offset of a probe
constexpr std::uint64_t kDialerReceives = 1;
constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 30;
constexpr std::size_t kPieceBytes = 256U << 10;
constexpr milliseconds kMaxWait{2000};  // for one system call
constexpr milliseconds kGrace{2000};    // data may arrive this much later than the test's duration

absl::Status failed(absl::string_view what) {
  const int error = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINPROGRESS ? ETIMEDOUT : errno;
  return absl::ErrnoToStatus(error, what);
}

absl::Status limit_waits(int socket) {
  const timeval limit{.tv_sec = kMaxWait / std::chrono::seconds(1), .tv_usec = 0};
  const int flags = ::fcntl(socket, F_GETFL);
  if (::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0 ||
      ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0 ||
      ::fcntl(socket, F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "cannot limit the waits of a cable test");
  }
  return absl::OkStatus();
}

absl::Status send_bytes(int socket, std::span<const std::byte> bytes) {
  const ssize_t sent = uninterrupted([&] { return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  return sent == static_cast<ssize_t>(bytes.size()) ? absl::OkStatus() : failed("cannot send");
}

absl::Status send_answer(int socket, const SetupAnswer& answer, std::optional<CircuitSeal>& seal) {
  std::vector<std::byte> bytes = encode_setup_answer(answer);
  if (seal) seal->append_next(bytes);
  return send_bytes(socket, bytes);
}

absl::Status send_ack(int socket, const Frame& ack) {
  return send_bytes(socket, encode_frame(ack));
}

// Whether the socket has data or has ended, now or within `wait`. Nothing arrives on it while data moves over RDMA.
bool is_readable(int socket, milliseconds wait = milliseconds(0)) {
  pollfd wanted{socket, POLLIN, 0};
  return uninterrupted([&] { return ::poll(&wanted, 1, static_cast<int>(wait.count())); }) != 0;
}

absl::Status read_whole(int socket, std::span<std::byte> bytes) {
  const ssize_t got = uninterrupted([&] { return ::recv(socket, bytes.data(), bytes.size(), MSG_WAITALL); });
  if (got == static_cast<ssize_t>(bytes.size())) return absl::OkStatus();
  return got < 0 ? failed("no answer") : absl::UnavailableError("the connection ended too early");
}

absl::StatusOr<Frame> read_frame(int socket) {
  FrameBytes bytes;
  if (absl::Status status = read_whole(socket, bytes); !status.ok()) return status;
  return decode_frame(bytes);
}

// Reads until the handshake needs no more input.
absl::Status advance(int socket, DialHandshake& handshake) {
  std::vector<std::byte> bytes;
  while (handshake.bytes_needed() > 0) {
    bytes.resize(handshake.bytes_needed());
    absl::Status status = read_whole(socket, bytes);
    status = status.ok() ? handshake.take(bytes) : handshake.ended(status.message());
    if (was_received(status) || refused_for_room(status)) {
      return absl::UnavailableError(absl::StrCat("the neighbour refused: ", status.message()));
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Sends the probe and waits until it is accepted. Returns the neighbour's end of the transport if it accepted the
// offer.
absl::StatusOr<std::optional<TransportOffer>> send_probe(int socket, const ProbeOpening& opening,
                                                         const std::optional<SubKey>& key) {
  DialHandshake handshake(key, random_value<Challenge>());
  absl::Status status;
  if (!handshake.may_open()) {
    status = send_bytes(socket, handshake.begin());
    if (status.ok()) status = advance(socket, handshake);
  }
  if (status.ok()) status = send_bytes(socket, handshake.open(encode_probe(opening)));
  if (status.ok()) status = advance(socket, handshake);
  if (!status.ok()) return status;
  absl::StatusOr<SetupAnswer> answer = decode_setup_answer(handshake.answer(), handshake.answer_body());
  if (!answer.ok()) return answer.status();
  if (answer->taken && !opening.offered)
    return absl::InvalidArgumentError("the neighbour answered with a transport that was not offered");
  return std::move(answer->taken);
}

absl::Status send_data(int socket, milliseconds duration) {
  const std::vector<std::byte> piece(kPieceBytes);
  const auto end = steady_clock::now() + duration;
  for (std::uint64_t sent = 0; sent < kMaxBytes && steady_clock::now() < end;) {
    const ssize_t taken = uninterrupted([&] { return ::send(socket, piece.data(), piece.size(), MSG_NOSIGNAL); });
    if (taken <= 0) return failed("cannot send");
    sent += static_cast<std::uint64_t>(taken);
  }
  return absl::OkStatus();
}

// Returns how many bytes arrived until the sender shut down.
absl::StatusOr<std::uint64_t> receive_data(int socket, milliseconds duration) {
  const auto limit = steady_clock::now() + duration + kGrace;
  std::vector<std::byte> piece(kPieceBytes);
  for (std::uint64_t taken = 0; taken <= kMaxBytes + kPieceBytes;) {
    // MSG_TRUNC discards the data, so the kernel need not copy it.
    const ssize_t got = uninterrupted([&] { return ::recv(socket, piece.data(), piece.size(), MSG_TRUNC); });
    if (got < 0) return failed("cannot receive");
    if (got == 0) return taken;
    taken += static_cast<std::uint64_t>(got);
    if (steady_clock::now() > limit) return absl::DeadlineExceededError("the data did not end in time");
  }
  return absl::ResourceExhaustedError("more data than a test may send");
}

std::uint64_t rate_mbps(std::uint64_t bytes, steady_clock::duration took) {
  const auto us = std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count(), 1);
  return bytes * 8 / static_cast<std::uint64_t>(us);
}

absl::StatusOr<Frame> read_ack(int socket) {
  absl::StatusOr<Frame> arrived = read_frame(socket);
  if (arrived.ok() && arrived->kind != FrameKind::kAck) {
    return absl::UnavailableError(
        absl::StrCat("the neighbour answered with a frame ", to_text(arrived->kind), ", expected ack"));
  }
  return arrived;
}

absl::StatusOr<UniqueFd> make_socket(const CableProbePlan& plan) {
  const absl::StatusOr<boost::asio::ip::address> from = parse_address(plan.from_address);
  if (!from.ok()) return from.status();
  UniqueFd socket(::socket(from->is_v6() ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return failed("cannot create a socket");
  if (absl::Status status = prepare_data_socket(socket.get()); !status.ok()) return status;
  if (absl::Status status = limit_waits(socket.get()); !status.ok()) return status;
  const int yes = 1;
  static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, SO_DONTROUTE, &yes, sizeof yes));
  const tcp::endpoint here(*from, 0);
  if (::bind(socket.get(), here.data(), static_cast<socklen_t>(here.size())) != 0) {
    return failed(absl::StrCat("cannot use ", plan.from_address, " as source address"));
  }
  return socket;
}

struct Measured {
  std::uint64_t mbps = 0;
  std::string over;
  std::uint32_t packet_bytes = 0;
};

absl::StatusOr<Measured> measure_rdma(int socket, RdmaProbe& rdma, const CableProbePlan& plan,
                                      std::uint64_t direction) {
  Measured measured{0, rdma.name(), rdma.packet_bytes()};
  if (direction == kDialerSends) {
    const absl::StatusOr<ProbeData> sent = rdma.send(plan.duration, [socket] { return is_readable(socket); });
    if (!sent.ok()) return sent.status();
    measured.mbps = rate_mbps(sent->bytes, sent->took);
    if (::shutdown(socket, SHUT_WR) != 0) return failed("cannot shut down the connection");
  } else {
    if (absl::Status ready = send_ack(socket, Frame{FrameKind::kAck, 0, 0, 0, 0}); !ready.ok()) return ready;
    if (!is_readable(socket, plan.duration + kGrace)) return absl::DeadlineExceededError("no answer after the data");
  }
  const absl::StatusOr<Frame> arrived = read_ack(socket);
  if (!arrived.ok()) return arrived.status();
  if (direction == kDialerReceives) measured.mbps = arrived->size;
  return measured;
}

absl::StatusOr<Measured> measure_tcp(int socket, const CableProbePlan& plan, std::uint64_t direction) {
  const auto begin = steady_clock::now();
  absl::StatusOr<std::uint64_t> bytes = 0;
  if (direction == kDialerReceives) {
    bytes = receive_data(socket, plan.duration);
  } else {
    if (absl::Status status = send_data(socket, plan.duration); !status.ok()) return status;
    if (::shutdown(socket, SHUT_WR) != 0) return failed("cannot shut down the connection");
    const absl::StatusOr<Frame> arrived = read_ack(socket);
    bytes = arrived.ok() ? absl::StatusOr<std::uint64_t>(arrived->size) : arrived.status();
  }
  if (!bytes.ok()) return bytes.status();
  return Measured{rate_mbps(*bytes, steady_clock::now() - begin), "tcp", 0};
}

absl::StatusOr<Measured> measure(int socket, const CableProbePlan& plan, std::uint64_t direction, RdmaProbe rdma) {
  const absl::StatusOr<boost::asio::ip::address> to = parse_address(plan.to_address);
  if (!to.ok()) return to.status();
  const tcp::endpoint there(*to, plan.to_port);
  if (::connect(socket, there.data(), static_cast<socklen_t>(there.size())) != 0) {
    return failed(absl::StrCat("cannot reach ", plan.to_address, " TCP port ", plan.to_port));
  }
  absl::StatusOr<std::optional<TransportOffer>> offered = rdma.open(plan.from_address);
  if (!offered.ok()) return offered.status();
  const auto size = static_cast<std::uint64_t>(plan.duration.count());
  const ProbeOpening opening{Frame{FrameKind::kProbe, 0, 0, direction, size}, *std::move(offered)};
  const absl::StatusOr<std::optional<TransportOffer>> taken = send_probe(socket, opening, plan.key);
  if (!taken.ok()) return taken.status();
  if (!taken->has_value()) {
    if (absl::Status missing = rdma.check_missing_there(); !missing.ok()) return missing;
    return measure_tcp(socket, plan, direction);
  }
  if (absl::Status joined = rdma.join(**taken, plan.to_address); !joined.ok()) return joined;
  return measure_rdma(socket, rdma, plan, direction);
}

// The end that serves a test.
struct Served {
  ProbeOpening opening;
  std::optional<CircuitSeal> seal;
  std::string own_address;
  std::string other_address;
};

// Accepts the offered transport if this end also has it.
absl::StatusOr<SetupAnswer> take_offer(const Served& served, RdmaProbe& rdma) {
  SetupAnswer answer;
  if (!served.opening.offered) {
    if (absl::Status missing = rdma.check_missing_there(); !missing.ok()) return missing;
    return answer;
  }
  absl::StatusOr<std::optional<TransportOffer>> own = rdma.open(served.own_address);
  if (!own.ok()) return own.status();
  if (!own->has_value()) return answer;
  if (absl::Status joined = rdma.join(*served.opening.offered, served.other_address); !joined.ok()) return joined;
  answer.taken = *std::move(own);
  return answer;
}

// Returns the ack to be sent, if any. Neither the ack nor the end of the data is sent here: a peer that sees a test end
// may begin the next one at once, and must not be refused because this one is still running.
std::optional<Frame> answer_probe(int socket, Served served, RdmaProbe rdma) {
  const Frame& probe = served.opening.probe;
  const milliseconds duration(static_cast<std::int64_t>(probe.size));
  if (!limit_waits(socket).ok()) return std::nullopt;
  const absl::StatusOr<SetupAnswer> answer = take_offer(served, rdma);
  if (!answer.ok()) {
    send_bytes(socket, refusal(answer.status().message(), FailureScope::kCircuit, served.seal)).IgnoreError();
    return std::nullopt;
  }
  if (!send_answer(socket, *answer, served.seal).ok()) return std::nullopt;
  Frame ack{FrameKind::kAck, 0, 0, 0, 0};
  if (answer->taken && probe.offset == kDialerReceives) {
    // Writes to a queue pair that is not connected yet would be retransmitted a second later.
    if (!is_readable(socket, 2 * kGrace) || !read_ack(socket).ok()) return std::nullopt;
    const absl::StatusOr<ProbeData> sent = rdma.send(duration, [socket] { return is_readable(socket); });
    if (!sent.ok()) return std::nullopt;
    ack.size = rate_mbps(sent->bytes, sent->took);
    return ack;
  }
  if (answer->taken) return is_readable(socket, duration + 2 * kGrace) ? std::optional(ack) : std::nullopt;
  if (probe.offset == kDialerReceives) {
    send_data(socket, duration).IgnoreError();  // the dialing end sees how much arrived
    return std::nullopt;
  }
  const absl::StatusOr<std::uint64_t> bytes = receive_data(socket, duration);
  if (!bytes.ok()) return std::nullopt;
  ack.size = *bytes;
  return ack;
}

}  // namespace

struct CableProbes::State : std::enable_shared_from_this<State> {
  // Identifies one direction of a port.
  using Lane = std::pair<std::string, bool>;  // address here, and whether this end sends
  struct Job {
    Lane lane;
    UniqueFd socket;
    std::thread thread;
  };

  explicit State(boost::asio::io_context& context) : io(context) {}

  boost::asio::io_context& io;
  std::map<std::uint64_t, Job> jobs;
  std::set<Lane> lanes;
  std::uint64_t last = 0;

  // Runs `work` on its own thread. Then frees the lane and runs `then` on `io`'s thread, with `unstarted` if no thread
  // could be created. After that the connection ends.
  template <typename Result, typename Work, typename Then>
  void start(const Lane& lane, UniqueFd socket, Work work, Then then, Result unstarted) {
    const std::uint64_t id = ++last;
    lanes.insert(lane);
    Job& job = jobs[id];
    job.lane = lane;
    job.socket = std::move(socket);
    const auto report = [this_io = &io, weak = weak_from_this(), id, then](Result result) {
      boost::asio::post(*this_io, [weak, id, then, result] {
        const auto self = weak.lock();
        if (self == nullptr) return;
        UniqueFd connection = self->finish(id);
        if (!connection.valid()) return;
        then(result, connection.get());
        close_lingering(self->io, std::move(connection));
      });
    };
    try {
      job.thread = std::thread([report, fd = job.socket.get(), work] { report(work(fd)); });
    } catch (const std::system_error&) {
      report(unstarted);
    }
  }

  UniqueFd finish(std::uint64_t id) {
    const auto entry = jobs.find(id);
    if (entry == jobs.end()) return UniqueFd();
    Job job = std::move(entry->second);
    jobs.erase(entry);
    lanes.erase(job.lane);
    if (job.thread.joinable()) job.thread.join();
    return std::move(job.socket);
  }

  void end() {
    for (auto& [id, job] : jobs) {
      ::shutdown(job.socket.get(), SHUT_RDWR);
      if (job.thread.joinable()) job.thread.join();
    }
    jobs.clear();
  }
};

CableProbes::CableProbes(boost::asio::io_context& io, const Settings& settings, VerbsHost host)
    : state_(std::make_shared<State>(io)), settings_(settings), host_(std::move(host)) {}

CableProbes::~CableProbes() {
  state_->end();
}

std::size_t CableProbes::running() const {
  return state_->jobs.size();
}

void CableProbes::run(const std::vector<CableProbePlan>& plans, Done done) {
  struct Test {
    std::vector<CableRates> rates;
    std::size_t left = 0;
    Done done;
  };
  const auto test = std::make_shared<Test>();
  test->rates.resize(plans.size());
  test->done = std::move(done);
  for (const CableProbePlan& plan : plans) test->left += plan.both_ways ? 2 : 1;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto finish = [test, i, cable = plans[i].cable](std::uint64_t direction,
                                                          const absl::StatusOr<Measured>& measured) {
      CableRates& rates = test->rates[i];
      if (measured.ok()) {
        (direction == kDialerSends ? rates.to_mbps : rates.from_mbps) = measured->mbps;
        rates.over = measured->over;
        rates.packet_bytes = measured->packet_bytes;
      } else {
        rates.error = absl::StrCat("cable ", cable, ": ", measured.status().message());
      }
      if (--test->left == 0) test->done(test->rates);
    };
    start(plans[i], kDialerSends, finish);
    if (plans[i].both_ways) start(plans[i], kDialerReceives, finish);
  }
}

template <typename Finish>
void CableProbes::start(const CableProbePlan& plan, std::uint64_t direction, const Finish& finish) {
  const State::Lane lane(plan.from_address, direction == kDialerSends);
  absl::StatusOr<UniqueFd> socket = state_->lanes.contains(lane)
                                        ? absl::ResourceExhaustedError("a test of this port is already running")
                                        : make_socket(plan);
  if (!socket.ok()) {
    boost::asio::post(state_->io, [finish, direction, status = socket.status()] { finish(direction, status); });
    return;
  }
  const absl::StatusOr<Measured> unstarted = absl::ResourceExhaustedError("cannot create a thread for the test");
  state_->start(
      lane, *std::move(socket),
      [plan, direction, settings = settings_, host = host_](int fd) {
        return measure(fd, plan, direction, RdmaProbe(settings, host));
      },
      [finish, direction](const absl::StatusOr<Measured>& measured, int) { finish(direction, measured); }, unstarted);
}

void CableProbes::serve(ArrivedProbe arrived) {
  const bool sends = arrived.opening.probe.offset == kDialerReceives;
  Served served{std::move(arrived.opening), std::move(arrived.seal), arrived.connection->own_address(),
                arrived.connection->other_address()};
  const State::Lane lane("served " + served.own_address, sends);
  if (state_->lanes.contains(lane)) {
    return ArrivedProbe{std::move(arrived.connection), std::move(served.opening), std::move(served.seal)}.refuse(
        "another test of this port is running");
  }
  const auto work = [served = std::move(served), settings = settings_, host = host_](int fd) {
    return answer_probe(fd, served, RdmaProbe(settings, host));
  };
  // The send buffer has room: only the answer was sent in this direction.
  const auto finish = [](const std::optional<Frame>& ack, int fd) {
    if (ack) send_ack(fd, *ack).IgnoreError();
  };
  state_->start(lane, release_socket(std::move(arrived.connection)), work, finish, std::optional<Frame>());
}

}  // namespace cableway::host
