#include "tools/collperf/rendezvous.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway::collperf {
namespace {

using std::chrono::milliseconds;

constexpr char kProtocol[] = "cableway-collperf-1";
constexpr milliseconds kHelloTimeout{5000};   // for a connection that has not sent its hello
constexpr std::size_t kMaxUnidentified = 64;  // limit of such connections at a time
constexpr milliseconds kRetry{50};
// Members wait longer than rank 0, so that they receive its reason instead of reporting their own timeout.
constexpr milliseconds kMemberGrace{5000};
constexpr milliseconds kAbortTimeout{1000};
constexpr milliseconds kAliveInterval{500};

struct AddressList {
  addrinfo* first = nullptr;
  ~AddressList() {
    if (first != nullptr) freeaddrinfo(first);
  }
};

absl::Status resolve(const std::string& host, std::uint16_t port, AddressList& list) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list.first);
  if (error == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot resolve the rendezvous host '", host, "': ", gai_strerror(error)));
}

// A host's own name often is a loopback address on that host, where other hosts cannot connect.
bool is_name_of_loopback(const std::string& host, const addrinfo& address) {
  in6_addr ignored{};
  const bool is_number = inet_pton(AF_INET, host.c_str(), &ignored) == 1 || host.find(':') != std::string::npos;
  if (is_number || host == "localhost") return false;
  if (address.ai_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address.ai_addr)->sin6_addr);
  }
  const std::uint32_t v4 = ntohl(reinterpret_cast<const sockaddr_in*>(address.ai_addr)->sin_addr.s_addr);
  return v4 >> 24 == IN_LOOPBACKNET;
}

// Makes it the address that stands for all of this host's.
void widen(const addrinfo& address) {
  if (address.ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address.ai_addr)->sin6_addr = in6addr_any;
  } else {
    reinterpret_cast<sockaddr_in*>(address.ai_addr)->sin_addr.s_addr = htonl(INADDR_ANY);
  }
}

absl::StatusOr<OwnedFd> listen_at(const addrinfo& address) {
  OwnedFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return absl::InternalError(std::generic_category().message(errno));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 || listen(fd.get(), SOMAXCONN) != 0) {
    return absl::UnavailableError(std::generic_category().message(errno));
  }
  return fd;
}

absl::StatusOr<OwnedFd> connect_to(const addrinfo& address) {
  OwnedFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return absl::InternalError(std::generic_category().message(errno));
  // Bounds the blocking connect below.
  const timeval limit{1, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
    return absl::UnavailableError(std::generic_category().message(errno));
  }
  return fd;
}

// The options in which two ranks differ, each as "name (here x, there y)".
std::string differences(const nlohmann::json& here, const nlohmann::json& there) {
  std::vector<std::string> differences;
  for (const auto& [name, value] : here.items()) {
    const nlohmann::json other = there.is_object() ? there.value(name, nlohmann::json()) : nlohmann::json();
    if (other != value) differences.push_back(absl::StrCat(name, " (", value.dump(), " and ", other.dump(), ")"));
  }
  return absl::StrJoin(differences, ", ");
}

// All ranks' blobs in one payload.
std::string pack(const std::vector<std::string>& blobs) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& blob : blobs) {
    list.push_back(nlohmann::json::binary(std::vector<std::uint8_t>(blob.begin(), blob.end())));
  }
  const std::vector<std::uint8_t> packed = nlohmann::json::to_cbor(list);
  return {packed.begin(), packed.end()};
}

bool unpack(const std::string& packed, std::size_t count, std::vector<std::string>& blobs) {
  const nlohmann::json list =
      nlohmann::json::from_cbor(packed.begin(), packed.end(), /*strict=*/true, /*allow_exceptions=*/false);
  if (!list.is_array() || list.size() != count) return false;
  for (const nlohmann::json& item : list) {
    if (!item.is_binary()) return false;
    const auto& bytes = item.get_binary();
    blobs.emplace_back(bytes.begin(), bytes.end());
  }
  return true;
}

struct UnidentifiedRank {
  FrameSocket socket;
  Clock::time_point deadline;
};

void accept_unidentified(int listener, std::vector<UnidentifiedRank>& unidentified) {
  while (unidentified.size() < kMaxUnidentified) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    unidentified.push_back({FrameSocket(OwnedFd(fd), kHelloLimit), Clock::now() + kHelloTimeout});
  }
}

