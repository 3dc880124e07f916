#include "core/linux/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t kHugeBytes = 64 << 20;  // more than sockets hold
constexpr char kToken[] = "0123456789abcdef";

std::uint16_t free_port() {
  boost::asio::io_context io;
  const tcp::acceptor acceptor(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  return acceptor.local_endpoint().port();
}

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(io_) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
  }

  void send(const std::string& text) {
    boost::system::error_code ignored;  // the server may have closed already
    boost::asio::write(socket_, boost::asio::buffer(text), ignored);
  }
  // What arrives until the server closes.
  std::string rest() {
    std::string text;
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(text), error);
    return text;
  }
  // What arrives until `end` has.
  std::string until(const std::string& end) {
    std::string text;
    char byte = 0;
    boost::system::error_code error;
    while (!absl::EndsWith(text, end) && boost::asio::read(socket_, boost::asio::buffer(&byte, 1), error) == 1)
      text += byte;
    return text;
  }

 private:
  boost::asio::io_context io_;
  tcp::socket socket_;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void start(const std::string& token = "", std::chrono::milliseconds deadline = 10s) {
    const HttpServer::Options options{
        {"127.0.0.1", port_, true}, token, {"status", "large", "huge"}, {"live", "log"}, deadline};
    auto server = HttpServer::start(options, [this](const std::string& name, std::function<void(MadeDocument)> take) {
      ++made_;
      if (name == "large") return take({nullptr, 0ns});
      if (name == "huge") return take({std::make_shared<const std::string>(kHugeBytes, 'x'), 0ns});
      const std::string text = name == "live" ? absl::StrCat("live ", ++lives_) : "document " + name;
      take({std::make_shared<const std::string>(text), cost_});
    });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string ask(const std::string& request) {
    Client client(port_);
    client.send(request);
    return client.rest();
  }
  std::string get(const std::string& path, const std::string& more = "") {
    return ask("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more + "\r\n");
  }

  const std::uint16_t port_ = free_port();
  std::atomic<int> made_{0};
  std::atomic<int> lives_{0};
  std::chrono::nanoseconds cost_{0};  // of each document
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, ServesDocumentsThatMayNotBeGuessedFramedOrReadElsewhere) {
  start();
  EXPECT_THAT(get("/metrics"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("text/plain; version=0.0.4"),
                                     HasSubstr("X-Content-Type-Options: nosniff\r\n"),
                                     HasSubstr("Content-Security-Policy: default-src 'none'"),
                                     HasSubstr("Cache-Control: no-store\r\n"), HasSubstr("\r\n\r\ndocument metrics"),
                                     Not(HasSubstr("Access-Control")), Not(HasSubstr("Set-Cookie"))));
  EXPECT_THAT(get("/api/status"), AllOf(HasSubstr("application/json"), HasSubstr("\r\n\r\ndocument status")));
  EXPECT_THAT(get("/api/large"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(get("/nothing"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(HttpServerTest, ServesThePageAndItsTag) {
  start(kToken);
  const std::string page = get("/");
  EXPECT_THAT(page, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("script-src 'sha256-"), HasSubstr("<html"),
                          Not(HasSubstr("unsafe-inline"))));
  const std::size_t tag = page.find("ETag: ") + 6;
  const std::string same = "If-None-Match: " + page.substr(tag, page.find('\r', tag) - tag) + "\r\n";
  EXPECT_THAT(get("/", same), AllOf(StartsWith("HTTP/1.1 304 "), Not(HasSubstr("<html"))));
  EXPECT_EQ(made_, 0);
}

TEST_F(HttpServerTest, AsksForTheToken) {
  start(kToken);
  EXPECT_THAT(get("/metrics"), AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("WWW-Authenticate: Bearer\r\n")));
  EXPECT_THAT(get("/events"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(get("/metrics", "Authorization: Bearer 0123456789abcdeF\r\n"), StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(made_, 0);
  EXPECT_THAT(get("/metrics", std::string("Authorization: Bearer ") + kToken + "\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AnswersSeveralRequestsOfAConnection) {
  start();
  Client client(port_);
  const std::string one = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string head = "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  client.send(one + one + head);
  const std::string all = client.rest();
  EXPECT_THAT(all, HasSubstr("document metricsHTTP/1.1 200 OK"));
  EXPECT_TRUE(absl::EndsWith(all, "\r\n\r\n")) << "HEAD has no body";
  EXPECT_EQ(made_, 1);
}

TEST_F(HttpServerTest, RefusesHostileRequests) {
  start();
  const auto status = [&](const std::string& request) { return ask(request).substr(0, 12); };
  const std::string host = "Host: localhost\r\n";
  EXPECT_EQ(status("nonsense\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\n" + host + "X: " + std::string(20'000, 'x') + "\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\n" + host + "\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"
                   "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 403");
  EXPECT_EQ(status("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("POST /metrics HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello"), "HTTP/1.1 413");
  EXPECT_EQ(status("GET /metrics HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
            "HTTP/1.1 413");
  EXPECT_EQ(status("DELETE / HTTP/1.1\r\nConnection: close\r\n" + host + "\r\n"), "HTTP/1.1 405");
  EXPECT_EQ(status(std::string("GET /\0 HTTP/1.1\r\n", 17) + host + "\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\n" + host + host + "Connection: close\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, StreamsWhatChanges) {
  start();
  Client client(port_);
  client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.until("\r\n\r\n"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("text/event-stream")));
  EXPECT_THAT(client.until("live 1\n\n"), HasSubstr("event: live\ndata: live 1\n\n"));
  const std::string more = client.until("live 3\n\n");
  EXPECT_THAT(more, HasSubstr("event: live\ndata: live 2\n\n"));
  EXPECT_EQ(more.find("event: log", more.find("live 2")), std::string::npos) << "the log has not changed";
}

TEST_F(HttpServerTest, StreamsAndConnectionsAreBounded) {
  start();
  std::vector<std::unique_ptr<Client>> streams;
  for (std::size_t i = 0; i < HttpServer::kMaxStreams; ++i) {
    streams.push_back(std::make_unique<Client>(port_));
    streams.back()->send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(streams.back()->until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_THAT(get("/events"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200 "));
  std::vector<std::unique_ptr<Client>> idle;
  for (std::size_t i = HttpServer::kMaxStreams; i < HttpServer::kMaxConnections; ++i) {
    idle.push_back(std::make_unique<Client>(port_));
    idle.back()->send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(idle.back()->until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_EQ(get("/metrics"), "");
  idle.pop_back();
  streams.pop_back();
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (get("/metrics").empty() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(10ms);
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, ClientsWithoutTheTokenHoldNoPlaceThatAReaderNeeds) {
  start(kToken);
  std::vector<std::unique_ptr<Client>> others;
  for (std::size_t i = 0; i < HttpServer::kMaxConnections; ++i) {
    others.push_back(std::make_unique<Client>(port_));
    others.back()->send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(others.back()->until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_THAT(get("/metrics", std::string("Authorization: Bearer ") + kToken + "\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AStreamHasASignOfLifeEachSecondWhileItsDocumentsAreOld) {
  cost_ = 60s;
  start();
  Client client(port_);
  client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.until("document log\n\n"), HasSubstr("live 1"));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(client.until(":\n\n:\n\n"), Not(HasSubstr("event")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredAtABoundedRate) {
  start();
  constexpr int kRequests = 20;
  std::string all;
  for (int i = 1; i < kRequests; ++i) all += "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  all += "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  const auto begin = std::chrono::steady_clock::now();
  const std::string answers = ask(all);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, (kRequests - 1) * HttpConnection::kRequestEvery);
  int answered = 0;
  for (std::size_t at = answers.find("200 OK"); at != std::string::npos; at = answers.find("200 OK", at + 1))
    ++answered;
  EXPECT_EQ(answered, kRequests);
}

TEST_F(HttpServerTest, WhoIsSlowIsDisconnected) {
  start("", 300ms);
  Client sends_nothing(port_);
  Client sends_half(port_);
  sends_half.send("GET /metrics HTTP/1.1\r\nHost: local");
  Client asks_once(port_);
  asks_once.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  Client reads_late(port_);
  reads_late.send("GET /api/huge HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(sends_nothing.rest(), "");
  EXPECT_EQ(sends_half.rest(), "");
  EXPECT_TRUE(absl::EndsWith(asks_once.rest(), "document metrics"));
  std::this_thread::sleep_for(1s);
  EXPECT_LT(reads_late.rest().size(), kHugeBytes);
}

TEST_F(HttpServerTest, EndsWhileReadersAreConnected) {
  start();
  Client stream(port_);
  stream.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  stream.until("live 1\n\n");
  Client idle(port_);
  idle.send("GET /metr");
  server_.reset();
  stream.rest();
  idle.rest();
}

TEST_F(HttpServerTest, ATakenPortIsAnError) {
  start();
  const auto second = HttpServer::start({{"127.0.0.1", port_, true}, "", {}, {}, 10s}, nullptr);
  EXPECT_EQ(second.status().message(), absl::StrCat("cannot listen at 127.0.0.1:", port_, ": Address already in use"));
}

}  // namespace
}  // namespace cableway::host
