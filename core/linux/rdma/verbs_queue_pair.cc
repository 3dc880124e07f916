#include "core/linux/rdma/verbs_queue_pair.h"

#include <arpa/inet.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

constexpr std::size_t kPolledAtOnce = 32;
// All work requests: when a connection breaks, those posted without a completion request complete as well.
constexpr int kMaxCompletions = RdmaQueuePair::kMaxWrites + RdmaQueuePair::kMaxNotices;

// Receive requests for notices: each is only an entry in the queue, since a notice's data goes where its write directs
// it. Devices read the chain only while it is posted, so one chain serves all queue pairs.
class NoticeReceives {
 public:
  NoticeReceives() {
    for (std::size_t i = 0; i + 1 < places_.size(); ++i) places_[i].next = &places_[i + 1];
  }
  // A chain of `count` requests.
  ibv_recv_wr* last(std::uint32_t count) { return &places_[places_.size() - count]; }

 private:
  std::array<ibv_recv_wr, RdmaQueuePair::kMaxNotices> places_{};
};

NoticeReceives& notice_receives() {
  static NoticeReceives receives;
  return receives;
}

absl::Status check(const RdmaEndpoint& other) {
  constexpr std::uint32_t kMax24Bits = (1U << 24) - 1;
  if (other.queue_pair > kMax24Bits || other.packet_sequence > kMax24Bits) {
    return absl::InvalidArgumentError("the neighbour's queue pair number or packet number has more than 24 bits");
  }
  if (!std::has_single_bit(other.mtu) || other.mtu < 256 || other.mtu > 4096) {
    return absl::InvalidArgumentError(
        absl::StrCat("the neighbour's RDMA MTU is ", other.mtu, "; expected 256, 512, 1024, 2048 or 4096"));
  }
  return absl::OkStatus();
}

void encode(const RdmaWrite& write, ibv_send_wr& posting, ibv_sge& piece) {
  piece = {reinterpret_cast<std::uintptr_t>(write.data), write.bytes, write.local_key};
  posting = {};
  posting.wr_id = write.ticket;
  posting.sg_list = &piece;
  // Some devices treat an empty piece as one of 2 GiB.
  posting.num_sge = write.bytes == 0 ? 0 : 1;
  posting.opcode = write.notifies ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  posting.imm_data = htonl(write.notice);
  if (write.reports) posting.send_flags |= IBV_SEND_SIGNALED;
  if (write.inlined) posting.send_flags |= IBV_SEND_INLINE;
  posting.wr.rdma.remote_addr = write.to;
  posting.wr.rdma.rkey = write.remote_key;
}

// A neighbour may only write. An empty message would consume a receive request, and look like one of this end's own
// writes.
bool is_message(const ibv_wc& done) {
  return (done.opcode & IBV_WC_RECV) != 0 && done.opcode != IBV_WC_RECV_RDMA_WITH_IMM;
}

RdmaCompletion completion_of(const ibv_wc& done) {
  RdmaCompletion completion{};
  if (done.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    completion.kind = RdmaCompletion::Kind::kNoticed;
    completion.notice = ntohl(done.imm_data);
  } else {
    completion.ticket = done.wr_id;
  }
  return completion;
}

absl::string_view status_text(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "the cable, or the host behind it, does not answer";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "the neighbour posted no receive for a notice";
    case IBV_WC_REM_ACCESS_ERR:
      return "the neighbour refused a write to its memory";
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      return "the neighbour's device could not execute a request";
    case IBV_WC_LOC_PROT_ERR:
      return "this host's device is not permitted to read the data to be sent";
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
      return "this host's device rejected a request";
    case IBV_WC_FATAL_ERR:
      return "this host's device has failed";
    // A flush error without an earlier one: this end's requests were not the cause.
    case IBV_WC_WR_FLUSH_ERR:
      return "the device ended the connection: the neighbour violated the protocol, or the port failed";
    default:
      return "the device ended the connection";
  }
}

}  // namespace

struct VerbsQueuePair::Batch {
  std::array<ibv_send_wr, kMaxWrites> writes;
  std::array<ibv_sge, kMaxWrites> pieces;
  std::array<ibv_wc, kPolledAtOnce> done;
};

// The batch is left uninitialized, so its pages use no memory until it is used.
VerbsQueuePair::VerbsQueuePair(std::shared_ptr<const VerbsDevice> device, const VerbsGid& gid,
                               const VerbsOptions& options)
    : device_(std::move(device)), gid_(gid), options_(options), batch_(std::make_unique_for_overwrite<Batch>()) {}

VerbsQueuePair::~VerbsQueuePair() {
  fence();
  const void* const gone = completions_.get();
  completions_.reset();
  device_->forget(gone);
}

