#include "core/linux/ports/netlink_watch.h"

#include <linux/rtnetlink.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/ports/netlink_message.h"

namespace cableway::host {
namespace {

using boost::system::error_code;

constexpr std::chrono::seconds kRetry{1};
// The delays of re-reads after a loss, each counted from the previous one. The kernel reports one loss at once, and
// those within the next second at its end. So if two ports fail together, as those of one plug do, the second
// notification would be late; a read shows the loss.
constexpr std::array kLossRereads{std::chrono::milliseconds(3), std::chrono::milliseconds(10),
                                  std::chrono::milliseconds(50), std::chrono::milliseconds(200),
                                  std::chrono::milliseconds(800)};
constexpr int kNotificationBufferBytes = 1 << 20;  // the kernel caps it at net.core.rmem_max
constexpr int kMaxPerTurn = 256;
constexpr int kDumpTries = 4;
constexpr timeval kDumpLimit{5, 0};  // a safeguard: the kernel answers within the call

struct FreeSocket {
  void operator()(nl_sock* socket) const { nl_socket_free(socket); }
};
using NetlinkSocket = std::unique_ptr<nl_sock, FreeSocket>;

struct FreeMessage {
  void operator()(nl_msg* message) const { nlmsg_free(message); }
};

absl::Status netlink_error(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat("cannot ", what, ": ", nl_geterror(error)));
}

struct FreeCallbacks {
  void operator()(nl_cb* callbacks) const { nl_cb_put(callbacks); }
};

using OnMessage = int (*)(nl_msg*, void*);

absl::StatusOr<NetlinkSocket> open_socket(OnMessage on_message, void* argument) {
  NetlinkSocket socket(nl_socket_alloc());
  if (socket == nullptr) return netlink_error("create a netlink socket", -NLE_NOMEM);
  if (const int error = nl_connect(socket.get(), NETLINK_ROUTE); error < 0) {
    return netlink_error("open rtnetlink", error);
  }
  nl_socket_enable_msg_peek(socket.get());
  nl_socket_modify_cb(socket.get(), NL_CB_VALID, NL_CB_CUSTOM, on_message, argument);
  return socket;
}

// Requests a dump of one kind. -NLE_DUMP_INTR: the data changed meanwhile, and the dump may be inconsistent.
int dump_once(nl_sock* socket, int type) {
  const std::unique_ptr<nl_msg, FreeMessage> request(nlmsg_alloc_simple(type, NLM_F_REQUEST | NLM_F_DUMP));
  if (request == nullptr) return -NLE_NOMEM;
  if (type == RTM_GETLINK) {
    ifinfomsg header{};
    if (const int error = nlmsg_append(request.get(), &header, sizeof header, NLMSG_ALIGNTO); error < 0) return error;
    if (const int error = nla_put_u32(request.get(), IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS); error < 0) return error;
  } else {
    ifaddrmsg header{};
    if (const int error = nlmsg_append(request.get(), &header, sizeof header, NLMSG_ALIGNTO); error < 0) return error;
  }
  if (const int error = nl_send_auto(socket, request.get()); error < 0) return error;
  return nl_recvmsgs_default(socket);
}

// `collected` is emptied before each try.
template <typename Collected>
absl::StatusOr<Collected> dump(int type, OnMessage on_message, absl::string_view what) {
  Collected collected;
  int error = -NLE_DUMP_INTR;
  for (int attempt = 0; attempt < kDumpTries && error == -NLE_DUMP_INTR; ++attempt) {
    collected.clear();
    absl::StatusOr<NetlinkSocket> socket = open_socket(on_message, &collected);
    if (!socket.ok()) return socket.status();
    ::setsockopt(nl_socket_get_fd(socket->get()), SOL_SOCKET, SO_RCVTIMEO, &kDumpLimit, sizeof kDumpLimit);
    error = dump_once(socket->get(), type);
  }
  if (error < 0) return netlink_error(what, error);
  return collected;
}

using Links = std::map<PortId, KernelLink>;
using Addresses = std::vector<KernelAddress>;

int collect_link(nl_msg* message, void* links) {
  if (auto link = parse_link(nlmsg_hdr(message)))
    static_cast<Links*>(links)->insert_or_assign(link->first, link->second);
  return NL_OK;
}

int collect_address(nl_msg* message, void* addresses) {
  if (auto address = parse_kernel_address(nlmsg_hdr(message))) {
    static_cast<Addresses*>(addresses)->push_back(*std::move(address));
  }
  return NL_OK;
}

}  // namespace

