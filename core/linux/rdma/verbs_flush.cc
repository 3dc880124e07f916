#include "core/linux/rdma/verbs_flush.h"

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

constexpr std::size_t kLandingBytes = 4096;
constexpr std::size_t kReadsPolledAtOnce = 8;

absl::Status read_failed(const VerbsDevice& device, const ibv_wc& done) {
  std::string words = device.library().wc_status_str(done.status);
  if (done.vendor_err != 0) absl::StrAppend(&words, ", vendor code ", absl::Hex(done.vendor_err));
  return absl::UnavailableError(absl::StrCat("RDMA device ", device.name(),
                                             " cannot read back what was written to GPU memory (", words,
                                             "), so its arrival is unconfirmed"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<VerbsFlush>> VerbsFlush::create(std::shared_ptr<const VerbsDevice> device,
                                                               const VerbsGid& gid, std::uint32_t packet_sequence,
                                                               const VerbsOptions& options) {
  if (absl::Status status = check_options(gid, options); !status.ok()) return status;
  std::unique_ptr<VerbsFlush> made(new VerbsFlush(std::move(device)));
  if (absl::Status status = made->prepare(gid, packet_sequence, options); !status.ok()) return status;
  return made;
}

// Forgets their events after destruction, since others may get their addresses.
VerbsFlush::~VerbsFlush() {
  const void* const pair = pair_.get();
  const void* const completions = completions_.get();
  pair_.reset();
  completions_.reset();
  device_->forget(pair);
  device_->forget(completions);
}

absl::Status VerbsFlush::prepare(const VerbsGid& gid, std::uint32_t packet_sequence, const VerbsOptions& options) {
  const absl::StatusOr<std::uint32_t> mtu = device_->active_mtu(gid.port);
  if (!mtu.ok()) return mtu.status();
  if (absl::Status status = make_landing(); !status.ok()) return status;
  if (absl::Status status = make_queues(); !status.ok()) return status;
  const RdmaEndpoint own{
      .queue_pair = pair_->qp_num, .packet_sequence = packet_sequence, .gid = gid.bytes, .mtu = *mtu};
  VerbsGid found = gid;
  return join_queue_pair(*device_, *pair_, {own, own, IBV_ACCESS_REMOTE_READ}, found, options);
}

absl::Status VerbsFlush::make_landing() {
  absl::StatusOr<MappedPages> pages = MappedPages::create(kLandingBytes);
  if (!pages.ok()) return pages.status();
  landing_ = *std::move(pages);
  auto memory = VerbsMemory::add(device_, landing_.bytes().data(), kLandingBytes, {.local_write = true});
  if (!memory.ok()) return memory.status();
  landing_memory_ = *std::move(memory);
  return absl::OkStatus();
}

absl::Status VerbsFlush::make_queues() {
  const VerbsLibrary& library = device_->library();
  completions_ = {library.create_cq(device_->context(), kMaxReads, nullptr, nullptr, 0), device_->release()};
  if (completions_ == nullptr) {
    return device_->refused(errno, absl::StrCat("create a completion queue of ", kMaxReads));
  }
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions_.get();
  wanted.cap.max_send_wr = kMaxReads;
  // Nothing is received, but some devices reject an empty receive queue.
  wanted.cap.max_recv_wr = 1;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  wanted.qp_type = IBV_QPT_RC;
  pair_ = {library.create_qp(device_->domain(), &wanted), device_->release()};
  if (pair_ != nullptr) return absl::OkStatus();
  return device_->refused(errno, absl::StrCat("create a queue pair of ", kMaxReads, " reads"));
}

absl::StatusOr<std::uint64_t> VerbsFlush::read(std::uint64_t address, std::uint32_t remote_key) {
  if (posted_ - done_ == kMaxReads) poll();
  if (!broken_.ok()) return broken_;
  if (posted_ - done_ == kMaxReads) {
    return absl::ResourceExhaustedError(absl::StrCat("more than ", kMaxReads, " reads of GPU memory at once"));
  }
  ibv_sge landing{reinterpret_cast<std::uintptr_t>(landing_.bytes().data()), 1, landing_memory_->keys().local};
  ibv_send_wr posting{};
  posting.sg_list = &landing;
  posting.num_sge = 1;
  posting.opcode = IBV_WR_RDMA_READ;
  posting.send_flags = IBV_SEND_SIGNALED;
  posting.wr.rdma.remote_addr = address;
  posting.wr.rdma.rkey = remote_key;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(pair_.get(), &posting, &refused); error != 0) {
    broken_ = device_->refused(error, "accept a read of GPU memory");
    return broken_;
  }
  return posted_++;
}

absl::StatusOr<bool> VerbsFlush::done(std::uint64_t read) {
  if (read >= done_) poll();
  if (read < done_) return true;
  if (!broken_.ok()) return broken_;
  // Reads posted to a lost device never complete.
  if (device_->is_lost()) {
    return absl::UnavailableError(
        absl::StrCat("RDMA device ", device_->name(), " failed before it read back what it wrote to GPU memory"));
  }
  return false;
}

// Reads complete in the order in which they were posted.
void VerbsFlush::poll() {
  std::array<ibv_wc, kReadsPolledAtOnce> done;
  while (broken_.ok() && done_ < posted_) {
    const int polled = ibv_poll_cq(completions_.get(), static_cast<int>(done.size()), done.data());
    if (polled < 0) broken_ = device_->refused(-polled, "report completions");
    for (int i = 0; i < polled && broken_.ok(); ++i) {
      const ibv_wc& each = done[static_cast<std::size_t>(i)];
      if (each.status == IBV_WC_SUCCESS) {
        ++done_;
      } else {
        broken_ = read_failed(*device_, each);
      }
    }
    if (polled < static_cast<int>(done.size())) break;
  }
}

}  // namespace cableway::host
