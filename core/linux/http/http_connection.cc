#include "core/linux/http/http_connection.h"

#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kHtmlType = "text/html; charset=utf-8";
constexpr char kNothingAllowed[] = "default-src 'none'; frame-ancestors 'none'";

beast::string_view beast_view(std::string_view text) {
  return {text.data(), text.size()};
}

std::string_view plain_view(beast::string_view text) {
  return {text.data(), text.size()};
}

// The part of a response that is the same for all: nothing may be loaded, guessed, framed or read from elsewhere.
template <typename Fields>
void set_common(Fields& fields, const std::string& policy) {
  fields.set("Content-Security-Policy", policy);
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("X-Frame-Options", "DENY");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
}

std::string stream_head() {
  http::response<http::empty_body> head(http::status::ok, 11);
  set_common(head, kNothingAllowed);
  head.set(http::field::content_type, "text/event-stream");
  head.set(http::field::cache_control, "no-store");
  head.keep_alive(false);
  std::string text = "HTTP/1.1 200 OK\r\n";
  for (const auto& field : head) {
    absl::StrAppend(&text, std::string(field.name_string()), ": ", std::string(field.value()), "\r\n");
  }
  return text + "\r\n";
}

}  // namespace

HttpConnection::HttpConnection(boost::asio::ip::tcp::socket socket, Server& server)
    : stream_(std::move(socket)), server_(server), pause_(stream_.get_executor()) {}

HttpConnection::~HttpConnection() {
  server_.closed(this);
}

void HttpConnection::read() {
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  parser_->body_limit(0);
  stream_.expires_after(server_.deadline());
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](boost::system::error_code error, std::size_t /*size*/) { self->on_header(error); });
}

void HttpConnection::on_header(boost::system::error_code error) {
  is_head_ = false;
  keeps_alive_ = false;
  asked_ = std::chrono::steady_clock::now();
  constexpr char kNoBody[] = "expected a request without a body";
  if (error == http::error::body_limit) return refuse(413, kNoBody);
  const bool is_malformed = error && error != http::error::end_of_stream &&
                            error.category() == http::make_error_code(http::error{}).category();
  if (is_malformed) return refuse(400, "malformed, or with more than 8192 bytes of headers");
  if (error) return close();
  const auto& request = parser_->get();
  if (!parser_->is_done()) return refuse(413, kNoBody);
  is_head_ = request.method() == http::verb::head;
  keeps_alive_ = request.keep_alive();
  HttpRequest asked{plain_view(request.method_string()), plain_view(request.target()), {}, {}};
  const auto hosts = request.equal_range(http::field::host);
  for (auto host = hosts.first; host != hosts.second; ++host) asked.hosts.push_back(plain_view(host->value()));
  asked.authorization = plain_view(request[http::field::authorization]);
  answer(route(asked, server_.access(), server_.views()));
}

void HttpConnection::answer(const HttpRoute& route) {
  switch (route.to) {
    case HttpRoute::To::kRefusal:
      return refuse(route.status, route.text);
    case HttpRoute::To::kPage:
      return answer_page(plain_view(parser_->get()[http::field::if_none_match]));
    case HttpRoute::To::kStream:
      is_admitted_ = true;
      return start_stream();
    case HttpRoute::To::kDocument:
      is_admitted_ = true;
      break;
  }
  const std::string_view type = route.document == kMetricsDocument ? kMetricsType : kJsonType;
  server_.get(route.document, [self = shared_from_this(), type](const Document& document) {
    if (document == nullptr) return self->refuse(503, "the document is too large; use the command line");
    self->send({200, type, document, false});
  });
}

void HttpConnection::answer_page(std::string_view known_tag) {
  const LivePage& page = server_.page();
  // The page is part of the server, which outlives this connection.
  const Document body(std::shared_ptr<void>(), &page.html);
  if (known_tag == page.tag) return send({304, kHtmlType, nullptr, true});
  send({200, kHtmlType, body, true});
}

void HttpConnection::refuse(unsigned status, const std::string& text) {
  send({status, kPlainText, std::make_shared<const std::string>(text + "\n"), false});
}

