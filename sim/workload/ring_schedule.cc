// Ring collectives, in the order of NCCL's ring kernels: every channel's ring runs r -> r+1, and a chunk is sent as
// several messages so that a rank forwards the first of them while the others still arrive.
//
// Why the slots suffice (see schedule.h, "no schedule can deadlock"): number the messages of a connection. Message m
// that a rank receives is the one it sends as m + M, M being the messages of a chunk, and its slot is free when that
// send completes. Of all incomplete sends choose one with the least number m. It waits for sends with smaller numbers,
// and the receive that it needs waits for send m - S + M of the next rank, S being the number of
// slots: smaller as well while S > M.
#include <cstdint>

#include "sim/workload/line.h"
#include "sim/workload/schedule_builder.h"

namespace cableway::workload {
namespace {

// Matches NCCL's chunks of four steps.
constexpr std::uint64_t kMessagesPerChunk = 4;
// Broadcast and reduce are one chain each: enough messages to keep all ranks busy.
constexpr std::uint64_t kChainMessages = 8;

struct Ring {
  int rank;
  int ranks;
  int next() const { return (rank + 1) % ranks; }
  int previous() const { return (rank + ranks - 1) % ranks; }
  // The rank `distance` before this one; also the number of its chunk.
  std::uint64_t before(int distance) const {
    return static_cast<std::uint64_t>((rank + ranks - distance % ranks) % ranks);
  }
};

// A pass carries one chunk per rank around the ring. chunk(i) is where chunk i lies in the input.
class Pass {
 public:
  Pass(ScheduleBuilder& builder, Ring ring, int channel, std::uint64_t message_bytes)
      : builder_(builder), ring_(ring), channel_(channel), message_bytes_(message_bytes) {}

  void send_input(Range chunk) {
    for_each_message(chunk, message_bytes_, [&](Range message) {
      builder_.send(ring_.next(), channel_, {Region::kInput, message.offset}, message.bytes);
    });
  }

  // slot = received + input; forwards it.
  void reduce_and_send(Range chunk) {
    for_each_message(chunk, message_bytes_, [&](Range message) {
      const auto staged = builder_.receive_staged(ring_.previous(), channel_, message.bytes);
      const StepIndex add =
          builder_.add(staged.slot, staged.slot, {Region::kInput, message.offset}, message.bytes, {staged.step});
      builder_.release(ring_.previous(), channel_,
                       builder_.send(ring_.next(), channel_, staged.slot, message.bytes, {add}));
    });
  }

  // output = received + input; forwards it if a later rank still needs it.
  void reduce_into_output(Range chunk, std::uint64_t output_offset, bool send) {
    for_each_message(chunk, message_bytes_, [&](Range message) {
      const auto staged = builder_.receive_staged(ring_.previous(), channel_, message.bytes);
      const Location output{Region::kOutput, output_offset + (message.offset - chunk.offset)};
      const StepIndex add =
          builder_.add(output, staged.slot, {Region::kInput, message.offset}, message.bytes, {staged.step});
      builder_.release(ring_.previous(), channel_, add);
      if (send) builder_.send(ring_.next(), channel_, output, message.bytes, {add});
    });
  }

  // output = received; forwards it if a later rank still needs it. `chunk` lies in the output.
  void receive_into_output(Range chunk, bool send) {
    for_each_message(chunk, message_bytes_, [&](Range message) {
      const Location output{Region::kOutput, message.offset};
      const StepIndex received = builder_.receive(ring_.previous(), channel_, output, message.bytes);
      if (send) builder_.send(ring_.next(), channel_, output, message.bytes, {received});
    });
  }