std::vector<int> descriptors(int listener, const std::vector<UnidentifiedRank>& unidentified) {
  std::vector<int> fds = {listener};
  for (const UnidentifiedRank& rank : unidentified) fds.push_back(rank.socket.fd());
  return fds;
}

}  // namespace

std::string Rendezvous::address() const {
  return absl::StrCat(options_.host, ":", options_.port);
}

std::string Rendezvous::missing_members() const {
  std::vector<int> missing;
  for (int rank = 1; rank < options_.ranks; ++rank) {
    if (peers_[static_cast<std::size_t>(rank)] == nullptr) missing.push_back(rank);
  }
  return absl::StrJoin(missing, ", ");
}

absl::StatusOr<std::unique_ptr<Rendezvous>> Rendezvous::join(RendezvousOptions options) {
  std::unique_ptr<Rendezvous> rendezvous(new Rendezvous(std::move(options)));
  rendezvous->peers_.resize(static_cast<std::size_t>(rendezvous->options_.ranks));
  absl::Status status = rendezvous->options_.rank == 0 ? rendezvous->join_as_root() : rendezvous->join_as_member();
  if (status.ok()) return rendezvous;
  if (rendezvous->options_.rank == 0) rendezvous->abort(std::string(status.message()));
  return status;
}

absl::Status Rendezvous::join_as_root() {
  AddressList addresses;
  if (absl::Status status = resolve(options_.host, options_.port, addresses); !status.ok()) return status;
  if (is_name_of_loopback(options_.host, *addresses.first)) widen(*addresses.first);
  absl::StatusOr<OwnedFd> listener = listen_at(*addresses.first);
  if (!listener.ok()) {
    return absl::UnavailableError(absl::StrCat("rank 0 cannot listen at ", address(), ": ", listener.status().message(),
                                               "; --rendezvous needs an address of rank 0's host and a free port"));
  }
  if (absl::Status status = admit_members(listener->get()); !status.ok()) return status;
  for (int rank = 1; rank < options_.ranks; ++rank) {
    FrameSocket& peer = *peers_[static_cast<std::size_t>(rank)];
    if (!peer.send(FrameType::kWelcome, "", Clock::now() + options_.timeout).ok()) {
      return absl::UnavailableError(absl::StrCat("rank ", rank, " left before all ranks had joined"));
    }
    peer.restart_silence();
  }
  return absl::OkStatus();
}

absl::Status Rendezvous::admit_members(int listener) {
  const Clock::time_point deadline = Clock::now() + options_.timeout;
  std::vector<UnidentifiedRank> unidentified;
  while (!missing_members().empty()) {
    if (Clock::now() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat(
          "rank 0 waited ", seconds_of(options_.timeout), " s at ", address(), " and rank ", missing_members(), " of ",
          options_.ranks, " did not join: were they started, and can they reach this address?"));
    }
    wait_readable(descriptors(listener, unidentified), kRetry);
    accept_unidentified(listener, unidentified);
    for (auto it = unidentified.begin(); it != unidentified.end();) {
      const absl::Status pumped = it->socket.pump();
      std::optional<Frame> hello = it->socket.take();
      if (hello.has_value()) {
        FrameSocket socket = std::move(it->socket);
        it = unidentified.erase(it);
        if (absl::Status status = admit(std::move(socket), *hello); !status.ok()) return status;
      } else if (!pumped.ok() || Clock::now() >= it->deadline) {
        it = unidentified.erase(it);  // not a rank of this run
      } else {
        ++it;
      }
    }
  }
  return absl::OkStatus();
}

