#include "sim/stub_rdma/stub_queue_pair.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/stub_rdma/stub_network.h"

namespace cableway::sim {
namespace {

constexpr std::uint32_t kMtu = 4096;
constexpr std::uint32_t kMax24Bits = 0xffffff;

absl::Status no_answer() {
  return absl::UnavailableError("transport retry counter exceeded: the other end does not answer");
}

}  // namespace

StubQueuePair::StubQueuePair(StubNetwork& network, StubDevice& device, std::uint32_t number,
                             std::uint32_t packet_sequence)
    : network_(network),
      device_(device),
      number_(number),
      packet_sequence_(packet_sequence),
      mailbox_(std::make_unique<Mailbox>()),
      mailbox_memory_(device.register_writable(mailbox_->bytes)),
      ring_(kMaxWrites),
      reported_(kMaxWrites + kMaxNotices) {}

StubQueuePair::~StubQueuePair() {
  fence();
  network_.forget(number_);
}

RdmaEndpoint StubQueuePair::endpoint() const {
  RdmaEndpoint endpoint;
  endpoint.queue_pair = number_;
  endpoint.packet_sequence = packet_sequence_;
  endpoint.gid = device_.gid();
  endpoint.mtu = kMtu;
  endpoint.mailbox = reinterpret_cast<std::uint64_t>(mailbox_->bytes.data());
  endpoint.mailbox_key = mailbox_memory_.keys().remote;
  endpoint.ethernet.bytes[0] = std::byte{2};
  return endpoint;
}

absl::Status StubQueuePair::connect(const RdmaEndpoint& other) {
  if (fenced_ || joined_) return misused("is connected twice, or after its fence");
  if (other.queue_pair > kMax24Bits || other.packet_sequence > kMax24Bits) {
    return absl::InvalidArgumentError(absl::StrCat("queue pair ", other.queue_pair, " with packet sequence ",
                                                   other.packet_sequence, ": 24 bits expected of each"));
  }
  if (other.mtu != kMtu) {
    return absl::InvalidArgumentError(absl::StrCat("packets of ", other.mtu, " bytes: ", kMtu, " expected"));
  }
  other_ = other;
  joined_ = true;
  room_ = kMaxNotices;
  return absl::OkStatus();
}

absl::Status StubQueuePair::check_usable() const {
  if (fenced_) return absl::FailedPreconditionError("the queue pair is closed");
  if (!joined_) return absl::FailedPreconditionError("the queue pair is not connected");
  return absl::OkStatus();
}

absl::Status StubQueuePair::misused(const std::string& how) {
  absl::Status misuse = absl::FailedPreconditionError(absl::StrCat("queue pair ", number_, " ", how));
  network_.note_misuse(misuse);
  return misuse;
}

absl::Status StubQueuePair::post(std::span<const RdmaWrite> writes) {
  if (absl::Status status = check_usable(); !status.ok()) return status;
  ++counts_.posts;
  const std::uint64_t before = posted_;
  absl::Status status;
  for (std::size_t i = 0; i < writes.size() && status.ok(); ++i) status = take(writes[i]);
  if (mover_ != nullptr) mover_->on_posted(posted_ - before);
  return status;
}

absl::Status StubQueuePair::take(const RdmaWrite& write) {
  if (!dead_.ok()) return absl::OkStatus();  // a device accepts and flushes it; poll() reports why
  if (posted_ - released_ == kMaxWrites) return misused("has too many outstanding writes");
  if (write.inlined && write.bytes > kMaxInlineBytes) return misused("was to inline too many bytes");
  Outstanding& taken = at(posted_++);
  taken.write = write;
  if (write.inlined) std::memcpy(taken.inlined.data(), write.data, write.bytes);
  ++counts_.writes;
  (write.inlined ? counts_.inlined_bytes : counts_.bytes) += write.bytes;
  return absl::OkStatus();
}

absl::Status StubQueuePair::expect_notices(std::uint32_t count) {
  if (absl::Status status = check_usable(); !status.ok()) return status;
  if (count > kMaxNotices - room_ - unseen_notices_) return misused("was to make room for more notices than it has");
  room_ += count;
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> StubQueuePair::poll(std::span<RdmaCompletion> completions) {
  if (absl::Status status = check_usable(); !status.ok()) return status;
  if (reported_first_ == reported_end_ && !dead_.ok()) return dead_;
  std::size_t filled = 0;
  for (; filled < completions.size() && reported_first_ != reported_end_; ++filled) {
    const Reported& next = reported_[reported_first_++ % reported_.size()];
    completions[filled] = next.completion;
    if (next.completion.kind == RdmaCompletion::Kind::kNoticed) {
      --unseen_notices_;
    } else {
      released_ = next.stands_for;
    }
  }
  return filled;
}

void StubQueuePair::fence() {
  if (std::exchange(fenced_, true)) return;
  late_.clear();
  const std::size_t late = leave_on_the_wire();
  if (mover_ != nullptr) mover_->on_fenced(late);
  // Frees the writes as a device does with its queue pair; the mailbox stays, and is not written any more.
  ring_ = {};
  reported_ = {};
}

std::size_t StubQueuePair::leave_on_the_wire() {
  if (!dead_.ok() || find_peer() != Peer::kThere) return 0;
  const std::size_t on_the_wire = network_.choose_late_writes(writes_in_flight());
  for (std::size_t i = 0; i < on_the_wire; ++i) {
    const Outstanding& next = at(landed_++);
    const bool is_read = network_.moves_payload() || next.write.inlined;
    if (!next.write.inlined && !device_.check_read(next.write.data, next.write.bytes, next.write.local_key).ok()) {
      return i;
    }
    Late late{next.write, {}};
    if (is_read) late.bytes.assign(next.bytes(), next.bytes() + next.write.bytes);
    peer()->late_.push_back(std::move(late));
  }
  return on_the_wire;
}

StubQueuePair* StubQueuePair::peer() const {
  return network_.find(other_.queue_pair);
}

StubQueuePair::Peer StubQueuePair::find_peer() const {
  const StubQueuePair* there = peer();
  if (there == nullptr || there->fenced_ || !there->dead_.ok()) return Peer::kGone;
  if (!there->joined_) return Peer::kNotJoined;
  const bool is_ours = there->other_.queue_pair == number_ && there->other_.packet_sequence == packet_sequence_ &&
                       there->packet_sequence_ == other_.packet_sequence;
  return is_ours ? Peer::kThere : Peer::kGone;
}

bool StubQueuePair::deliver() {
  if (fenced_ || !dead_.ok() || writes_held_ || landed_ == posted_) return false;
  const Peer found = find_peer();
  if (found == Peer::kNotJoined) return false;
  if (found == Peer::kGone) {
    // Without the peer, landed writes stay unacknowledged and therefore incomplete.
    end(no_answer());
    return true;
  }
  const absl::Status status = land_next();
  if (status.ok()) return true;
  // A negative acknowledgement implies that all earlier writes succeeded.
  while (completed_ != landed_) report_written(completed_++);
  end(status);
  return true;
}

absl::Status StubQueuePair::land_next() {
  Outstanding& next = at(landed_);
  StubQueuePair& there = *peer();
  const RdmaWrite& write = next.write;
  if (!write.inlined) {
    if (absl::Status status = device_.check_read(write.data, write.bytes, write.local_key); !status.ok()) return status;
  }
  if (landed_ == failing_write_) return fail_here(next, there);
  next.content = hash_of(write);
  if (absl::Status status = there.accept(write, next.bytes()); !status.ok()) return status;
  ++landed_;
  if (!acknowledgements_lost_ && !network_.loses_acknowledgement()) acknowledged_ = landed_;
  return absl::OkStatus();
}

absl::Status StubQueuePair::fail_here(Outstanding& next, StubQueuePair& there) {
  const RdmaWrite& write = next.write;
  if (there.device_.check_write(write.to, write.bytes, write.remote_key).ok()) {
    move_bytes(write, next.bytes(), write.bytes / 2);
  }
  return absl::UnavailableError(failing_error_);
}

absl::Status StubQueuePair::accept(const RdmaWrite& write, const std::byte* bytes) {
  if (absl::Status status = device_.check_write(write.to, write.bytes, write.remote_key); !status.ok()) {
    end(absl::InternalError(absl::StrCat("the peer wrote where it has no access: ", status.message())));
    return status;
  }
  move_bytes(write, bytes, write.bytes);
  if (!write.notifies) return absl::OkStatus();
  if (room_ == 0) return absl::InternalError("receiver not ready retry counter exceeded: no room there for a notice");
  --room_;
  ++unseen_notices_;
  ++counts_.notices;
  report(Reported{RdmaCompletion{RdmaCompletion::Kind::kNoticed, 0, write.notice}, 0});
  return absl::OkStatus();
}

void StubQueuePair::move_bytes(const RdmaWrite& write, const std::byte* bytes, std::uint32_t count) const {
  if (count == 0 || (!write.inlined && !network_.moves_payload())) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): what crosses a cable is a number
  std::memcpy(reinterpret_cast<std::byte*>(write.to), bytes, count);
}

bool StubQueuePair::deliver_late() {
  if (late_.empty() || fenced_ || !dead_.ok()) return false;
  const Late next = std::move(late_.front());
  late_.pop_front();
  if (!accept(next.write, next.bytes.data()).ok()) late_.clear();
  return true;
}

bool StubQueuePair::complete() {
  if (fenced_ || !dead_.ok() || completions_held_ || completed_ == landed_) return false;
  const Outstanding& next = at(completed_);
  if (hash_of(next.write) != next.content) {
    ++network_.changed_too_early_;
    end(misused("sent memory that was changed before its completion was reported"));
    return true;
  }
  if (misses_acknowledgement()) {
    request_acknowledgement();
  } else {
    report_written(completed_++);
  }
  return true;
}

void StubQueuePair::request_acknowledgement() {
  if (find_peer() == Peer::kThere) {
    acknowledged_ = landed_;
  } else {
    end(no_answer());
  }
}

void StubQueuePair::report_written(std::uint64_t write) {
  const RdmaWrite& done = at(write).write;
  if (!done.reports) return;
  ++counts_.reports;
  report(Reported{RdmaCompletion{RdmaCompletion::Kind::kWritten, done.ticket, 0}, write + 1});
}

void StubQueuePair::report(const Reported& reported) {
  reported_[reported_end_++ % reported_.size()] = reported;
}

void StubQueuePair::fail_write(std::uint64_t others, absl::string_view device_error) {
  failing_write_ = landed_ + others;
  failing_error_ = std::string(device_error);
}

void StubQueuePair::fail(const absl::Status& device_error) {
  end(device_error);
}

void StubQueuePair::end(const absl::Status& why) {
  dead_.Update(why);
}

std::size_t StubQueuePair::hash_of(const RdmaWrite& write) const {
  if (write.inlined || write.bytes == 0 || !network_.moves_payload()) return 0;
  // Memory that is no longer registered cannot be read again.
  if (!device_.check_read(write.data, write.bytes, write.local_key).ok()) return 0;
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(write.data), write.bytes});
}

}  // namespace cableway::sim
