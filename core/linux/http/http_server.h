// Serves a node's page, metrics and views over HTTP, for readers that may be hostile: at most kMaxConnections at once,
// kMaxStreams of them streams, each with deadlines. Where all are taken, a new one replaces the oldest that has not
// been given a document, which needs the token. It has a thread of its own, which asks for documents only as often as
// DocumentCache allows, so readers take little of the node's time.
#ifndef CABLEWAY_CORE_LINUX_HTTP_HTTP_SERVER_H_
#define CABLEWAY_CORE_LINUX_HTTP_HTTP_SERVER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/http/document_cache.h"
#include "core/linux/http/http_connection.h"
#include "core/page/live_page.h"
#include "core/settings/http_address.h"

namespace cableway::host {

// Made and destroyed by one thread.
class HttpServer final : private HttpConnection::Server {
 public:
  static constexpr std::size_t kMaxConnections = 16;
  static constexpr std::size_t kMaxStreams = 8;

  struct Options {
    HttpAddress address;
    std::string token;                          // empty: none is needed
    std::vector<std::string_view> views;        // the names below /api/
    std::vector<std::string> streamed;          // the documents of /events
    std::chrono::milliseconds deadline{10000};  // HttpConnection::Server::deadline()
  };

  // Called on the server's thread; passes the document to the function on any thread, while the server exists. Null: it
  // is too large.
  using Make = std::function<void(const std::string& name, std::function<void(MadeDocument)>)>;

  // Errors name the address and what the kernel said.
  static absl::StatusOr<std::unique_ptr<HttpServer>> start(Options options, Make make);
  // Ends all connections.
  ~HttpServer() override;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  HttpServer(Options options, Make make);
  absl::Status listen();
  void accept();
  void tick();
  void stream_documents();
  void make_room();

  const HttpAccess& access() const override { return access_; }
  const LivePage& page() const override { return page_; }
  std::span<const std::string_view> views() const override { return options_.views; }
  std::chrono::milliseconds deadline() const override { return options_.deadline; }
  void get(const std::string& document, DocumentCache::Receive receive) override;
  bool add_stream(const std::shared_ptr<HttpConnection>& connection) override;
  void closed(const HttpConnection* connection) override;

  const Options options_;
  const HttpAccess access_;
  const LivePage page_;
  // Used by the server's thread alone, once it runs. Connections, which refer to it, are destroyed with the io_context.
  std::vector<std::pair<const HttpConnection*, std::weak_ptr<HttpConnection>>> connections_;  // the oldest first
  std::map<const HttpConnection*, std::weak_ptr<HttpConnection>> streams_;
  std::unique_ptr<DocumentCache> cache_;
  std::unique_ptr<boost::asio::io_context> io_;
  std::unique_ptr<boost::asio::ip::tcp::acceptor> acceptor_;
  std::unique_ptr<boost::asio::steady_timer> timer_;
  std::thread thread_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HTTP_HTTP_SERVER_H_
