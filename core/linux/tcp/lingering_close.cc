#include "core/linux/tcp/lingering_close.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <utility>

namespace cableway::host {
namespace {

constexpr std::chrono::seconds kLimit{2};

class Drain : public std::enable_shared_from_this<Drain> {
 public:
  Drain(boost::asio::io_context& io, UniqueFd socket, Unsent unsent)
      : socket_(io), limit_(io), fd_(std::move(socket)), unsent_(unsent) {}

  void start() {
    ::shutdown(fd_.get(), SHUT_WR);
    boost::system::error_code error;
    // The protocol only affects calls that are not used here.
    socket_.assign(boost::asio::ip::tcp::v4(), fd_.get(), error);
    if (error) return;
    fd_.release();
    socket_.non_blocking(true, error);
    limit_.expires_after(kLimit);
    limit_.async_wait([self = shared_from_this()](boost::system::error_code stopped) {
      if (!stopped) self->give_up();
    });
    read();
  }

 private:
  void give_up() {
    // A reset discards what is queued; without queued data the peer must not see a reset.
    boost::system::error_code ignored;
    int queued = 0;
    static_cast<void>(::ioctl(socket_.native_handle(), SIOCOUTQ, &queued));
    if (unsent_ == Unsent::kForget && queued > 0) {
      socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    }
    close();
  }
  void read() {
    socket_.async_read_some(boost::asio::buffer(dropped_),
                            [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                              if (error) {
                                self->close();
                              } else {
                                self->read();
                              }
                            });
  }
  void close() {
    boost::system::error_code ignored;
    limit_.cancel();
    socket_.close(ignored);
  }

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer limit_;
  UniqueFd fd_;
  const Unsent unsent_;
  std::array<char, 65536> dropped_;
};

}  // namespace

void close_lingering(boost::asio::io_context& io, UniqueFd socket, Unsent unsent) {
  if (!socket.valid()) return;
  auto drain = std::make_shared<Drain>(io, std::move(socket), unsent);
  boost::asio::post(io, [drain] { drain->start(); });
}

}  // namespace cableway::host