absl::StatusOr<std::unique_ptr<VerbsQueuePair>> VerbsQueuePair::create(std::shared_ptr<const VerbsDevice> device,
                                                                       const VerbsGid& gid,
                                                                       std::uint32_t packet_sequence,
                                                                       const VerbsOptions& options, Idle idle) {
  if (absl::Status status = check_options(gid, options); !status.ok()) return status;
  std::unique_ptr<VerbsQueuePair> made(new VerbsQueuePair(std::move(device), gid, options));
  if (absl::Status status = made->prepare(packet_sequence, idle); !status.ok()) return status;
  return made;
}

absl::Status VerbsQueuePair::prepare(std::uint32_t packet_sequence, Idle idle) {
  const absl::StatusOr<VerbsGid> found = device_->find_gid(gid_);
  if (!found.ok()) return found.status();
  gid_ = *found;
  const absl::StatusOr<std::uint32_t> mtu = device_->active_mtu(gid_.port);
  if (!mtu.ok()) return mtu.status();
  if (absl::Status status = make_mailbox(); !status.ok()) return status;
  if (idle == Idle::kSleeps) {
    if (absl::Status status = make_channel(); !status.ok()) return status;
  }
  if (absl::Status status = make_queues(); !status.ok()) return status;
  endpoint_ = {pair_->qp_num,
               packet_sequence,
               gid_.bytes,
               *mtu,
               reinterpret_cast<std::uintptr_t>(mailbox_.bytes().data()),
               mailbox_memory_->keys().remote};
  return absl::OkStatus();
}

absl::Status VerbsQueuePair::make_mailbox() {
  absl::StatusOr<MappedPages> pages = MappedPages::create(kMailboxBytes);
  if (!pages.ok()) return pages.status();
  mailbox_ = *std::move(pages);
  absl::StatusOr<std::unique_ptr<VerbsMemory>> memory =
      VerbsMemory::add(device_, mailbox_.bytes().data(), kMailboxBytes, VerbsRights{.remote_write = true});
  if (!memory.ok()) return memory.status();
  mailbox_memory_ = *std::move(memory);
  return absl::OkStatus();
}

absl::Status VerbsQueuePair::make_channel() {
  channel_ = {device_->library().create_comp_channel(device_->context()), device_->release()};
  if (channel_ == nullptr) return device_->refused(errno, "create a completion channel");
  own_channel_.emplace(channel_->fd);
  const int flags = ::fcntl(channel_->fd, F_GETFL);
  if (flags == -1 || ::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) == -1) {
    return device_->refused(errno, "report completions without blocking");
  }
  return absl::OkStatus();
}

absl::Status VerbsQueuePair::make_queues() {
  const VerbsLibrary& library = device_->library();
  completions_ = {library.create_cq(device_->context(), kMaxCompletions, nullptr, channel_.get(), 0),
                  device_->release()};
  if (completions_ == nullptr) {
    return device_->refused(errno, absl::StrCat("create a completion queue of ", kMaxCompletions));
  }
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions_.get();
  wanted.cap.max_send_wr = kMaxWrites;
  wanted.cap.max_recv_wr = kMaxNotices;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  wanted.cap.max_inline_data = kMaxInlineBytes;
  wanted.qp_type = IBV_QPT_RC;
  pair_ = {library.create_qp(device_->domain(), &wanted), device_->release()};
  if (pair_ != nullptr) return absl::OkStatus();
  return device_->refused(errno, absl::StrCat("create a queue pair of ", kMaxWrites, " writes, ", kMaxNotices,
                                              " notices and ", kMaxInlineBytes, " bytes inline"));
}

absl::Status VerbsQueuePair::connect(const RdmaEndpoint& other) {
  if (!broken_.ok()) return broken_;
  if (absl::Status status = check(other); !status.ok()) return break_off(std::move(status));
  const VerbsJoin join{endpoint_, other, IBV_ACCESS_REMOTE_WRITE, [this] { return expect_notices(kMaxNotices); }};
  if (absl::Status status = join_queue_pair(*device_, *pair_, join, gid_, options_); !status.ok()) {
    return break_off(std::move(status));
  }
  return broken_;
}

absl::Status VerbsQueuePair::post(std::span<const RdmaWrite> writes) {
  if (!broken_.ok() || writes.empty()) return broken_;
  if (writes.size() > kMaxWrites)
    return break_off(absl::InvalidArgumentError("more writes than a queue pair has room for"));
  for (std::size_t i = 0; i < writes.size(); ++i) {
    encode(writes[i], batch_->writes[i], batch_->pieces[i]);
    if (i > 0) batch_->writes[i - 1].next = &batch_->writes[i];
  }
  ibv_send_wr* refused = nullptr;
  const int error = ibv_post_send(pair_.get(), batch_->writes.data(), &refused);
  return error == 0 ? absl::OkStatus() : break_off(device_->refused(error, "accept writes"));
}