struct NetlinkWatch::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, std::function<void()> on_change, std::function<void(const LinkLoss&)> on_loss)
      : readable(io), retry(io), reread(io), changed(std::move(on_change)), lost(std::move(on_loss)) {}
  // libnl closes the socket, so the descriptor must not. Waits for a read that has begun.
  ~State() {
    if (reader) reader->join();
    if (readable.is_open()) readable.release();
  }

  boost::asio::posix::stream_descriptor readable;
  boost::asio::steady_timer retry;
  boost::asio::steady_timer reread;
  std::size_t next_reread = kLossRereads.size();
  // Re-reads carriers on its own thread: a dump waits for the kernel's RTNL lock, which a driver may hold for seconds
  // while it sets a link down, and this node's hellos must leave in the meantime.
  std::optional<boost::asio::thread_pool> reader;
  bool is_rereading = false;
  std::function<void()> changed;
  std::function<void(const LinkLoss&)> lost;
  NetlinkSocket notifications;
  KernelNetwork network;
  std::vector<LinkLoss> losses;  // not reported yet
  std::uint64_t revision = 0;
  std::uint64_t overruns = 0;
  bool received_any = false;
  bool links_unknown = true;
  bool addresses_unknown = true;

  absl::Status open();
  absl::Status read_unknown();
  void note_loss(PortId id, const KernelLink* now);
  void report_losses();
  void arm_reread();
  void reread_carriers();
  void take_reread(absl::StatusOr<Links> links, std::uint64_t begun_at);
  void name_scopes();
  void notified(nlmsghdr* message);
  void wait();
  bool drain();
  void woken();
  void update();
  void stop() {
    changed = nullptr;
    retry.cancel();
    reread.cancel();
    readable.cancel();
  }
};

absl::Status NetlinkWatch::State::open() {
  const auto on_notification = [](nl_msg* message, void* state) -> int {
    // Accept messages from the kernel only, which sends as port 0.
    if (nlmsg_get_src(message)->nl_pid == 0) static_cast<State*>(state)->notified(nlmsg_hdr(message));
    return NL_OK;
  };
  absl::StatusOr<NetlinkSocket> socket = open_socket(on_notification, this);
  if (!socket.ok()) return socket.status();
  notifications = *std::move(socket);
  nl_socket_disable_seq_check(notifications.get());
  nl_socket_set_buffer_size(notifications.get(), kNotificationBufferBytes, 0);
  const int joined =
      nl_socket_add_memberships(notifications.get(), RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, 0);
  if (joined < 0) return netlink_error("follow network interfaces", joined);
  if (const int error = nl_socket_set_nonblocking(notifications.get()); error < 0) {
    return netlink_error("follow network interfaces", error);
  }
  error_code error;
  readable.assign(nl_socket_get_fd(notifications.get()), error);
  if (error) return absl::UnavailableError(absl::StrCat("cannot wait for rtnetlink: ", error.message()));
  // After joining the groups: later changes are notified, so none is missed between the two.
  return read_unknown();
}

absl::Status NetlinkWatch::State::read_unknown() {
  if (links_unknown) {
    absl::StatusOr<Links> links = dump<Links>(RTM_GETLINK, collect_link, "read the network interfaces");
    if (!links.ok()) return links.status();
    for (const auto& [id, before] : network.links) {
      const auto now = links->find(id);
      note_loss(id, now == links->end() ? nullptr : &now->second);
    }
    ++revision;
    for (auto& [id, link] : *links) link.revision = revision;
    network.links = *std::move(links);
    links_unknown = false;
  }
  if (addresses_unknown) {
    absl::StatusOr<Addresses> addresses = dump<Addresses>(RTM_GETADDR, collect_address, "read the addresses");
    if (!addresses.ok()) return addresses.status();
    network.addresses = *std::move(addresses);
    addresses_unknown = false;
  }
  return absl::OkStatus();
}

void NetlinkWatch::State::note_loss(PortId id, const KernelLink* now) {
  const auto before = network.links.find(id);
  if (before == network.links.end()) return;
  std::string reason = link_loss(before->second, now);
  if (!reason.empty()) losses.push_back({id, std::move(reason)});
}

void NetlinkWatch::State::report_losses() {
  if (losses.empty()) return;
  for (const LinkLoss& loss : std::exchange(losses, {})) lost(loss);
  next_reread = 0;
  arm_reread();
}

void NetlinkWatch::State::arm_reread() {
  if (next_reread == kLossRereads.size()) return;
  reread.expires_after(kLossRereads[next_reread++]);
  reread.async_wait([weak = weak_from_this()](error_code stopped) {
    const auto self = weak.lock();
    if (!stopped && self && self->changed) self->reread_carriers();
  });
}

