// RdmaQueuePair on a device: a reliable connection with a completion queue of its own. See core/rdma/rdma_queue_pair.h
// for the contract; the verbs' own are in rdma-core's manual pages (ibv_post_send(3), ibv_modify_qp(3)).
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_QUEUE_PAIR_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_QUEUE_PAIR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/linux/os/mapped_pages.h"
#include "core/linux/os/own_descriptors.h"
#include "core/linux/rdma/verbs_connection.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/linux/rdma/verbs_memory.h"
#include "core/rdma/rdma_queue_pair.h"

namespace cableway::host {

class VerbsQueuePair final : public RdmaQueuePair {
 public:
  // What its owner does while nothing completes. For one that sleeps it takes one more of the process's descriptors.
  enum class Idle : std::uint8_t { kPolls, kSleeps };

  // On `device`'s port with address `gid`. `packet_sequence`: 24 bits, random, so that packets of an earlier connection
  // are not taken for this one's. ResourceExhausted says what to raise; otherwise what is wrong with port or options.
  static absl::StatusOr<std::unique_ptr<VerbsQueuePair>> create(std::shared_ptr<const VerbsDevice> device,
                                                                const VerbsGid& gid, std::uint32_t packet_sequence,
                                                                const VerbsOptions& options, Idle idle = Idle::kSleeps);
  ~VerbsQueuePair() override;

  RdmaEndpoint endpoint() const override { return endpoint_; }
  std::span<const std::byte> mailbox() const override { return mailbox_.bytes(); }
  // Waits up to a second or so where the kernel has to find out the other end's Ethernet address.
  absl::Status connect(const RdmaEndpoint& other) override;
  absl::Status post(std::span<const RdmaWrite> writes) override;
  absl::Status expect_notices(std::uint32_t count) override;
  absl::StatusOr<std::size_t> poll(std::span<RdmaCompletion> completions) override;
  void fence() override;

  // For who wants to sleep: after arm() and a poll() that found nothing, `fd` becomes readable with the next
  // completion, once; take_events() makes it unreadable again. Where it is polled `fd` is -1, and nobody calls these.
  int fd() const;
  absl::Status arm();
  void take_events();

  // Unavailable: the device has said that it, its port, or what reports completions here has failed, after which
  // nothing may be reported any more. Any thread.
  absl::Status health() const;

  // What another connection on the same port needs.
  const VerbsGid& gid() const { return gid_; }
  const VerbsOptions& options() const { return options_; }

 private:
  // Where postings and completions are spelled in the device's way.
  struct Batch;

  VerbsQueuePair(std::shared_ptr<const VerbsDevice> device, const VerbsGid& gid, const VerbsOptions& options);
  absl::Status prepare(std::uint32_t packet_sequence, Idle idle);
  absl::Status make_mailbox();
  absl::Status make_channel();
  absl::Status make_queues();
  const absl::Status& break_off(absl::Status status);
  absl::Status why(std::span<const ibv_wc> failed) const;

  const std::shared_ptr<const VerbsDevice> device_;
  const VerbsGid gid_;
  const VerbsOptions options_;
  RdmaEndpoint endpoint_;
  const std::unique_ptr<Batch> batch_;
  absl::Status broken_;  // final
  // What comes later here uses what comes earlier, and goes first.
  MappedPages mailbox_;
  std::unique_ptr<VerbsMemory> mailbox_memory_;
  VerbsOwned<ibv_comp_channel> channel_;  // null: it is polled
  std::optional<OwnDescriptor> own_channel_;
  VerbsOwned<ibv_cq> completions_;
  VerbsOwned<ibv_qp> pair_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_QUEUE_PAIR_H_