// An error ends the run on all ranks; an untrusted peer is only disconnected.
absl::Status Rendezvous::admit(FrameSocket socket, const Frame& hello) {
  const nlohmann::json fields = nlohmann::json::parse(hello.payload, nullptr, /*allow_exceptions=*/false);
  if (hello.type != FrameType::kHello || !fields.is_object() ||
      fields.value("protocol", nlohmann::json()) != kProtocol || !fields.contains("rank") ||
      !fields["rank"].is_number_integer()) {
    return absl::OkStatus();
  }
  const std::int64_t rank = fields["rank"].get<std::int64_t>();
  std::string refusal;
  if (fields.value("ranks", nlohmann::json()) != options_.ranks) {
    refusal = absl::StrCat("a process joined with another number of ranks: ", options_.ranks, " and ",
                           fields.value("ranks", nlohmann::json()).dump());
  } else if (rank < 1 || rank >= options_.ranks) {
    refusal = absl::StrCat("a process joined as rank ", rank, " of ", options_.ranks);
  } else if (peers_[static_cast<std::size_t>(rank)] != nullptr) {
    refusal = absl::StrCat("two processes joined as rank ", rank);
  } else if (fields.value("agreement", nlohmann::json()) != options_.agreement) {
    refusal = absl::StrCat("rank 0 and rank ", rank, " were started with different options: ",
                           differences(options_.agreement, fields.value("agreement", nlohmann::json())));
  }
  if (!refusal.empty()) {
    (void)socket.send(FrameType::kAbort, refusal, Clock::now() + kAbortTimeout);
    return absl::InvalidArgumentError(refusal);
  }
  socket.set_payload_limit(kFrameLimit);
  peers_[static_cast<std::size_t>(rank)] = std::make_unique<FrameSocket>(std::move(socket));
  return absl::OkStatus();
}

absl::Status Rendezvous::join_as_member() {
  AddressList addresses;
  if (absl::Status status = resolve(options_.host, options_.port, addresses); !status.ok()) return status;
  const Clock::time_point deadline = Clock::now() + options_.timeout;
  while (peers_[0] == nullptr) {
    absl::StatusOr<OwnedFd> fd = connect_to(*addresses.first);
    if (fd.ok()) {
      peers_[0] = std::make_unique<FrameSocket>(*std::move(fd), kFrameLimit);
    } else if (Clock::now() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat("rank ", options_.rank, " cannot reach rank 0 at ", address(),
                                                      " (", fd.status().message(), "): is rank 0 running there?"));
    } else {
      std::this_thread::sleep_for(kRetry);
    }
  }
  const nlohmann::json hello = {
      {"protocol", kProtocol}, {"rank", options_.rank}, {"ranks", options_.ranks}, {"agreement", options_.agreement}};
  if (absl::Status status = peers_[0]->send(FrameType::kHello, hello.dump(), deadline + kMemberGrace); !status.ok()) {
    return absl::UnavailableError(absl::StrCat("rank 0 at ", address(), " does not accept data: ", status.message()));
  }
  return await_welcome();
}

absl::Status Rendezvous::await_welcome() {
  const Clock::time_point deadline = Clock::now() + options_.timeout + kMemberGrace;
  while (Clock::now() < deadline) {
    wait_readable({peers_[0]->fd()}, kRetry);
    const absl::Status pumped = peers_[0]->pump();
    if (std::optional<Frame> frame = peers_[0]->take(); frame.has_value()) {
      if (frame->type == FrameType::kWelcome) return absl::OkStatus();
      if (frame->type == FrameType::kAbort) return absl::AbortedError(frame->payload);
      return absl::InternalError(absl::StrCat("the process at ", address(), " is not rank 0 of this run"));
    }
    if (!pumped.ok()) {
      return absl::UnavailableError(
          absl::StrCat("rank 0 at ", address(), " closed the connection: ", pumped.message()));
    }
  }
  return absl::DeadlineExceededError(
      absl::StrCat("rank 0 at ", address(), " did not report that all ranks have joined"));
}

// Reads from all peers; the first failure is kept, and rank 0 forwards it.
absl::Status Rendezvous::pump_all() {
  for (std::size_t rank = 0; rank < peers_.size() && failure_.ok(); ++rank) {
    if (peers_[rank] == nullptr) continue;
    FrameSocket& peer = *peers_[rank];
    const absl::Status pumped = peer.pump();
    while (peer.next() == FrameType::kAlive) peer.take();
    if (peer.next() == FrameType::kAbort) {
      const std::string reason = peer.take()->payload;
      failure_ = absl::AbortedError(rank == 0 ? reason : absl::StrCat("rank ", rank, ": ", reason));
    } else if (!pumped.ok() && !peer.next().has_value()) {
      failure_ = absl::UnavailableError(absl::StrCat("rank ", rank, " is lost: ", pumped.message()));
    } else if (Clock::now() - peer.last_heard() > options_.timeout) {
      failure_ = absl::DeadlineExceededError(
          absl::StrCat("rank ", rank, " has been silent for ", seconds_of(options_.timeout), " s"));
    }
    if (!failure_.ok()) notify_members(std::string(failure_.message()), static_cast<int>(rank));
  }
  return failure_;
}

