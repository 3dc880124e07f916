// Nodes that are joined by whatever cables a test asks for, each a subnet with an address for either end: on the
// loopback interface of a network of this process's own; or, with several machines in lockstep (lockstep.h), each node
// on its machine, on the interfaces of that machine's cables. Every node has a runtime dir of its own and finds its
// neighbours by itself; the plugin of a rank starts its node as it would on a real host.
//
// How a node is started, and how it learns of its cables and addresses, is known here and nowhere else in the tests.
// Whoever starts, kills, stops or resumes nodes does so in step with the other machines.
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
  // The two nodes that each cable joins. No two cables join the same two.
  using Cables = std::vector<std::pair<std::string, std::string>>;

  // Something that listens at one of a node's cable ports.
  struct Door {
    std::string address;
    std::uint16_t port = 0;
  };

  // The line a - b - c. Sets this process's environment for a rank on node `self`.
  explicit World(const std::string& self);
  World(Cables cables, const std::string& self);
  // Ends the nodes that start() started.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Sets the environment of this process, or of a child, to that of a rank on `node`.
  void enter(const std::string& node) const;

  // Runs a cablewayd for `node`, with these variables set, and waits until it serves. It ends with this process at the
  // latest.
  void start(const std::string& node, const std::map<std::string, std::string>& settings = {});
  void kill(const std::string& node);
  // Stands still, and goes on.
  void stop(const std::string& node) const;
  void resume(const std::string& node) const;
  // Names the session socket of the node, for whoever asks it.
  const std::string& runtime_dir(const std::string& node) const { return runtime_dirs_.at(node); }
  // The cablewayd that start() started, on this machine.
  pid_t process(const std::string& node) const { return daemons_.at(node); }

  // The relay port and the data ports of all ranks on `node`, at each of its addresses.
  std::vector<Door> doors(const std::string& node) const;
  // Where the node's own cablewayd takes set-ups, on its cable to `neighbour`.
  Door relay_door(const std::string& node, const std::string& neighbour) const;
  // The cable between two neighbours, in that direction, as both of them know it.
  Hop hop(const std::string& from, const std::string& to) const;
  // How messages name what `node` finds on its cable to `neighbour`: "node a port lo (cable to b lo): ".
  static std::string found_at(const std::string& node, const std::string& neighbour);
  // How messages name a path: "a -a.lo-b.lo-> b -b.lo-c.lo-> c".
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
