// Operations in which ranks send from their inputs directly into other ranks' outputs: all_to_all, the send/recv
// patterns, the round trip, and the pipeline. Messages have the step's size; each transfer is divided among the
// channels.
#include <cstdint>

#include "sim/workload/schedule_builder.h"

namespace cableway::workload {
namespace {

// Cuts `range` into messages: visit(channel, message).
template <typename Visitor>
void for_each_transfer(const ScheduleParameters& p, Range range, Visitor visit) {
  const std::vector<Range> shares = channel_shares(range, p.channels);
  for (std::size_t channel = 0; channel < shares.size(); ++channel) {
    for_each_message(shares[channel], p.step_bytes, [&](Range message) { visit(static_cast<int>(channel), message); });
  }
}

void send_range(ScheduleBuilder& builder, const ScheduleParameters& p, int peer, Range input) {
  for_each_transfer(p, input, [&](int channel, Range message) {
    builder.send(peer, channel, {Region::kInput, message.offset}, message.bytes);
  });
}

void receive_range(ScheduleBuilder& builder, const ScheduleParameters& p, int peer, Range output) {
  for_each_transfer(p, output, [&](int channel, Range message) {
    builder.receive(peer, channel, {Region::kOutput, message.offset}, message.bytes);
  });
}

// Receives into the output, and sends all of it back once it is complete. So the two ways of a round trip do not
// overlap, and half of it is the time of one way, as in other ping-pong benchmarks.
void echo(ScheduleBuilder& builder, const ScheduleParameters& p, int peer, Range output) {
  std::vector<StepIndex> received;
  for_each_transfer(p, output, [&](int channel, Range message) {
    received.push_back(builder.receive(peer, channel, {Region::kOutput, message.offset}, message.bytes));
  });
  const StepIndex complete = builder.join(received);
  for_each_transfer(p, output, [&](int channel, Range message) {
    builder.send(peer, channel, {Region::kOutput, message.offset}, message.bytes, {complete});
  });
}

void all_to_all(ScheduleBuilder& builder, const ScheduleParameters& p) {
  const std::uint64_t block = p.size / static_cast<std::uint64_t>(p.ranks);
  const auto block_of = [&](int rank) { return Range{static_cast<std::uint64_t>(rank) * block, block}; };
  const std::uint64_t own = block_of(p.rank).offset;
  builder.copy({Region::kOutput, own}, {Region::kInput, own}, block);
  for (int distance = 1; distance < p.ranks; ++distance) {
    const int to = (p.rank + distance) % p.ranks;
    const int from = (p.rank + p.ranks - distance) % p.ranks;
    send_range(builder, p, to, block_of(to));
    receive_range(builder, p, from, block_of(from));
  }
}

// Every rank sends to the rank `distance` further on.
void shift(ScheduleBuilder& builder, const ScheduleParameters& p, int distance) {
  send_range(builder, p, (p.rank + distance) % p.ranks, {0, p.size});
  receive_range(builder, p, (p.rank + p.ranks - distance) % p.ranks, {0, p.size});
}

void pair(ScheduleBuilder& builder, const ScheduleParameters& p) {
  const bool returns = p.workload.operation == Operation::kPingPong;
  const Range whole{0, p.size};
  if (p.rank == p.workload.source) {
    send_range(builder, p, p.workload.destination, whole);
    if (returns) receive_range(builder, p, p.workload.destination, whole);
  } else if (p.rank == p.workload.destination) {
    if (returns) {
      echo(builder, p, p.workload.source, whole);
    } else {
      receive_range(builder, p, p.workload.source, whole);
    }
  }
}

// One micro-batch after the other, like the stages of a model, which compute on a batch once it is complete.
void pipeline(ScheduleBuilder& builder, const ScheduleParameters& p) {
  const bool is_first = p.rank == 0;
  const bool is_last = p.rank == p.ranks - 1;
  const std::uint64_t batch_bytes = micro_batch_bytes(p.size, p.workload.micro_batches);
  for_each_message({0, p.size}, batch_bytes, [&](Range batch) {
    if (is_first) {
      send_range(builder, p, p.rank + 1, batch);
      return;
    }
    std::vector<StepIndex> received;
    for_each_transfer(p, batch, [&](int channel, Range message) {
      received.push_back(builder.receive(p.rank - 1, channel, {Region::kOutput, message.offset}, message.bytes));
    });
    if (is_last) return;
    const StepIndex computed = builder.join(received);
    for_each_transfer(p, batch, [&](int channel, Range message) {
      builder.send(p.rank + 1, channel, {Region::kOutput, message.offset}, message.bytes, {computed});
    });
  });
}

}  // namespace

Schedule pairwise_schedule(const ScheduleParameters& p) {
  ScheduleBuilder builder(p, /*slot_bytes=*/0);
  switch (p.workload.operation) {
    case Operation::kAllToAll:
      all_to_all(builder, p);
      break;
    case Operation::kOpposite:
      shift(builder, p, p.ranks / 2);
      break;
    case Operation::kNeighbour:
      shift(builder, p, 1);
      break;
    case Operation::kPipeline:
      pipeline(builder, p);
      break;
    default:
      pair(builder, p);
  }
  return std::move(builder).finish();
}

}  // namespace cableway::workload
