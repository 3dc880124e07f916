// ConnectionTable: this rank's connections to its peers, set up when a schedule first needs them and kept until the end
// of the run.
//
// A connection has a direction and a channel, as in NCCL. Set-up has three parts because the handles are exchanged over
// the rendezvous: listen() on every rank, an all-gather of its results, establish() on every rank. The plugin's calls
// are non-blocking and retried in a loop, in any order, until the deadline.
//
// All functions run on the service thread, one at a time; the progress thread reads the connections meanwhile.
#ifndef CABLEWAY_TOOLS_COLLPERF_CONNECTIONS_H_
#define CABLEWAY_TOOLS_COLLPERF_CONNECTIONS_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nccl_adapter/abi/net_abi.h"
#include "sim/workload/schedule.h"
#include "sim/workload/schedule_progress.h"
#include "tools/collperf/host_memory.h"
#include "tools/collperf/net_plugin.h"
#include "tools/collperf/supervisor.h"

namespace cableway::collperf {

using workload::Schedule;

using ConnectionKey = workload::LaneKey;

// "to rank 2 (channel 0)" or "from rank 2 (channel 0)".
std::string describe(const ConnectionKey& key);

struct Connection {
  void* comm = nullptr;
  std::array<void*, kAreas> mhandles{};  // by memory area; null if the area is empty
};

class ConnectionTable {
 public:
  ConnectionTable(NetPlugin& net, const HostMemory& memory, int device, int rank, WorkControl& control)
      : net_(net), memory_(memory), device_(device), rank_(rank), control_(control) {}

  // Listens for the connections of `schedule` that do not exist yet. Returns the handles for the other ranks.
  absl::StatusOr<std::string> listen(const Schedule& schedule);

  // Connects and accepts with the handles of all ranks, by rank, and registers the memory.
  absl::Status establish(const std::vector<std::string>& handles, std::chrono::milliseconds timeout);

  const Connection& get(const ConnectionKey& key) const { return connections_.at(key); }

  // Deregisters and closes everything, including half-open connections.
  absl::Status close();

 private:
  // NCCL keeps the handle's bytes between retries of connect.
  struct Pending {
    alignas(std::max_align_t) std::array<char, nccl::abi::kHandleBytes> handle{};
    void* listen_comm = nullptr;
    void* comm = nullptr;
  };

  absl::Status read_handles(const std::vector<std::string>& handles);
  absl::Status poll_once(const ConnectionKey& key, Pending& pending);
  absl::Status register_memory(const ConnectionKey& key, Connection& connection);
  absl::Status close_one(const ConnectionKey& key, Connection& connection);
  std::string pending_list() const;

  // Calls the plugin and publishes the call's name for the supervisor.
  template <typename Call>
  nccl::abi::Result guard(const char* name, Call call);

  NetPlugin& net_;
  const HostMemory& memory_;
  const int device_;
  const int rank_;
  WorkControl& control_;
  std::map<ConnectionKey, Pending> pending_;
  std::map<ConnectionKey, Connection> connections_;
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_CONNECTIONS_H_
