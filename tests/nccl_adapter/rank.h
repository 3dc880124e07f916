// One rank as driven by NCCL: the plugin loaded with dlopen, one table version, comms and requests polled to completion
// with a deadline.
#ifndef CABLEWAY_TESTS_NCCL_ADAPTER_RANK_H_
#define CABLEWAY_TESTS_NCCL_ADAPTER_RANK_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nccl_adapter/abi/net_abi.h"
#include "tools/collperf/plugin_library.h"

namespace cableway::nccl::test {

using Handle = std::array<std::byte, abi::kHandleBytes>;

struct Outcome {
  abi::Result result = abi::kSuccess;
  bool done = false;
  int bytes = -1;
};

// Memory registered on a comm for the lifetime of this object.
struct Buffer {
  std::vector<std::byte> bytes;
  void* mhandle = nullptr;
};

class Rank {
 public:
  // Loads the plugin and calls init. Aborts the process if that fails, since no test can continue.
  explicit Rank(int version);
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  collperf::NetPlugin& net() { return library_.net(); }

  std::pair<Handle, void*> listen();
  // Polls until there is a comm or a failure; `result` distinguishes them.
  void* connect(Handle handle, abi::Result* result = nullptr);
  void* accept(void* listen_comm);
  // A flow from this rank to itself.
  std::pair<void*, void*> connect_to_self();

  Buffer make_buffer(void* comm, std::size_t bytes, std::uint64_t seed);
  void* post_send(void* comm, const Buffer& buffer, std::size_t bytes);
  void* post_receive(void* comm, const Buffer& buffer, std::size_t bytes);
  // Tests until the request is done or failed, or `limit` has passed.
  Outcome finish(void* request, std::chrono::milliseconds limit = std::chrono::seconds(20));

 private:
  collperf::PluginLibrary library_;
};

// Loads the plugin, and unloads it again; what init returned.
abi::Result result_of_init(int version);

// Bytes that differ for different seeds.
std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed);

// The plugin's warnings so far, in this process.
std::vector<std::string> warnings();

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_NCCL_ADAPTER_RANK_H_
