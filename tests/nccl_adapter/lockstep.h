// One test that several machines run at the same time, each machine the whole of it, so that its nodes and ranks can be
// on machines of their own. What belongs to a node - its daemon, a rank's process - is done on that node's machine
// alone; the others wait for it, and go on with what came of it. So what a test is told is the same on all of them, and
// what it does next as well.
//
// WORLD_RENDEZVOUS=ADDRESS:PORT, which is the first machine's, says that there are several. They are those of a lab
// (tools/lab/softroce): LAB_NODES names them, LAB_NODE_INDEX is this one's place. Node a of a test is on the first, b
// on the second, and so on. Without it this machine has all nodes, and a step is a call.
//
// Used by a test's own thread.
#ifndef CABLEWAY_TESTS_NCCL_ADAPTER_LOCKSTEP_H_
#define CABLEWAY_TESTS_NCCL_ADAPTER_LOCKSTEP_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/collperf/rendezvous.h"

namespace cableway::nccl::test {

class Lockstep {
 public:
  // This process's. The first call waits for the other machines, and ends the process where they do not come.
  static Lockstep& instance();

  bool on_several_machines() const { return rendezvous_ != nullptr; }
  bool is_here(const std::string& node) const;
  // The name of the node's machine; "" where there is one for all.
  std::string machine_of(const std::string& node) const;

  // What `act` returns on the node's machine, on every machine; it is called on that one alone. What it throws is
  // thrown on all of them. Throws std::runtime_error where a machine is gone, or has come to another step than this
  // one.
  std::string ask(const std::string& node, const std::function<std::string()>& act);
  void step(const std::string& node, const std::function<void()>& act);

 private:
  Lockstep();
  std::size_t place_of(const std::string& node) const;

  std::vector<std::string> machines_;
  std::size_t self_ = 0;
  std::unique_ptr<collperf::Rendezvous> rendezvous_;
  std::size_t steps_ = 0;
};

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_NCCL_ADAPTER_LOCKSTEP_H_
