#include "tests/nccl_adapter/loopback_world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace cableway::nccl::test {
namespace {

// Loopback addresses of the test's own, so that tests that run at the same time do not meet.
std::string network() {
  return "127." + std::to_string(1 + ::getpid() % 250) + "." + std::to_string(::getpid() / 250 % 250);
}

bool answers(const std::string& address, int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  const bool connected = ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  ::close(socket);
  return connected;
}

}  // namespace

std::string LoopbackWorld::address(const std::string& node) {
  static const std::string net = network();
  if (node == "a") return net + ".1";
  if (node == "b") return net + ".2";
  return net + ".4";
}

LoopbackWorld::LoopbackWorld(const std::string& self) : relay_port_(20000 + ::getpid() % 10000) {
  const std::string net = address("a").substr(0, address("a").rfind('.'));
  const std::string tag = std::to_string(::getpid());
  topology_file_ = testing::TempDir() + "/loopback-" + tag + ".toml";
  std::ofstream file(topology_file_);
  for (const char* node : {"a", "b", "c"}) {
    file << "[[node]]\nname = \"" << node << "\"\nrelay_port = " << relay_port_ << "\n";
    runtime_dirs_[node] = "test-" + tag + "-" + node;
  }
  file << "[[cable]]\nname = \"c0\"\nends = [{node = \"a\", address = \"" << net << ".1\"}, {node = \"b\", address = \""
       << net << ".2\"}]\n";
  file << "[[cable]]\nname = \"c1\"\nends = [{node = \"b\", address = \"" << net << ".3\"}, {node = \"c\", address = \""
       << net << ".4\"}]\n";
  file.close();
  enter(self);
}

LoopbackWorld::~LoopbackWorld() {
  while (!daemons_.empty()) kill_daemon(daemons_.begin()->first);
  ::unlink(topology_file_.c_str());
}

void LoopbackWorld::enter(const std::string& node) const {
  ::setenv("CABLEWAY_TOPOLOGY", topology_file_.c_str(), 1);
  ::setenv("CABLEWAY_NODE", node.c_str(), 1);
  ::setenv("CABLEWAY_RUNTIME_DIR", runtime_dirs_.at(node).c_str(), 1);
  ::setenv("CABLEWAY_DAEMON", CABLEWAYD, 1);
  ::setenv("CABLEWAY_LINGER", "5", 1);
}

void LoopbackWorld::start(const std::string& node) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    enter(node);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    ::execl(CABLEWAYD, CABLEWAYD, nullptr);
    ::_exit(127);
  }
  daemons_[node] = pid;
  for (int attempt = 0; attempt < 500; ++attempt) {
    if (answers(address(node), relay_port_)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FAIL() << "cablewayd of node " << node << " does not answer";
}

void LoopbackWorld::kill_daemon(const std::string& node) {
  const auto entry = daemons_.find(node);
  ::kill(entry->second, SIGKILL);
  ::waitpid(entry->second, nullptr, 0);
  daemons_.erase(entry);
}

}  // namespace cableway::nccl::test