 private:
  ScheduleBuilder& builder_;
  Ring ring_;
  int channel_;
  std::uint64_t message_bytes_;
};

// Cuts `share` into passes of at most ranks * step * kMessagesPerChunk bytes. visit(pass range, chunk bytes).
template <typename Visitor>
void for_each_pass(Range share, std::uint64_t parts, std::uint64_t step_bytes, Visitor visit) {
  std::uint64_t done = 0;
  do {
    const std::uint64_t left = share.bytes - done;
    const std::uint64_t even = round_up((left + parts - 1) / parts, kLine);
    const std::uint64_t chunk = std::min(step_bytes * kMessagesPerChunk, even);
    const std::uint64_t bytes = std::min(chunk * parts, left);
    visit(Range{share.offset + done, bytes}, chunk);
    done += bytes;
  } while (done < share.bytes);
}

// Chunk `index` of a pass; the last ones may be short or empty.
Range chunk_of(Range pass, std::uint64_t chunk_bytes, std::uint64_t index) {
  const std::uint64_t begin = std::min(index * chunk_bytes, pass.bytes);
  return {pass.offset + begin, std::min(chunk_bytes, pass.bytes - begin)};
}

void all_reduce(ScheduleBuilder& builder, const ScheduleParameters& p, const std::vector<Range>& shares) {
  const Ring ring{p.rank, p.ranks};
  const std::uint64_t n = static_cast<std::uint64_t>(p.ranks);
  for (std::size_t channel = 0; channel < shares.size(); ++channel) {
    for_each_pass(shares[channel], n, p.step_bytes, [&](Range range, std::uint64_t chunk_bytes) {
      const auto chunk = [&](std::uint64_t index) { return chunk_of(range, chunk_bytes, index); };
      Pass pass(builder, ring, static_cast<int>(channel), message_size(chunk_bytes, kMessagesPerChunk, p.step_bytes));
      pass.send_input(chunk(ring.before(1)));
      for (int k = 1; k < p.ranks - 1; ++k) pass.reduce_and_send(chunk(ring.before(1 + k)));
      const Range own = chunk(ring.before(0));
      pass.reduce_into_output(own, own.offset, /*send=*/true);
      for (int k = 1; k < p.ranks; ++k) pass.receive_into_output(chunk(ring.before(k)), /*send=*/k < p.ranks - 1);
    });
  }
}

void reduce_scatter(ScheduleBuilder& builder, const ScheduleParameters& p, const std::vector<Range>& shares) {
  const Ring ring{p.rank, p.ranks};
  const std::uint64_t block = p.size / static_cast<std::uint64_t>(p.ranks);
  for (std::size_t channel = 0; channel < shares.size(); ++channel) {
    for_each_pass(shares[channel], 1, p.step_bytes, [&](Range range, std::uint64_t chunk_bytes) {
      const auto chunk = [&](std::uint64_t rank) { return Range{rank * block + range.offset, range.bytes}; };
      Pass pass(builder, ring, static_cast<int>(channel), message_size(chunk_bytes, kMessagesPerChunk, p.step_bytes));
      pass.send_input(chunk(ring.before(1)));
      for (int k = 1; k < p.ranks - 1; ++k) pass.reduce_and_send(chunk(ring.before(1 + k)));
      pass.reduce_into_output(chunk(ring.before(0)), range.offset, /*send=*/false);
    });
  }
}

void all_gather(ScheduleBuilder& builder, const ScheduleParameters& p, const std::vector<Range>& shares) {
  const Ring ring{p.rank, p.ranks};
  const std::uint64_t block = p.size / static_cast<std::uint64_t>(p.ranks);
  builder.copy({Region::kOutput, ring.before(0) * block}, {Region::kInput, 0}, block);
  for (std::size_t channel = 0; channel < shares.size(); ++channel) {
    for_each_pass(shares[channel], 1, p.step_bytes, [&](Range range, std::uint64_t chunk_bytes) {
      Pass pass(builder, ring, static_cast<int>(channel), message_size(chunk_bytes, kMessagesPerChunk, p.step_bytes));
      pass.send_input(range);
      for (int k = 1; k < p.ranks; ++k) {
        pass.receive_into_output({ring.before(k) * block + range.offset, range.bytes}, /*send=*/k < p.ranks - 1);
      }
    });
  }
}

void broadcast(ScheduleBuilder& builder, const ScheduleParameters& p, const std::vector<Range>& shares) {
  const Ring ring{p.rank, p.ranks};
  if (p.rank == 0) builder.copy({Region::kOutput, 0}, {Region::kInput, 0}, p.size);
  for (std::size_t channel = 0; channel < shares.size(); ++channel) {
    const Range share = shares[channel];
    Pass pass(builder, ring, static_cast<int>(channel), message_size(share.bytes, kChainMessages, p.step_bytes));
    if (p.rank == 0) {
      pass.send_input(share);
    } else {
      pass.receive_into_output(share, /*send=*/p.rank < p.ranks - 1);
    }
  }
}

// From rank 1 around the ring to rank 0.
void reduce(ScheduleBuilder& builder, const ScheduleParameters& p, const std::vector<Range>& shares) {
  const Ring ring{p.rank, p.ranks};
  for (std::size_t channel = 0; channel < shares.size(); ++channel) {
    const Range share = shares[channel];
    Pass pass(builder, ring, static_cast<int>(channel), message_size(share.bytes, kChainMessages, p.step_bytes));
    if (p.rank == 0) {
      pass.reduce_into_output(share, share.offset, /*send=*/false);
    } else if (p.rank == 1) {
      pass.send_input(share);
    } else {
      pass.reduce_and_send(share);
    }
  }
}

}  // namespace

Schedule ring_schedule(const ScheduleParameters& p) {
  const Operation operation = p.workload.operation;
  const bool whole =
      operation == Operation::kAllReduceRing || operation == Operation::kBroadcast || operation == Operation::kReduce;
  // What is divided among the channels: the whole buffer, or one block of it, all blocks being treated alike.
  const std::uint64_t shared = whole ? p.size : p.size / static_cast<std::uint64_t>(p.ranks);
  const std::vector<Range> shares = channel_shares({0, shared}, p.channels);
  ScheduleBuilder builder(p, std::min(p.step_bytes, std::max<std::uint64_t>(shares.front().bytes, 1)));
  switch (operation) {
    case Operation::kReduceScatter:
      reduce_scatter(builder, p, shares);
      break;
    case Operation::kAllGather:
      all_gather(builder, p, shares);
      break;
    case Operation::kBroadcast:
      broadcast(builder, p, shares);
      break;
    case Operation::kReduce:
      reduce(builder, p, shares);
      break;
    default:
      all_reduce(builder, p, shares);
  }
  return std::move(builder).finish();
}

}  // namespace cableway::workload
