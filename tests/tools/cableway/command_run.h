// Runs the command in the test's process, and a fake node that answers it.
#ifndef CABLEWAY_TESTS_TOOLS_CABLEWAY_COMMAND_RUN_H_
#define CABLEWAY_TESTS_TOOLS_CABLEWAY_COMMAND_RUN_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/linux/session/session_listener.h"
#include "core/linux/session/session_names.h"
#include "core/linux/session/session_server.h"
#include "tools/cableway/command_line.h"

namespace cableway::cli {

struct Outcome {
  int exit_status;
  std::string out;
  std::string err;
};

// Every test process has its own session socket.
inline std::string runtime_dir() {
  return "cableway_test." + std::to_string(::getpid());
}

inline host::SessionNames session_names() {
  Settings settings;
  settings.runtime_dir = runtime_dir();
  return *host::session_names(settings);
}

struct Around {
  std::vector<std::string> environment;
  std::chrono::milliseconds deadline{5000};
  HostFacts host;
  std::function<void()> pause = [] {};
  bool err_is_terminal = false;
  std::chrono::milliseconds progress_patience{2000};
  std::uint64_t free_memory = 8'000'000'000;
  std::function<void(Surroundings&)> adjust = [](Surroundings&) {};
};

inline Outcome run_command(const std::vector<std::string>& arguments, Around around = {}) {
  around.environment.push_back("CABLEWAY_RUNTIME_DIR=" + runtime_dir());
  std::vector<const char*> entries;
  entries.reserve(around.environment.size() + 1);
  for (const std::string& entry : around.environment) entries.push_back(entry.c_str());
  entries.push_back(nullptr);
  std::ostringstream out;
  std::ostringstream err;
  Surroundings surroundings{entries.data(),
                            "somewhere",
                            around.deadline,
                            [&](const std::vector<PortSelector>&) { return around.host; },
                            around.pause,
                            [] {},
                            false,
                            around.err_is_terminal,
                            around.progress_patience,
                            [&] { return around.free_memory; }};
  around.adjust(surroundings);
  const int exit_status = run(arguments, surroundings, out, err);
  return {exit_status, out.str(), err.str()};
}

// An io_context that runs on its own thread from start() to stop().
class IoThread {
 public:
  ~IoThread() { stop(); }
  boost::asio::io_context& io() { return io_; }
  void start() {
    thread_ = std::thread([this] { io_.run(); });
  }
  void stop() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  std::thread thread_;
};

// A node n1 whose views come from a callback. Of a view of all nodes that is the first part, and it gives no other.
class FakeNode {
 public:
  explicit FakeNode(
      std::function<SessionMessage(const std::string& view)> answer,
      std::function<DrainReply(const DrainRequest&)> drain = [](const DrainRequest&) { return DrainReply{}; }) {
    Welcome welcome;
    welcome.node = "n1";
    welcome.cluster = "cableway";
    auto listeners = host::open_session_listeners(session_names(), std::nullopt);
    EXPECT_TRUE(listeners.ok()) << listeners.status();
    server_ = host::SessionServer::start(
        thread_.io(), std::move(listeners->all), welcome,
        [answer = std::move(answer), drain = std::move(drain)](const SessionPeer&, const SessionMessage& request,
                                                               const host::SessionServer::Answer& reply) {
          if (const auto* wanted = std::get_if<DrainRequest>(&request)) return reply(drain(*wanted));
          if (const auto* of_all = std::get_if<ClusterViewRequest>(&request)) {
            if (of_all->round == 0) reply(answer(of_all->view));
            return;
          }
          reply(answer(std::get<ViewRequest>(request).name));
        });
    thread_.start();
  }
  ~FakeNode() { thread_.stop(); }
  FakeNode(const FakeNode&) = delete;
  FakeNode& operator=(const FakeNode&) = delete;

 private:
  IoThread thread_;
  std::unique_ptr<host::SessionServer> server_;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TESTS_TOOLS_CABLEWAY_COMMAND_RUN_H_
