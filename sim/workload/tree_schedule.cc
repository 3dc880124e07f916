// All-reduce over the double binary tree: sums travel up, the result travels down, both pipelined message by message.
// Even channels use the first tree, odd ones the second, so each carries half of the data.
//
// No schedule can deadlock: upward messages wait only for ranks below, and downward messages only for ranks above.
#include <cstdint>

#include "sim/workload/binary_tree.h"
#include "sim/workload/schedule_builder.h"

namespace cableway::workload {
namespace {

// Enough messages to keep every level of the tree busy.
constexpr std::uint64_t kTreeMessages = 8;

// The sum of this rank's subtree for one message: its location, and the step that completes it.
struct Sum {
  Location location;
  StepIndex step = 0;
  bool computed = false;  // false: it is the rank's own input, available from the start
};

// Receives from the children and adds. The root's sum is in `output`, any other in the first child's slot.
Sum sum_of_subtree(ScheduleBuilder& builder, const TreePosition& tree, int channel, Range message) {
  const Location input{Region::kInput, message.offset};
  Sum sum{.location = input};
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    const int child = tree.children[i];
    const auto staged = builder.receive_staged(child, channel, message.bytes);
    const bool first = i == 0;
    Location target = sum.location;
    if (first) target = tree.parent < 0 ? Location{Region::kOutput, message.offset} : staged.slot;
    const StepIndex add = first ? builder.add(target, staged.slot, input, message.bytes, {staged.step})
                                : builder.add(target, target, staged.slot, message.bytes, {sum.step, staged.step});
    // The first child's slot holds the sum until it has been sent, except at the root.
    if (!first || tree.parent < 0) builder.release(child, channel, add);
    sum = {target, add, true};
  }
  return sum;
}

void reduce_and_broadcast(ScheduleBuilder& builder, const TreePosition& tree, int channel, Range message) {
  const Sum sum = sum_of_subtree(builder, tree, channel, message);
  const Location output{Region::kOutput, message.offset};
  StepIndex result = sum.step;
  if (tree.parent >= 0) {
    if (sum.computed) {
      const StepIndex sent = builder.send(tree.parent, channel, sum.location, message.bytes, {sum.step});
      builder.release(tree.children.front(), channel, sent);
    } else {
      builder.send(tree.parent, channel, sum.location, message.bytes);
    }
    result = builder.receive(tree.parent, channel, output, message.bytes);
  }
  for (int child : tree.children) builder.send(child, channel, output, message.bytes, {result});
}

}  // namespace

Schedule tree_schedule(const ScheduleParameters& p) {
  // One channel cannot carry both trees.
  const std::vector<Range> shares = channel_shares({0, p.size}, std::max(p.channels, 2));
  ScheduleBuilder builder(p, std::min(p.step_bytes, std::max<std::uint64_t>(shares.front().bytes, 1)));
  for (std::size_t channel = 0; channel < shares.size(); ++channel) {
    const TreePosition tree = double_binary_tree(static_cast<int>(channel % 2), p.rank, p.ranks);
    const std::uint64_t message_bytes = message_size(shares[channel].bytes, kTreeMessages, p.step_bytes);
    for_each_message(shares[channel], message_bytes,
                     [&](Range message) { reduce_and_broadcast(builder, tree, static_cast<int>(channel), message); });
  }
  return std::move(builder).finish();
}

}  // namespace cableway::workload
