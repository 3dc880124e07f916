// The implementation behind all ABI versions of the plugin. A Context is what v11's `ctx` points to; v8 to v10 share
// one.
//
// Threads are as NCCL uses them (net_abi.h). Destroying the context cleans up everything that NCCL leaves behind when
// it aborts, in particular half-open comms.
#ifndef CABLEWAY_NCCL_ADAPTER_PLUGIN_CONTEXT_H_
#define CABLEWAY_NCCL_ADAPTER_PLUGIN_CONTEXT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "nccl_adapter/comm/flow_comm.h"
#include "nccl_adapter/comm/listen_comm.h"
#include "nccl_adapter/comm/recv_comm.h"
#include "nccl_adapter/comm/send_comm.h"
#include "nccl_adapter/process/process.h"

namespace cableway::nccl {

class Context {
 public:
  // Shares this process's Process, creating it if there is none.
  // `communicator`: NCCL's id of it, for the versions with a context for each.
  static absl::StatusOr<std::unique_ptr<Context>> create(Log log, std::optional<std::uint64_t> communicator);
  ~Context();
  // The shared context of the versions without a context argument. The first function creates it, the second returns
  // it (null before that).
  static absl::StatusOr<Context*> legacy(Log log);
  static Context* legacy();
  // For calls that have no context in any version.
  static absl::StatusOr<std::shared_ptr<const Process>> this_process();
  // Whether a context of that communicator exists. False in a forked child. Callable from any thread.
  static bool serves(std::uint64_t communicator);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Log& log() const { return process_->log(); }

  absl::StatusOr<ListenComm*> listen(void* handle);
  // Null: not connected yet; call again with the same handle. FailedPrecondition: the peer's tuner chooses otherwise.
  absl::StatusOr<SendComm*> connect(void* handle);
  // Null: no peer has connected yet; call again.
  absl::StatusOr<RecvComm*> accept(ListenComm* listener);
  absl::Status close(FlowComm* comm);
  absl::Status close(ListenComm* listener);

 private:
  Context(std::shared_ptr<Process> process, std::optional<std::uint64_t> communicator);

  template <typename Comm>
  Comm* keep(const std::shared_ptr<Comm>& comm);
  absl::StatusOr<SendComm*> take_opened(std::uint64_t ticket);
  void abandon(FlowComm& comm, const char* reason);
  void stop_listening(ListenComm& listener);

  std::shared_ptr<Process> process_;
  const std::optional<std::uint64_t> communicator_;
  const TunerMark tuner_;
  std::mutex mutex_;
  std::map<ListenComm*, std::shared_ptr<ListenComm>> listeners_;
  std::map<FlowComm*, std::shared_ptr<FlowComm>> flows_;
  std::map<std::uint64_t, std::shared_ptr<SendComm>> opening_;  // by the ticket written into the handle
  std::uint64_t next_ticket_ = 1;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PLUGIN_CONTEXT_H_