void NetlinkWatch::State::reread_carriers() {
  arm_reread();
  if (std::exchange(is_rereading, true)) return;
  if (!reader) reader.emplace(1);
  boost::asio::post(*reader, [weak = weak_from_this(), io = readable.get_executor(), begun_at = revision] {
    auto links = dump<Links>(RTM_GETLINK, collect_link, "read the network interfaces");
    boost::asio::post(io, [weak, begun_at, links = std::move(links)]() mutable {
      const auto self = weak.lock();
      if (self && self->changed) self->take_reread(std::move(links), begun_at);
    });
  });
}

// Takes only the losses, since everything else has its own notification. A link with a notification since the read
// began may be in a newer state.
void NetlinkWatch::State::take_reread(absl::StatusOr<Links> links, std::uint64_t begun_at) {
  is_rereading = false;
  if (!links.ok() || !drain()) return;
  for (auto& [id, link] : *links) {
    const auto known = network.links.find(id);
    if (known == network.links.end() || known->second.revision > begun_at) continue;
    if (link_loss(known->second, &link).empty()) continue;
    note_loss(id, &link);
    link.revision = ++revision;
    known->second = std::move(link);
    received_any = true;
  }
  report_losses();
  update();
}

void NetlinkWatch::State::name_scopes() {
  for (KernelAddress& address : network.addresses) {
    routing::PortAddress& named = address.prefix.address;
    const auto link = network.links.find(address.link);
    if (named.is_ipv6_link_local()) named.scope = link == network.links.end() ? "" : link->second.name;
  }
}

void NetlinkWatch::State::notified(nlmsghdr* message) {
  if (message->nlmsg_type == RTM_NEWADDR || message->nlmsg_type == RTM_DELADDR) {
    addresses_unknown = true;
    received_any = true;
    return;
  }
  if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK) return;
  auto link = parse_link(message);
  if (!link.has_value()) return;
  received_any = true;
  if (message->nlmsg_type == RTM_DELLINK) {
    note_loss(link->first, nullptr);
    network.links.erase(link->first);
    return;
  }
  note_loss(link->first, &link->second);
  link->second.revision = ++revision;
  network.links.insert_or_assign(link->first, std::move(link->second));
}

void NetlinkWatch::State::wait() {
  readable.async_wait(boost::asio::posix::descriptor_base::wait_read, [weak = weak_from_this()](error_code stopped) {
    const auto self = weak.lock();
    if (!stopped && self && self->changed) self->woken();
  });
}

// False: there may be more.
bool NetlinkWatch::State::drain() {
  const std::unique_ptr<nl_cb, FreeCallbacks> callbacks(nl_socket_get_cb(notifications.get()));
  for (int i = 0; i < kMaxPerTurn; ++i) {
    const int result = nl_recvmsgs_report(notifications.get(), callbacks.get());
    if (result == 0 || result == -NLE_AGAIN) return true;
    if (result < 0) {
      // Most likely ENOBUFS, which libnl reports as out of memory: notifications were lost, and only dumps have the
      // current state.
      ++overruns;
      links_unknown = addresses_unknown = received_any = true;
    }
  }
  return false;
}

void NetlinkWatch::State::woken() {
  const bool drained = drain();
  report_losses();
  wait();
  // Only once drained: a dump is newer than queued notifications, which would overwrite it.
  if (drained) update();
}

void NetlinkWatch::State::update() {
  if (absl::Status status = read_unknown(); !status.ok()) {
    retry.expires_after(kRetry);
    retry.async_wait([weak = weak_from_this()](error_code stopped) {
      const auto self = weak.lock();
      if (!stopped && self && self->changed) self->update();
    });
  }
  report_losses();
  if (!std::exchange(received_any, false)) return;
  name_scopes();
  // A copy, because the call may destroy the watch.
  const auto call = changed;
  call();
}

absl::StatusOr<std::unique_ptr<NetlinkWatch>> NetlinkWatch::start(boost::asio::io_context& io,
                                                                  std::function<void()> changed,
                                                                  std::function<void(const LinkLoss&)> lost) {
  auto state = std::make_shared<State>(io, std::move(changed), std::move(lost));
  if (absl::Status status = state->open(); !status.ok()) return status;
  state->name_scopes();
  state->wait();
  return std::unique_ptr<NetlinkWatch>(new NetlinkWatch(std::move(state)));
}

NetlinkWatch::NetlinkWatch(std::shared_ptr<State> state) : state_(std::move(state)) {}

NetlinkWatch::~NetlinkWatch() {
  state_->stop();
}

const KernelNetwork& NetlinkWatch::network() const {
  return state_->network;
}

std::uint64_t NetlinkWatch::overruns() const {
  return state_->overruns;
}

int NetlinkWatch::descriptor() const {
  return nl_socket_get_fd(state_->notifications.get());
}

}  // namespace cableway::host
