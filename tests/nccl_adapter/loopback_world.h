// A line of nodes on this host's loopback addresses: a -c0- b -c1- c. Every node has a runtime dir of its own, so that
// no network namespace is needed; the plugin of a rank starts its node as it would on a real host.
#ifndef CABLEWAY_TESTS_NCCL_ADAPTER_LOOPBACK_WORLD_H_
#define CABLEWAY_TESTS_NCCL_ADAPTER_LOOPBACK_WORLD_H_

#include <sys/types.h>

#include <map>
#include <string>

namespace cableway::nccl::test {

class LoopbackWorld {
 public:
  // Sets this process's environment for node `self`, which its plugin will join.
  explicit LoopbackWorld(const std::string& self);
  // Ends the daemons that start() started.
  ~LoopbackWorld();
  LoopbackWorld(const LoopbackWorld&) = delete;
  LoopbackWorld& operator=(const LoopbackWorld&) = delete;

  // Sets the environment of this process, or of a child, to that of a rank on `node`.
  void enter(const std::string& node) const;
  // Runs a cablewayd for `node` and waits until it answers on its relay port.
  void start(const std::string& node);
  void kill_daemon(const std::string& node);

  const std::string& runtime_dir(const std::string& node) { return runtime_dirs_[node]; }
  // The address of `node` on the cable towards the higher-named neighbour, or to the lower-named one.
  static std::string address(const std::string& node);
  int relay_port() const { return relay_port_; }

 private:
  std::string topology_file_;
  std::map<std::string, std::string> runtime_dirs_;
  std::map<std::string, pid_t> daemons_;
  int relay_port_ = 0;
};

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_NCCL_ADAPTER_LOOPBACK_WORLD_H_
