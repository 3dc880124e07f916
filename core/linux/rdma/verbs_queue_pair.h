// RdmaQueuePair on a device: a reliable connection with its own completion queue. See core/rdma/rdma_queue_pair.h for
// the contract; the verbs' contracts are in rdma-core's manual pages (ibv_post_send(3), ibv_modify_qp(3)).
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_QUEUE_PAIR_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_QUEUE_PAIR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/linux/link/idle.h"
#include "core/linux/os/mapped_pages.h"
#include "core/linux/os/own_descriptors.h"
#include "core/linux/rdma/verbs_connection.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/linux/rdma/verbs_memory.h"
#include "core/rdma/rdma_queue_pair.h"

namespace cableway::host {

class VerbsQueuePair final : public RdmaQueuePair {
 public:
  // On `device`'s port with address `gid`. With Idle::kSleeps it uses one more descriptor of the process.
  // `packet_sequence`: 24 bits, random, so that packets of an earlier connection are not accepted by this one.
  // ResourceExhausted names the limit to raise; other errors name the fault of the port or the options.
  static absl::StatusOr<std::unique_ptr<VerbsQueuePair>> create(std::shared_ptr<const VerbsDevice> device,
                                                                const VerbsGid& gid, std::uint32_t packet_sequence,
                                                                const VerbsOptions& options, Idle idle = Idle::kSleeps);
  ~VerbsQueuePair() override;

  RdmaEndpoint endpoint() const override { return endpoint_; }
  std::span<const std::byte> mailbox() const override { return mailbox_.bytes(); }
  // Blocks for up to about a second, at most twice, if the kernel must resolve the other end's Ethernet address.
  absl::Status connect(const RdmaEndpoint& other) override;
  absl::Status post(std::span<const RdmaWrite> writes) override;
  absl::Status expect_notices(std::uint32_t count) override;
  absl::StatusOr<std::size_t> poll(std::span<RdmaCompletion> completions) override;
  void fence() override;

  // For threads that sleep: after arm() and a poll() that found nothing, `fd` becomes readable with the next
  // completion, once; take_events() makes it unreadable again. With Idle::kPolls `fd` is -1, and these must not be
  // called.
  int fd() const;
  absl::Status arm();
  void take_events();

  // Unavailable: the device has reported that it, its port or the completion queue has failed, after which completions
  // may be missing. Callable from any thread.
  absl::Status health() const;

  // For making another connection on the same port.
  const VerbsGid& gid() const { return gid_; }
  const VerbsOptions& options() const { return options_; }

 private:
  // Work requests and completions in the device's format.
  struct Batch;

  VerbsQueuePair(std::shared_ptr<const VerbsDevice> device, const VerbsGid& gid, const VerbsOptions& options);
  absl::Status prepare(std::uint32_t packet_sequence, Idle idle);
  absl::Status make_mailbox();
  absl::Status make_channel();
  absl::Status make_queues();
  const absl::Status& break_off(absl::Status status);
  absl::Status why(std::span<const ibv_wc> failed) const;

  const std::shared_ptr<const VerbsDevice> device_;
  VerbsGid gid_;
  const VerbsOptions options_;
  RdmaEndpoint endpoint_;
  const std::unique_ptr<Batch> batch_;
  absl::Status broken_;  // final
  // Destroyed in reverse order: later members use earlier ones.
  MappedPages mailbox_;
  std::unique_ptr<VerbsMemory> mailbox_memory_;
  VerbsOwned<ibv_comp_channel> channel_;  // null with Idle::kPolls
  std::optional<OwnDescriptor> own_channel_;
  VerbsOwned<ibv_cq> completions_;
  VerbsOwned<ibv_qp> pair_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_QUEUE_PAIR_H_
