#include "tests/nccl_adapter/world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "routing/topology/topology.h"
#include "tests/nccl_adapter/lockstep.h"

namespace cableway::nccl::test {
namespace {

const std::string kNetwork = "10.77.";
constexpr std::uint16_t kRelayPort = routing::kDefaultRelayPort;
// If set, the world uses the existing network of this process. For machines that run nothing but one test at a time,
// and whose loopback interface has an RDMA device: soft-RoCE works in a machine's initial network namespace only.
constexpr const char* kPathWait = "CABLEWAY_PATH_WAIT";
constexpr char kOnThisNetwork[] = "WORLD_ON_THIS_NETWORK";

// Moves this process into a new, empty network, so that concurrent tests do not interfere.
void enter_own_network() {
  const auto user = ::geteuid();
  const auto group = ::getegid();
  if (user != 0) {
    ASSERT_EQ(::unshare(CLONE_NEWUSER), 0) << "no user namespaces here: " << std::strerror(errno);
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user << " " << user << " 1";
    std::ofstream("/proc/self/gid_map") << group << " " << group << " 1";
  }
  ASSERT_EQ(::unshare(CLONE_NEWNET), 0) << "no network namespaces here: " << std::strerror(errno);
}

void ip(const std::string& arguments) {
  ASSERT_EQ(std::system(("PATH=$PATH:/usr/sbin:/sbin ip " + arguments).c_str()), 0) << "ip " << arguments;
}

// The interface of the node's cable to the neighbour.
std::string port_towards(const std::string& neighbour) {
  const Lockstep& lockstep = Lockstep::instance();
  return lockstep.on_several_machines() ? "to-" + lockstep.machine_of(neighbour) : "lo";
}

bool answers(const World::Door& door) {
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

World::World(const std::string& self) : World({{"a", "b"}, {"b", "c"}}, self) {}

World::World(Cables cables, const std::string& self) : cables_(std::move(cables)) {
  for (const auto& [a, b] : cables_) {
    for (const std::string& node : {a, b}) runtime_dirs_[node] = "test-" + std::to_string(::getpid()) + "-" + node;
  }
  const Lockstep& lockstep = Lockstep::instance();
  if (!lockstep.on_several_machines() && std::getenv(kOnThisNetwork) == nullptr) enter_own_network();
  ip("link set lo up");
  for (const auto& [a, b] : cables_) {
    const Hop cable = hop(a, b);
    if (lockstep.is_here(a)) ip("address replace " + cable.from_address + "/24 dev " + port_towards(b));
    if (lockstep.is_here(b)) ip("address replace " + cable.to_address + "/24 dev " + port_towards(a));
  }
  ::unsetenv(kPathWait);
  enter(self);
}

void World::fail_at_once() const {
  ::setenv(kPathWait, "0", 1);
}

World::~World() {
  while (!daemons_.empty()) kill_here(daemons_.begin()->first);
}

void World::enter(const std::string& node) const {
  // Interfaces have more addresses than the node's; the loopback interface has those of all nodes. So CABLEWAY_PORTS
  // lists the node's own.
  std::string ports;
  for (const std::string& address : addresses(node)) ports += (ports.empty() ? "" : ",") + address + "/32";
  ::setenv("CABLEWAY_PORTS", ports.c_str(), 1);
  ::setenv("CABLEWAY_NODE", node.c_str(), 1);
  ::setenv("CABLEWAY_RUNTIME_DIR", runtime_dirs_.at(node).c_str(), 1);
  ::setenv("CABLEWAY_DAEMON", CABLEWAYD, 1);
  ::setenv("CABLEWAY_LINGER", "5", 1);
}

void World::start(const std::string& node, const std::map<std::string, std::string>& settings) {
  Lockstep::instance().step(node, [&] { start_here(node, settings); });
}

void World::start_here(const std::string& node, const std::map<std::string, std::string>& settings) {
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0) << "fork failed";  // a signal to -1 would reach every process
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter(node);
    for (const auto& [variable, value] : settings) ::setenv(variable.c_str(), value.c_str(), 1);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    ::execl(CABLEWAYD, CABLEWAYD, nullptr);
    ::_exit(127);
  }
  daemons_[node] = pid;
  const Door door{addresses(node).front(), kRelayPort};
  for (int attempt = 0; attempt < 1500; ++attempt) {
    if (answers(door)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FAIL() << "cablewayd of node " << node << " does not answer";
}

void World::kill(const std::string& node) {
  Lockstep::instance().step(node, [&] { kill_here(node); });
}

void World::kill_here(const std::string& node) {
  const auto entry = daemons_.find(node);
  ::kill(entry->second, SIGKILL);
  ::waitpid(entry->second, nullptr, 0);
  daemons_.erase(entry);
}

void World::stop(const std::string& node) const {
  Lockstep::instance().step(node, [&] { ::kill(process(node), SIGSTOP); });
}

void World::resume(const std::string& node) const {
  Lockstep::instance().step(node, [&] { ::kill(process(node), SIGCONT); });
}

std::vector<World::Door> World::doors(const std::string& node) const {
  std::vector<Door> doors;
  for (const std::string& address : addresses(node)) {
    for (const std::uint16_t port : listening_ports(address)) doors.push_back(Door{address, port});
  }
  return doors;
}

World::Door World::relay_door(const std::string& node, const std::string& neighbour) const {
  return Door{hop(neighbour, node).to_address, kRelayPort};
}

Hop World::hop(const std::string& from, const std::string& to) const {
  Hop hop;
  for (std::size_t i = 0; i < cables_.size(); ++i) {
    const auto& [a, b] = cables_[i];
    if (!(a == from && b == to) && !(a == to && b == from)) continue;
    const std::string first = kNetwork + std::to_string(i) + ".1";
    const std::string second = kNetwork + std::to_string(i) + ".2";
    const auto& [low, high] = std::minmax(a, b);
    hop = Hop{.cable = low + "." + port_towards(high) + "-" + high + "." + port_towards(low),
              .from_address = a == from ? first : second,
              .to_node = to,
              .to_address = a == from ? second : first,
              .to_port = kRelayPort};
  }
  return hop;
}

std::string World::found_at(const std::string& node, const std::string& neighbour) {
  return "node " + node + " port " + port_towards(neighbour) + " (cable to " + neighbour + " " + port_towards(node) +
         "): ";
}

std::string World::path(const std::vector<std::string>& nodes) const {
  std::string text = nodes.front();
  for (std::size_t i = 1; i < nodes.size(); ++i) text += " -" + hop(nodes[i - 1], nodes[i]).cable + "-> " + nodes[i];
  return text;
}

std::vector<std::string> World::addresses(const std::string& node) const {
  std::vector<std::string> addresses;
  for (const auto& [a, b] : cables_) {
    if (a == node) addresses.push_back(hop(a, b).from_address);
    if (b == node) addresses.push_back(hop(a, b).to_address);
  }
  return addresses;
}

}  // namespace cableway::nccl::test
