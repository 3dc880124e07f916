#include "core/linux/tcp/lingering_close.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>

namespace cableway::host {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds kLimit{2};
// What is discarded at a time. The kernel does not copy it, but wants a buffer of this size.
using Unread = std::array<char, 65536>;

class Drain : public std::enable_shared_from_this<Drain> {
 public:
  // `most`: the bytes that it discards before it gives up.
  Drain(boost::asio::io_context& io, UniqueFd socket, Unsent unsent, std::uint64_t most)
      : socket_(io), limit_(io), fd_(std::move(socket)), unsent_(unsent), most_(most) {}

  // `unread` outlives the io_context's last operation.
  void start(Unread& unread) {
    unread_ = &unread;
    ::shutdown(fd_.get(), SHUT_WR);
    error_code error;
    // The protocol only affects calls that are not used here.
    socket_.assign(tcp::v4(), fd_.get(), error);
    if (error) return;
    fd_.release();
    limit_.expires_after(kLimit);
    limit_.async_wait([self = shared_from_this()](error_code stopped) {
      if (!stopped) self->give_up();
    });
    await();
  }
  bool is_open() const { return socket_.is_open(); }
  // The peer's kernel has acknowledged all that was sent, its end included.
  bool is_delivered() {
    int queued = 0;
    static_cast<void>(::ioctl(socket_.native_handle(), SIOCOUTQ, &queued));
    return queued == 0;
  }
  // Leaves nothing of the connection to the kernel.
  void reset() {
    error_code ignored;
    socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    close();
  }

 private:
  void give_up() {
    // A reset discards what is queued; without queued data the peer must not see a reset.
    unsent_ == Unsent::kForget && !is_delivered() ? reset() : close();
  }
  void await() {
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
      if (self->is_open()) error ? self->close() : self->discard();
    });
  }
  // Once in each turn, so that a peer that goes on sending does not keep the thread from others.
  void discard() {
    const ssize_t got = ::recv(socket_.native_handle(), unread_->data(), unread_->size(), MSG_TRUNC | MSG_DONTWAIT);
    if (got > 0) {
      discarded_ += static_cast<std::uint64_t>(got);
      return discarded_ > most_ ? reset() : await();
    }
    const bool again = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    again ? await() : close();
  }
  void close() {
    error_code ignored;
    limit_.cancel();
    socket_.close(ignored);
  }

  tcp::socket socket_;
  boost::asio::steady_timer limit_;
  UniqueFd fd_;
  const Unsent unsent_;
  const std::uint64_t most_;
  std::uint64_t discarded_ = 0;
  Unread* unread_ = nullptr;
};

// What the drains of one io_context share. Used on its thread only.
class Drains final : public boost::asio::execution_context::service {
 public:
  static inline boost::asio::execution_context::id id;

  explicit Drains(boost::asio::execution_context& io) : service(io) {}

  void start(Drain& drain) { drain.start(unread_); }
  void start_refused(const std::shared_ptr<Drain>& drain) {
    refused_.remove_if([](const std::weak_ptr<Drain>& each) {
      const std::shared_ptr<Drain> known = each.lock();
      return known == nullptr || !known->is_open();
    });
    if (refused_.size() >= kMaxRefused) make_room();
    start(*drain);
    refused_.push_back(drain);
  }

 private:
  void make_room() {
    const auto is_delivered = [](const std::weak_ptr<Drain>& each) { return each.lock()->is_delivered(); };
    auto first = std::find_if(refused_.begin(), refused_.end(), is_delivered);
    if (first == refused_.end()) first = refused_.begin();
    first->lock()->reset();
    refused_.erase(first);
  }
  void shutdown() override { refused_.clear(); }

  std::list<std::weak_ptr<Drain>> refused_;  // oldest first; their pending operations keep them
  Unread unread_;
};

}  // namespace

void close_lingering(boost::asio::io_context& io, UniqueFd socket, Unsent unsent) {
  if (!socket.valid()) return;
  auto drain = std::make_shared<Drain>(io, std::move(socket), unsent, UINT64_MAX);
  boost::asio::post(io, [&io, drain] { boost::asio::use_service<Drains>(io).start(*drain); });
}

void close_refused(boost::asio::io_context& io, UniqueFd socket) {
  if (!socket.valid()) return;
  auto drain = std::make_shared<Drain>(io, std::move(socket), Unsent::kForget, kMaxRefusedBytes);
  boost::asio::post(io, [&io, drain] { boost::asio::use_service<Drains>(io).start_refused(drain); });
}

}  // namespace cableway::host
