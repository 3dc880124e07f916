// Nodes joined by the cables that a test requests, each cable a subnet with an address for either end: on the loopback
// interface of this process's own network; or, with several machines in lockstep (lockstep.h), each node on its
// machine, on the interfaces of that machine's cables. Every node has its own runtime dir and discovers its neighbours
// itself; the plugin of a rank starts its node as on a real host.
//
// This class alone starts nodes, and how it gets its cables and addresses. Tests start, kill, stop and
// resume nodes in step with the other machines.
#ifndef CABLEWAY_TESTS_NCCL_ADAPTER_WORLD_H_
#define CABLEWAY_TESTS_NCCL_ADAPTER_WORLD_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/circuit/hop.h"

namespace cableway::nccl::test {

class World {
 public:
  // The two nodes of each cable. No two cables join the same two nodes.
  using Cables = std::vector<std::pair<std::string, std::string>>;

  // A listening socket at one of a node's cable ports.
  struct Door {
    std::string address;
    std::uint16_t port = 0;
  };

  // The line a - b - c. Sets this process's environment for a rank on node `self`.
  explicit World(const std::string& self);
  World(Cables cables, const std::string& self);
  // Ends the nodes started by start().
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Sets the environment of this process, or of a child, to that of a rank on `node`.
  void enter(const std::string& node) const;

  // Ranks that begin after this call fail a flow with its last circuit, instead of waiting for another path.
  void fail_at_once() const;

  // Runs a cablewayd for `node`, with these variables set, and waits until it serves. It is killed with this process at
  // the latest.
  void start(const std::string& node, const std::map<std::string, std::string>& settings = {});
  void kill(const std::string& node);
  // Suspends and continues the node's process.
  void stop(const std::string& node) const;
  void resume(const std::string& node) const;
  // Identifies the session socket of the node.
  const std::string& runtime_dir(const std::string& node) const { return runtime_dirs_.at(node); }
  // The cablewayd that start() started, on this machine.
  pid_t process(const std::string& node) const { return daemons_.at(node); }

  // The relay port and the data ports of all ranks on `node`, at each of its addresses.
  std::vector<Door> doors(const std::string& node) const;
  // The address where the node's own cablewayd accepts set-ups, on its cable to `neighbour`.
  Door relay_door(const std::string& node, const std::string& neighbour) const;
  // The cable between two neighbours, in that direction, as both of them describe it.
  Hop hop(const std::string& from, const std::string& to) const;
  // The prefix of messages about an error that `node` finds on its cable to `neighbour`: "node a port lo (cable to b
  // lo): ".
  static std::string found_at(const std::string& node, const std::string& neighbour);
  // A path in messages: "a -a.lo-b.lo-> b -b.lo-c.lo-> c".
  std::string path(const std::vector<std::string>& nodes) const;

 private:
  void start_here(const std::string& node, const std::map<std::string, std::string>& settings);
  void kill_here(const std::string& node);
  std::vector<std::string> addresses(const std::string& node) const;

  const Cables cables_;
  std::map<std::string, std::string> runtime_dirs_;
  std::map<std::string, pid_t> daemons_;
};

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_NCCL_ADAPTER_WORLD_H_
