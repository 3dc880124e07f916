// Opens a session with this network namespace's node and reports flows there, as a process with many connections would,
// with counts every second, until it is ended: for measuring what a node's views cost.
//
//   reported_flows FLOWS
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/linux/session/session_client.h"
#include "core/linux/session/session_names.h"
#include "core/settings/settings.h"

namespace cableway {
namespace {

constexpr std::uint64_t kBytesPerSecond = 12'500'000;
constexpr char kPath[] = "spark-0 -> spark-1 -> spark-2 -> spark-3";

class Reporter {
 public:
  Reporter(boost::asio::io_context& io, host::SessionClient& session, std::uint64_t flows)
      : session_(session), flows_(flows), timer_(io) {}

  void open() {
    for (std::uint64_t number = 1; number <= flows_; ++number) {
      FlowOpened opened;
      opened.number = number;
      opened.flow = number * 0x9e3779b97f4a7c15U;
      opened.node = absl::StrCat("spark-", number % 4);
      opened.sends = number % 2 == 0;
      opened.path = kPath;
      opened.port = "eth1";
      opened.transport = {"TCP", "no RDMA device"};
      session_.report(opened);
    }
    count();
  }

 private:
  void count() {
    bytes_ += kBytesPerSecond;
    for (std::uint64_t number = 1; number <= flows_; ++number) {
      CircuitCounts circuit;
      circuit.path = kPath;
      circuit.port = "eth1";
      circuit.transport = {"TCP", "no RDMA device"};
      circuit.bytes = bytes_ + number;
      circuit.carries = true;
      FlowCounts counts;
      counts.number = number;
      counts.bytes = bytes_ + number;
      counts.circuits = {circuit, circuit};
      session_.report(counts);
    }
    timer_.expires_after(std::chrono::seconds(1));
    timer_.async_wait([this](boost::system::error_code error) {
      if (!error) count();
    });
  }

  host::SessionClient& session_;
  const std::uint64_t flows_;
  std::uint64_t bytes_ = 0;
  boost::asio::steady_timer timer_;
};

int fail(const std::string& text) {
  std::fprintf(stderr, "reported_flows: %s\n", text.c_str());
  return 1;
}

int run(std::uint64_t flows) {
  const absl::StatusOr<Settings> settings = settings_from(::getenv, "host");
  if (!settings.ok()) return fail(std::string(settings.status().message()));
  const absl::StatusOr<host::SessionNames> names = host::session_names(*settings);
  if (!names.ok()) return fail(std::string(names.status().message()));
  boost::asio::io_context io;
  const absl::StatusOr<std::shared_ptr<host::SessionClient>> session = host::SessionClient::connect(io, *names);
  if (!session.ok()) return fail(std::string(session.status().message()));
  Reporter reporter(io, **session, flows);
  (*session)->request(Hello{kSessionVersion, "reported_flows"}, [&](const absl::StatusOr<SessionMessage>& reply) {
    if (!reply.ok()) std::exit(fail(std::string(reply.status().message())));
    reporter.open();
    std::puts("open");
    std::fflush(stdout);
  });
  io.run();
  return 0;
}

}  // namespace
}  // namespace cableway

int main(int count, char** arguments) {
  std::uint64_t flows = 0;
  if (count != 2 || !absl::SimpleAtoi(arguments[1], &flows) || flows == 0) {
    std::fprintf(stderr, "usage: reported_flows FLOWS\n");
    return 2;
  }
  return cableway::run(flows);
}
