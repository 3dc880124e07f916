// A libibverbs in memory: the calls made by core/linux/rdma/verbs_*, for devices that a test defines. Registrations and
// queue creations are recorded and can be made to fail. Two kinds of work requests are executed, at once and in any
// thread, with a device's checks of keys, rights and bounds: reads over a queue pair that is connected with itself, and
// writes to another queue pair of this process. Writes over a queue pair connected with itself are dropped.
#ifndef CABLEWAY_TESTS_CORE_LINUX_RDMA_FAKE_VERBS_H_
#define CABLEWAY_TESTS_CORE_LINUX_RDMA_FAKE_VERBS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/linux/rdma/verbs_device.h"

namespace cableway::host::test {

// A registration as requested.
struct FakeRegistration {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  unsigned access = 0;  // IBV_ACCESS_*
  bool dmabuf = false;
  std::uint64_t offset = 0;  // of a dmabuf
  std::uint32_t key = 0;     // both keys
  bool is_live = true;
};

struct FakeVerbsDevice : ibv_device {
  explicit FakeVerbsDevice(std::string its_name) : ibv_device{}, name(std::move(its_name)) {}

  const std::string name;
  std::uint32_t vendor_id = 0x02c9;
  // Its port's GID, at this index; only this one can be used. `other_gids` are in the table as well.
  VerbsGid gid;
  std::vector<ibv_gid_entry> other_gids;
  bool has_gid = true;
  std::function<void()> before_joining;  // called before each change to ready-to-receive
  std::function<void()> after_joining;   // and after it
  // Errors (errno) that calls fail with; 0: they succeed.
  int register_error = 0;  // of host memory, and of other memory registered by address
  int dmabuf_error = 0;    // EOPNOTSUPP: not supported here
  int queue_pair_error = 0;
  int posting_error = 0;
  int join_error = 0;  // of making a queue pair ready to receive
  ibv_wc_status read_status = IBV_WC_SUCCESS;
  bool holds_completions = false;  // until this is false again
  ibv_port_state port_state = IBV_PORT_ACTIVE;
  std::function<void()> while_port_is_queried;
  std::deque<ibv_async_event> events;     // unread events
  std::vector<ibv_wc> extra_completions;  // further completions, returned first by the next poll of a queue
  // Called in the thread concerned: before a completion queue is armed, and after a poll found it empty.
  std::function<void()> when_arming;
  std::function<void()> when_polled_empty;

  std::vector<FakeRegistration> registrations;    // all that were made
  std::vector<std::uint32_t> packet_sequences;    // the initial ones of the queue pairs
  std::vector<std::array<std::byte, 16>> joined;  // remote GIDs of the queue pairs
  std::vector<int> joined_by;                     // the indices of their own
  std::size_t received = 0;                       // calls that posted receives
  std::size_t reads = 0;
  ibv_qp* last_pair = nullptr;  // the last one made
  ibv_cq* last_queue = nullptr;
  std::atomic<std::size_t> armed = 0;              // how often completion queues were armed
  std::atomic<std::size_t> completion_events = 0;  // events that channels delivered
};

// One at a time in a process. Must outlive everything made on its devices.
class FakeVerbs {
 public:
  FakeVerbs();
  ~FakeVerbs();
  FakeVerbs(const FakeVerbs&) = delete;
  FakeVerbs& operator=(const FakeVerbs&) = delete;

  FakeVerbsDevice& add(const std::string& name, const VerbsGid& gid = {});
  std::shared_ptr<VerbsDevice> open(const FakeVerbsDevice& device) const;
  const VerbsLibrary& library() const { return library_; }
  // For simulating a library that is too old for dmabufs.
  VerbsLibrary& library() { return library_; }

 private:
  VerbsLibrary& library_;
  std::vector<std::unique_ptr<FakeVerbsDevice>> devices_;
};

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_RDMA_FAKE_VERBS_H_
