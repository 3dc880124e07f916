// One connection of a reader of the page or the metrics. Requests are bounded in size and time; whatever is not a GET
// or HEAD without a body ends the connection.
#ifndef CABLEWAY_CORE_LINUX_HTTP_HTTP_CONNECTION_H_
#define CABLEWAY_CORE_LINUX_HTTP_HTTP_CONNECTION_H_

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/http/http_access.h"
#include "core/http/http_route.h"
#include "core/linux/http/document_cache.h"
#include "core/page/live_page.h"

namespace cableway::host {

// One thread: the server's. Lives as long as an operation is pending, or the server keeps it as a stream.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  static constexpr std::size_t kMaxHeaderBytes = 8192;
  static constexpr std::chrono::milliseconds kRequestEvery{20};  // requests that arrive faster wait

  // What all connections share. Outlives them.
  class Server {
   public:
    virtual ~Server() = default;
    virtual const HttpAccess& access() const = 0;
    virtual const LivePage& page() const = 0;
    virtual std::span<const std::string_view> views() const = 0;
    // For a request, from the end of the one before, and for each answer or event.
    virtual std::chrono::milliseconds deadline() const = 0;
    virtual void get(const std::string& document, DocumentCache::Receive receive) = 0;
    // False: there are too many streams.
    virtual bool add_stream(const std::shared_ptr<HttpConnection>& connection) = 0;
    virtual void closed(const HttpConnection* connection) = 0;
  };

  HttpConnection(boost::asio::ip::tcp::socket socket, Server& server);
  ~HttpConnection();

  void start() { read(); }
  // Whether it has asked for a document, with the token where one is needed.
  bool is_admitted() const { return is_admitted_; }
  // The operations that are pending end, and with them the last references.
  void close();
  // Of a stream: sends the document as a server-sent event, unless it is as the last one of that name.
  void deliver(const std::string& name, const Document& document);
  // Of a stream: sends a comment if nothing was sent since the last call.
  void give_sign_of_life();

 private:
  struct Answer {
    unsigned status = 200;
    std::string_view type;
    Document body;
    bool is_page = false;
  };

  void read();
  void on_header(boost::system::error_code error);
  void answer(const HttpRoute& route);
  void answer_page(std::string_view known_tag);
  void refuse(unsigned status, const std::string& text);
  void send(const Answer& answer);
  template <typename Response>
  void write(std::shared_ptr<Response> response, Document body);
  void start_stream();
  void watch_for_end();
  void flush();
  void drain();
  void pause();

  boost::beast::tcp_stream stream_;
  Server& server_;
  boost::beast::flat_buffer buffer_{2 * kMaxHeaderBytes};
  std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
  boost::asio::steady_timer pause_;
  std::chrono::steady_clock::time_point asked_;  // when the last request had arrived
  bool is_admitted_ = false;
  bool keeps_alive_ = false;
  bool is_head_ = false;
  std::size_t drained_ = 0;
  std::array<char, 1024> scratch_{};

  // Of a stream.
  std::string out_;  // what is being written
  bool is_writing_ = false;
  bool has_sent_ = false;  // since the last sign of life
  std::map<std::string, Document> sent_;
  std::map<std::string, Document> pending_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HTTP_HTTP_CONNECTION_H_
