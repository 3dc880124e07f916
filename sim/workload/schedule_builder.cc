#include "sim/workload/schedule_builder.h"

#include <cassert>

#include "sim/workload/line.h"

namespace cableway::workload {
namespace {

constexpr std::uint64_t kMinMessageBytes = std::uint64_t{16} * 1024;
constexpr std::uint64_t kCopyBytes = std::uint64_t{256} * 1024;

// A rank forwards a message at most kMessagesPerChunk (4) messages after the one it received last (ring_schedule.cc):
// there must be more slots than that, or the ring could deadlock.
constexpr int kMinSlots = 8;

}  // namespace

std::vector<Range> channel_shares(Range range, int channels) {
  const std::uint64_t used =
      std::clamp<std::uint64_t>(range.bytes / kMinChannelBytes, 1, static_cast<std::uint64_t>(channels));
  const std::uint64_t share = round_up((range.bytes + used - 1) / used, kLine);
  std::vector<Range> shares;
  std::uint64_t begin = 0;
  do {
    const std::uint64_t bytes = std::min(share, range.bytes - begin);
    shares.push_back({range.offset + begin, bytes});
    begin += bytes;
  } while (begin < range.bytes);
  return shares;
}

std::uint64_t message_size(std::uint64_t bytes, std::uint64_t pieces, std::uint64_t step_bytes) {
  const std::uint64_t wanted = round_up((bytes + pieces - 1) / pieces, kLine);
  return std::min(step_bytes, std::max(wanted, kMinMessageBytes));
}

ScheduleBuilder::ScheduleBuilder(const ScheduleParameters& parameters, std::uint64_t slot_bytes)
    : slot_bytes_(round_up(std::max<std::uint64_t>(slot_bytes, 1), kLine)),
      slots_(static_cast<std::uint64_t>(std::max(2 * parameters.in_flight, kMinSlots))) {
  schedule_.input_bytes = input_size(parameters.workload, parameters.ranks, parameters.size);
  schedule_.output_bytes = output_size(parameters.workload, parameters.ranks, parameters.size);
}

StepIndex ScheduleBuilder::append(Step step, std::span<const StepIndex> dependencies) {
  const StepIndex index = static_cast<StepIndex>(schedule_.steps.size());
  step.first_dependency = static_cast<std::uint32_t>(schedule_.dependencies.size());
  step.dependency_count = static_cast<std::uint32_t>(dependencies.size());
  for (StepIndex dependency : dependencies) {
    assert(dependency < index);
    schedule_.dependencies.push_back(dependency);
  }
  schedule_.steps.push_back(step);
  return index;
}

StepIndex ScheduleBuilder::send(int peer, int channel, Location source, std::uint64_t bytes,
                                std::initializer_list<StepIndex> dependencies) {
  return append({.kind = StepKind::kSend, .peer = peer, .channel = channel, .source = source, .bytes = bytes},
                std::span(dependencies.begin(), dependencies.size()));
}

StepIndex ScheduleBuilder::receive(int peer, int channel, Location target, std::uint64_t bytes) {
  return append({.kind = StepKind::kReceive,
                 .peer = peer,
                 .channel = channel,
                 .target = target,
                 .bytes = bytes,
                 .capacity = bytes},
                {});
}

StepIndex ScheduleBuilder::add(Location target, Location source, Location addend, std::uint64_t bytes,
                               std::initializer_list<StepIndex> dependencies) {
  return append({.kind = StepKind::kAdd, .target = target, .source = source, .addend = addend, .bytes = bytes},
                std::span(dependencies.begin(), dependencies.size()));
}

StepIndex ScheduleBuilder::join(const std::vector<StepIndex>& dependencies) {
  return append({.kind = StepKind::kCopy}, dependencies);
}

void ScheduleBuilder::copy(Location target, Location source, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes; done += kCopyBytes) {
    append({.kind = StepKind::kCopy,
            .target = {target.region, target.offset + done},
            .source = {source.region, source.offset + done},
            .bytes = std::min(kCopyBytes, bytes - done)},
           {});
  }
}

ScheduleBuilder::Staged ScheduleBuilder::receive_staged(int peer, int channel, std::uint64_t bytes) {
  assert(bytes <= slot_bytes_);
  auto [it, is_new] = rings_.try_emplace({peer, channel});
  SlotRing& ring = it->second;
  if (is_new) {
    ring.base = schedule_.staging_bytes;
    ring.last_users.resize(slots_);
    schedule_.staging_bytes += slots_ * slot_bytes_;
  }
  const std::uint64_t slot = ring.received % slots_;
  Step step{.kind = StepKind::kReceive, .peer = peer, .channel = channel};
  step.target = {Region::kStaging, ring.base + slot * slot_bytes_};
  step.bytes = bytes;
  step.capacity = slot_bytes_;  // NCCL posts the whole slot regardless of the message's size
  StepIndex index;
  if (ring.received < slots_) {
    index = append(step, {});
  } else {
    assert(ring.released + slots_ > ring.received);
    index = append(step, std::span(&ring.last_users[slot], 1));
  }
  ++ring.received;
  return {index, step.target};
}

void ScheduleBuilder::release(int peer, int channel, StepIndex last_user) {
  SlotRing& ring = rings_.at({peer, channel});
  assert(ring.released < ring.received);
  ring.last_users[ring.released % slots_] = last_user;
  ++ring.released;
}

Schedule ScheduleBuilder::finish() && {
  return std::move(schedule_);
}

Schedule build_schedule(const ScheduleParameters& parameters) {
  if (is_point_to_point(parameters.workload)) return pairwise_schedule(parameters);
  return parameters.workload.operation == Operation::kAllReduceTree ? tree_schedule(parameters)
                                                                    : ring_schedule(parameters);
}

}  // namespace cableway::workload
