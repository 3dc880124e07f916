// A libibverbs in memory: the calls that core/linux/verbs_* make, for devices of a test's making. What registers memory
// and makes queues is noted and can be made to fail. Of work requests, reads over a queue pair that is connected with
// itself are done, and writes to another one of this process, at once and in any thread, with the checks of keys,
// rights and bounds that a device makes. Writes over one that is connected with itself go nowhere.
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

// What a call was asked to register.
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
  VerbsGid gid;  // its port's only one, at the place that this says
  // Errors (errno) that calls end with; 0: they do not.
  int register_error = 0;  // of host memory, and of what is registered by its address
  int dmabuf_error = 0;    // EOPNOTSUPP: there is no such thing here
  int queue_pair_error = 0;
  int posting_error = 0;
  ibv_wc_status read_status = IBV_WC_SUCCESS;
  bool holds_completions = false;  // until this is false again
  ibv_port_state port_state = IBV_PORT_ACTIVE;
  std::function<void()> while_port_is_queried;
  std::deque<ibv_async_event> events;  // that are still to be read
  std::vector<ibv_wc> unasked;         // completions that the next poll of a queue begins with
  // Called in the thread that does it: before a completion queue is armed, and after one was found empty.
  std::function<void()> when_arming;
  std::function<void()> when_polled_empty;

  std::vector<FakeRegistration> registrations;    // ever
  std::vector<std::uint32_t> packet_sequences;    // that queue pairs were made to send with
  std::vector<std::array<std::byte, 16>> joined;  // GIDs that queue pairs were made to receive from
  std::size_t reads = 0;
  ibv_qp* last_pair = nullptr;  // that was made
  ibv_cq* last_queue = nullptr;
  std::atomic<std::size_t> armed = 0;              // times that completion queues were
  std::atomic<std::size_t> completion_events = 0;  // that channels were asked for, and had
};

// One at a time in a process. Outlives all that was made on its devices.
class FakeVerbs {
 public:
  FakeVerbs();
  ~FakeVerbs();
  FakeVerbs(const FakeVerbs&) = delete;
  FakeVerbs& operator=(const FakeVerbs&) = delete;

  FakeVerbsDevice& add(const std::string& name, const VerbsGid& gid = {});
  std::shared_ptr<VerbsDevice> open(const FakeVerbsDevice& device) const;
  const VerbsLibrary& library() const { return library_; }
  // For a library that is too old for dmabufs.
  VerbsLibrary& library() { return library_; }

 private:
  VerbsLibrary& library_;
  std::vector<std::unique_ptr<FakeVerbsDevice>> devices_;
};

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_RDMA_FAKE_VERBS_H_