void Rendezvous::send_alive() {
  const Clock::time_point now = Clock::now();
  if (now < next_alive_) return;
  next_alive_ = now + kAliveInterval;
  for (const auto& peer : peers_) {
    // pump_all() detects a lost peer.
    if (peer != nullptr) (void)peer->send(FrameType::kAlive, "", now + kAbortTimeout);
  }
}

void Rendezvous::notify_members(const std::string& reason, int except_rank) {
  if (options_.rank != 0) return;
  for (int rank = 1; rank < options_.ranks; ++rank) {
    const auto& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank == except_rank || peer == nullptr) continue;
    (void)peer->send(FrameType::kAbort, reason, Clock::now() + kAbortTimeout);
  }
}

std::vector<int> Rendezvous::peer_descriptors() const {
  std::vector<int> fds;
  for (const auto& peer : peers_) {
    if (peer != nullptr) fds.push_back(peer->fd());
  }
  return fds;
}

absl::Status Rendezvous::check_peers() {
  send_alive();
  return pump_all();
}

absl::StatusOr<std::vector<std::string>> Rendezvous::all_gather(const std::string& blob) {
  return options_.rank == 0 ? gather_as_root(blob) : gather_as_member(blob);
}

absl::StatusOr<std::vector<std::string>> Rendezvous::gather_as_root(const std::string& blob) {
  std::vector<std::string> blobs(peers_.size());
  blobs[0] = blob;
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    while (peers_[rank]->next() != FrameType::kGather) {
      if (absl::Status status = check_peers(); !status.ok()) return status;
      if (peers_[rank]->next().value_or(FrameType::kGather) != FrameType::kGather) {
        return absl::InternalError(absl::StrCat("rank ", rank, " is out of step with rank 0"));
      }
      if (!peers_[rank]->next().has_value()) wait_readable(peer_descriptors(), kRetry);
    }
    blobs[rank] = peers_[rank]->take()->payload;
  }
  const std::string all = pack(blobs);
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    const absl::Status sent = peers_[rank]->send(FrameType::kGathered, all, Clock::now() + options_.timeout);
    if (!sent.ok()) return absl::UnavailableError(absl::StrCat("rank ", rank, ": ", sent.message()));
  }
  return blobs;
}

absl::StatusOr<std::vector<std::string>> Rendezvous::gather_as_member(const std::string& blob) {
  FrameSocket& root = *peers_[0];
  const absl::Status sent = root.send(FrameType::kGather, blob, Clock::now() + options_.timeout);
  // If rank 0 is lost, its last frame gives the reason.
  for (;;) {
    if (absl::Status status = check_peers(); !status.ok()) return status;
    if (!sent.ok()) return absl::UnavailableError(absl::StrCat("rank 0: ", sent.message()));
    if (root.next().has_value()) break;
    wait_readable({root.fd()}, kRetry);
  }
  std::vector<std::string> blobs;
  if (root.next() != FrameType::kGathered || !unpack(root.take()->payload, peers_.size(), blobs)) {
    return absl::InternalError("rank 0 is out of step with this rank");
  }
  return blobs;
}

void Rendezvous::abort(const std::string& reason) {
  const Clock::time_point deadline = Clock::now() + kAbortTimeout;
  for (const auto& peer : peers_) {
    if (peer == nullptr) continue;
    (void)peer->send(FrameType::kAbort, reason, deadline);
    peer->shutdown();
  }
  // Closing a socket with unread data resets the connection, which would discard the reason.
  for (auto& peer : peers_) {
    while (peer != nullptr && Clock::now() < deadline) {
      while (peer->take().has_value()) continue;
      if (!peer->pump().ok()) break;
      wait_readable({peer->fd()}, kRetry);
    }
    peer.reset();
  }
}

}  // namespace cableway::collperf