absl::Status VerbsQueuePair::expect_notices(std::uint32_t count) {
  if (!broken_.ok() || count == 0) return broken_;
  if (count > kMaxNotices) return break_off(absl::InvalidArgumentError("more notices than a queue pair has room for"));
  ibv_recv_wr* refused = nullptr;
  const int error = ibv_post_recv(pair_.get(), notice_receives().last(count), &refused);
  return error == 0 ? absl::OkStatus() : break_off(device_->refused(error, "accept receives for notices"));
}

absl::StatusOr<std::size_t> VerbsQueuePair::poll(std::span<RdmaCompletion> completions) {
  std::size_t filled = 0;
  while (broken_.ok() && filled < completions.size()) {
    const std::size_t wanted = std::min(completions.size() - filled, kPolledAtOnce);
    const int polled = ibv_poll_cq(completions_.get(), static_cast<int>(wanted), batch_->done.data());
    if (polled < 0) break_off(device_->refused(-polled, "report completions"));
    const std::span<const ibv_wc> done(batch_->done.data(), polled < 0 ? 0 : static_cast<std::size_t>(polled));
    for (std::size_t i = 0; i < done.size() && broken_.ok(); ++i) {
      if (done[i].status != IBV_WC_SUCCESS) {
        break_off(why(done.subspan(i)));
      } else if (is_message(done[i])) {
        break_off(absl::InvalidArgumentError("peer broke the protocol: a send where only RDMA writes are allowed"));
      } else {
        completions[filled++] = completion_of(done[i]);
      }
    }
    if (done.size() < wanted) break;
  }
  if (filled == 0 && !broken_.ok()) return broken_;
  return filled;
}

void VerbsQueuePair::fence() {
  if (pair_ == nullptr) return;
  ibv_qp_attr wanted{};
  wanted.qp_state = IBV_QPS_ERR;
  // If the device refuses, it is gone, or destroying the queue pair has the same effect.
  static_cast<void>(device_->library().modify_qp(pair_.get(), &wanted, IBV_QP_STATE));
  const void* const gone = pair_.get();
  pair_.reset();
  device_->forget(gone);
  break_off(absl::FailedPreconditionError("this end of the hop is closed"));
}

absl::Status VerbsQueuePair::health() const {
  if (absl::Status device = device_->health(gid_.port); !device.ok()) return device;
  const std::string words = device_->last_async_error(completions_.get());
  return words.empty() ? absl::OkStatus() : absl::UnavailableError(words);
}

int VerbsQueuePair::fd() const {
  return channel_ == nullptr ? -1 : channel_->fd;
}

absl::Status VerbsQueuePair::arm() {
  const int error = ibv_req_notify_cq(completions_.get(), 0);
  return error == 0 ? absl::OkStatus() : break_off(device_->refused(error, "report the next completion"));
}

void VerbsQueuePair::take_events() {
  const VerbsLibrary& library = device_->library();
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  unsigned taken = 0;
  while (library.get_cq_event(channel_.get(), &queue, &context) == 0) ++taken;
  if (taken > 0) library.ack_cq_events(completions_.get(), taken);
}

// Keeps the first reason.
const absl::Status& VerbsQueuePair::break_off(absl::Status status) {
  if (broken_.ok()) broken_ = std::move(status);
  return broken_;
}

// The device reports the failure first and then flushes the rest. `failed` begins with the first unsuccessful
// completion.
absl::Status VerbsQueuePair::why(std::span<const ibv_wc> failed) const {
  const auto has_cause = [](const ibv_wc& done) {
    return done.status != IBV_WC_SUCCESS && done.status != IBV_WC_WR_FLUSH_ERR;
  };
  const auto found = std::find_if(failed.begin(), failed.end(), has_cause);
  const ibv_wc& reason = found == failed.end() ? failed.front() : *found;
  std::string device_words = device_->library().wc_status_str(reason.status);
  if (reason.vendor_err != 0) absl::StrAppend(&device_words, ", vendor code ", absl::Hex(reason.vendor_err));
  // An asynchronous event may be more specific than a flush error; it may also still be in flight.
  const std::string event = device_->last_async_error(pair_.get());
  return absl::UnavailableError(absl::StrCat("RDMA device ", device_->name(), ": ", status_text(reason.status), " (",
                                             device_words, ")", event.empty() ? "" : "; ", event));
}

}  // namespace cableway::host