void HttpConnection::send(const Answer& answer) {
  const LivePage& page = server_.page();
  const auto fill = [&](auto& response) {
    response.version(11);
    response.result(answer.status);
    set_common(response, answer.is_page ? page.policy : std::string(kNothingAllowed));
    response.set(http::field::content_type, beast_view(answer.type));
    response.set(http::field::cache_control, answer.is_page ? "no-cache" : "no-store");
    if (answer.is_page) response.set(http::field::etag, page.tag);
    if (answer.status == 401) response.set(http::field::www_authenticate, "Bearer");
    if (answer.status == 405) response.set(http::field::allow, "GET, HEAD");
    if (answer.body != nullptr) response.content_length(answer.body->size());
    response.keep_alive(keeps_alive_);
  };
  if (is_head_ || answer.body == nullptr) {
    auto response = std::make_shared<http::response<http::empty_body>>();
    fill(*response);
    return write(std::move(response), nullptr);
  }
  auto response = std::make_shared<http::response<http::span_body<const char>>>();
  response->body() = {answer.body->data(), answer.body->size()};
  fill(*response);
  write(std::move(response), answer.body);
}

// `body`: what the response refers to.
template <typename Response>
void HttpConnection::write(std::shared_ptr<Response> response, Document body) {
  stream_.expires_after(server_.deadline());
  Response& sent = *response;
  http::async_write(stream_, sent,
                    [self = shared_from_this(), response = std::move(response), body = std::move(body)](
                        boost::system::error_code error, std::size_t /*size*/) {
                      if (error) return self->close();
                      self->keeps_alive_ ? self->pause() : self->drain();
                    });
}

void HttpConnection::pause() {
  pause_.expires_at(asked_ + kRequestEvery);
  pause_.async_wait([self = shared_from_this()](boost::system::error_code /*error*/) { self->read(); });
}

void HttpConnection::start_stream() {
  if (!server_.add_stream(shared_from_this())) {
    keeps_alive_ = false;
    return refuse(503, "too many readers have the page open");
  }
  out_ = stream_head();
  watch_for_end();
  flush();
}

// A reader has nothing more to say.
void HttpConnection::watch_for_end() {
  stream_.expires_never();
  stream_.async_read_some(
      boost::asio::buffer(scratch_),
      [self = shared_from_this()](boost::system::error_code /*error*/, std::size_t /*size*/) { self->close(); });
}

void HttpConnection::give_sign_of_life() {
  if (!has_sent_ && !is_writing_ && out_.empty()) {
    out_ = ":\n\n";
    flush();
  }
  has_sent_ = false;
}

void HttpConnection::deliver(const std::string& name, const Document& document) {
  const Document& last = sent_[name];
  if (document == nullptr || last == document || (last != nullptr && *last == *document)) return;
  pending_[name] = document;
  flush();
}

// While a reader is slow, newer documents replace those that have not been sent yet.
void HttpConnection::flush() {
  if (is_writing_ || !stream_.socket().is_open()) return;
  for (const auto& [name, document] : pending_) {
    absl::StrAppend(&out_, "event: ", name, "\ndata: ", *document, "\n\n");
    sent_[name] = document;
  }
  pending_.clear();
  if (out_.empty()) return;
  is_writing_ = has_sent_ = true;
  stream_.expires_after(server_.deadline());
  boost::asio::async_write(stream_, boost::asio::buffer(out_),
                           [self = shared_from_this()](boost::system::error_code error, std::size_t /*size*/) {
                             self->is_writing_ = false;
                             self->out_.clear();
                             if (error) return self->close();
                             self->flush();
                           });
}

// Reads what is still under way: otherwise the kernel resets the connection, and the answer is lost.
void HttpConnection::drain() {
  constexpr std::size_t kMost = 64 << 10;
  boost::system::error_code ignored;
  if (drained_ == 0) stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  if (drained_ == 0) stream_.expires_after(std::chrono::seconds(2));
  stream_.async_read_some(boost::asio::buffer(scratch_),
                          [self = shared_from_this()](boost::system::error_code error, std::size_t size) {
                            self->drained_ += size;
                            if (error || self->drained_ > kMost) return self->close();
                            self->drain();
                          });
}

void HttpConnection::close() {
  stream_.close();
  server_.closed(this);
}

}  // namespace cableway::host
