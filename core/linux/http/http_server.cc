#include "core/linux/http/http_server.h"

#include <fcntl.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

using boost::asio::ip::tcp;

constexpr std::chrono::seconds kStreamEvery{1};
constexpr std::chrono::milliseconds kAcceptAgain{100};

}  // namespace

HttpServer::HttpServer(Options options, Make make)
    : options_(std::move(options)),
      access_(options_.address, options_.token),
      page_(live_page()),
      io_(std::make_unique<boost::asio::io_context>(1)) {
  cache_ = std::make_unique<DocumentCache>(
      [this, make = std::move(make)](const std::string& name, std::function<void(MadeDocument)> take) {
        make(name, [this, take = std::move(take)](MadeDocument made) {
          boost::asio::post(*io_, [take, made = std::move(made)] { take(made); });
        });
      });
  acceptor_ = std::make_unique<tcp::acceptor>(*io_);
  timer_ = std::make_unique<boost::asio::steady_timer>(*io_);
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::start(Options options, Make make) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(options), std::move(make)));
  if (absl::Status status = server->listen(); !status.ok()) return status;
  server->accept();
  server->tick();
  server->thread_ = std::thread([raw = server.get()] { raw->io_->run(); });
  return server;
}

HttpServer::~HttpServer() {
  io_->stop();
  if (thread_.joinable()) thread_.join();
  // Whatever refers to connections goes before what connections refer to.
  cache_.reset();
  timer_.reset();
  acceptor_.reset();
  io_.reset();
}

absl::Status HttpServer::listen() {
  boost::system::error_code error;
  const auto failed = [&] {
    return absl::UnavailableError(absl::StrCat("cannot listen at ", to_text(options_.address), ": ", error.message()));
  };
  const boost::asio::ip::address address = boost::asio::ip::make_address(options_.address.address, error);
  if (error) return failed();
  const tcp::endpoint endpoint(address, options_.address.port);
  acceptor_->open(endpoint.protocol(), error);
  if (error) return failed();
  ::fcntl(acceptor_->native_handle(), F_SETFD, FD_CLOEXEC);
  acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_->bind(endpoint, error);
  if (!error) acceptor_->listen(static_cast<int>(kMaxConnections), error);
  return error ? failed() : absl::OkStatus();
}

void HttpServer::accept() {
  acceptor_->async_accept([this](boost::system::error_code error, tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (error) {  // such as too many open files
      auto later = std::make_shared<boost::asio::steady_timer>(*io_, kAcceptAgain);
      return later->async_wait([this, later](boost::system::error_code) { accept(); });
    }
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    make_room();
    if (connections_.size() < kMaxConnections) {
      HttpConnection::Server& shared = *this;
      const auto connection = std::make_shared<HttpConnection>(std::move(socket), shared);
      connections_.emplace_back(connection.get(), connection);
      connection->start();
    }
    accept();
  });
}

void HttpServer::make_room() {
  if (connections_.size() < kMaxConnections) return;
  for (const auto& [raw, held] : connections_) {
    const std::shared_ptr<HttpConnection> connection = held.lock();
    if (connection != nullptr && !connection->is_admitted()) return connection->close();
  }
}

void HttpServer::tick() {
  timer_->expires_after(kStreamEvery);
  timer_->async_wait([this](boost::system::error_code error) {
    if (error) return;
    const auto now = DocumentCache::Clock::now();
    cache_->forget_unused(now);
    if (!cache_->is_stuck(now)) {
      const auto streams = streams_;
      for (const auto& [raw, stream] : streams) {
        if (const std::shared_ptr<HttpConnection> connection = stream.lock()) connection->give_sign_of_life();
      }
    }
    if (!streams_.empty()) stream_documents();
    tick();
  });
}

void HttpServer::stream_documents() {
  for (const std::string& name : options_.streamed) {
    get(name, [this, name](const Document& document) {
      const auto streams = streams_;  // one that closes leaves the map
      for (const auto& [raw, stream] : streams) {
        if (const std::shared_ptr<HttpConnection> connection = stream.lock()) connection->deliver(name, document);
      }
    });
  }
}

void HttpServer::get(const std::string& document, DocumentCache::Receive receive) {
  cache_->get(document, DocumentCache::Clock::now(), std::move(receive));
}

bool HttpServer::add_stream(const std::shared_ptr<HttpConnection>& connection) {
  if (streams_.size() >= kMaxStreams) return false;
  streams_[connection.get()] = connection;
  boost::asio::post(*io_, [this] { stream_documents(); });
  return true;
}

void HttpServer::closed(const HttpConnection* connection) {
  std::erase_if(connections_, [&](const auto& each) { return each.first == connection; });
  streams_.erase(connection);
}

}  // namespace cableway::host
