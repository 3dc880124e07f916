#include "tests/nccl_adapter/loopback_world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace cableway::nccl::test {
namespace {

// Loopback addresses of the test's own, so that tests that run at the same time do not meet.
std::string own_network() {
  return "127." + std::to_string(1 + ::getpid() % 250) + "." + std::to_string(::getpid() / 250 % 250);
}

bool answers(const LoopbackWorld::Door& door) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(door.port);
  ::inet_pton(AF_INET, door.address.c_str(), &to.sin_addr);
  const bool connected = ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  ::close(socket);
  return connected;
}

std::vector<std::uint16_t> listening_ports(const std::string& address) {
  in_addr wanted{};
  ::inet_pton(AF_INET, address.c_str(), &wanted);
  std::ifstream table("/proc/net/tcp");
  std::string line;
  std::getline(table, line);
  std::vector<std::uint16_t> ports;
  while (std::getline(table, line)) {
    unsigned local = 0;
    unsigned port = 0;
    unsigned state = 0;
    if (std::sscanf(line.c_str(), " %*d: %X:%X %*X:%*X %X", &local, &port, &state) != 3) continue;
    constexpr unsigned kListen = 0x0A;
    if (state == kListen && local == wanted.s_addr) ports.push_back(static_cast<std::uint16_t>(port));
  }
  return ports;
}

}  // namespace

LoopbackWorld::LoopbackWorld(const std::string& self) : LoopbackWorld({{"a", "b"}, {"b", "c"}}, self) {}

LoopbackWorld::LoopbackWorld(Cables cables, const std::string& self)
    : cables_(std::move(cables)),
      network_(own_network()),
      relay_port_(static_cast<std::uint16_t>(20000 + ::getpid() % 10000)),
      topology_file_(testing::TempDir() + "/loopback-" + std::to_string(::getpid()) + ".toml") {
  for (const auto& [a, b] : cables_) {
    for (const std::string& node : {a, b}) runtime_dirs_[node] = "test-" + std::to_string(::getpid()) + "-" + node;
  }
  write_topology();
  enter(self);
}

LoopbackWorld::~LoopbackWorld() {
  while (!daemons_.empty()) kill(daemons_.begin()->first);
  ::unlink(topology_file_.c_str());
}

void LoopbackWorld::write_topology() const {
  std::ofstream file(topology_file_);
  for (const auto& [node, dir] : runtime_dirs_) {
    file << "[[node]]\nname = \"" << node << "\"\nrelay_port = " << relay_port_ << "\n";
  }
  for (const auto& [a, b] : cables_) {
    const Hop cable = hop(a, b);
    file << "[[cable]]\nname = \"" << cable.cable << "\"\nends = [{node = \"" << a << "\", address = \""
         << cable.from_address << "\"}, {node = \"" << b << "\", address = \"" << cable.to_address << "\"}]\n";
  }
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
  ASSERT_GE(pid, 0) << "fork failed";  // a signal to -1 would go to everybody
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter(node);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    ::execl(CABLEWAYD, CABLEWAYD, nullptr);
    ::_exit(127);
  }
  daemons_[node] = pid;
  const Door door{addresses(node).front(), relay_port_};
  for (int attempt = 0; attempt < 500; ++attempt) {
    if (answers(door)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FAIL() << "cablewayd of node " << node << " does not answer";
}

void LoopbackWorld::kill(const std::string& node) {
  const auto entry = daemons_.find(node);
  ::kill(entry->second, SIGKILL);
  ::waitpid(entry->second, nullptr, 0);
  daemons_.erase(entry);
}

void LoopbackWorld::stop(const std::string& node) const {
  ::kill(process(node), SIGSTOP);
}

void LoopbackWorld::resume(const std::string& node) const {
  ::kill(process(node), SIGCONT);
}

std::vector<LoopbackWorld::Door> LoopbackWorld::doors(const std::string& node) const {
  std::vector<Door> doors;
  for (const std::string& address : addresses(node)) {
    for (const std::uint16_t port : listening_ports(address)) doors.push_back(Door{address, port});
  }
  return doors;
}

LoopbackWorld::Door LoopbackWorld::relay_door(const std::string& node, const std::string& neighbour) const {
  return Door{hop(neighbour, node).to_address, relay_port_};
}

Hop LoopbackWorld::hop(const std::string& from, const std::string& to) const {
  Hop hop;
  for (std::size_t i = 0; i < cables_.size(); ++i) {
    const auto& [a, b] = cables_[i];
    if (!(a == from && b == to) && !(a == to && b == from)) continue;
    const std::string first = network_ + "." + std::to_string(2 * i + 1);
    const std::string second = network_ + "." + std::to_string(2 * i + 2);
    hop = Hop{.cable = "c" + std::to_string(i),
              .from_address = a == from ? first : second,
              .to_node = to,
              .to_address = a == from ? second : first,
              .to_port = relay_port_};
  }
  return hop;
}

std::string LoopbackWorld::path(const std::vector<std::string>& nodes) const {
  std::string text = nodes.front();
  for (std::size_t i = 1; i < nodes.size(); ++i) text += " -" + hop(nodes[i - 1], nodes[i]).cable + "-> " + nodes[i];
  return text;
}

std::vector<std::string> LoopbackWorld::addresses(const std::string& node) const {
  std::vector<std::string> addresses;
  for (const auto& [a, b] : cables_) {
    if (a == node) addresses.push_back(hop(a, b).from_address);
    if (b == node) addresses.push_back(hop(a, b).to_address);
  }
  return addresses;
}

}  // namespace cableway::nccl::test
