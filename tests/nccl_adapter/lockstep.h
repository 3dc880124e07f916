// Runs one test on several machines at the same time: each machine runs the whole test, so that the test's nodes and
// ranks can be on different machines. Actions of a node - on its daemon or a rank's process - are executed on that
// node's machine only; the other machines wait for the result and continue with it. So the test sees the same results
// on all machines, and takes the same next step.
//
// WORLD_RENDEZVOUS=ADDRESS:PORT, the first machine's, enables several machines: those of a lab (tools/lab/softroce),
// where LAB_NODES names them and LAB_NODE_INDEX is this one's index. Node a of a test is on the first, b on the second,
// and so on. Without it this machine has all nodes, and a step is a call.
//
// Used by the test's thread only.
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
  // The process's instance. The first call waits for the other machines, and aborts the process if they do not connect.
  static Lockstep& instance();

  bool on_several_machines() const { return rendezvous_ != nullptr; }
  bool is_here(const std::string& node) const;
  // The name of the node's machine; "" if one machine has all nodes.
  std::string machine_of(const std::string& node) const;

  // Calls `act` on the node's machine only, and returns its result on every machine. An exception of `act` is thrown on
  // all of them. Throws std::runtime_error if a machine is gone, or has reached another step than this one.
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
