// The whole state of a flow's end as text, so that a search over interleavings recognises a state that it has visited.
#ifndef CABLEWAY_TESTS_CORE_FLOW_FLOW_STATE_H_
#define CABLEWAY_TESTS_CORE_FLOW_FLOW_STATE_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"

namespace cableway {

// A friend of both ends, and therefore in their namespace.
class FlowState {
 public:
  static std::string of(const FlowSender& sender) {
    std::string text = absl::StrCat("S", sender.oldest_, ",", sender.unacknowledged_, ",", sender.sending_, ",",
                                    sender.next_, ",", sender.announced_, ",", sender.primary_, ",", sender.live_, ",",
                                    sender.bundle_, ",", sender.bundled_);
    for (const auto& circuit : sender.used()) {
      absl::StrAppend(&text, "(", static_cast<int>(circuit.state), circuit.generation, ".", circuit.retiring, ".",
                      circuit.bundle, ".", circuit.announced_from.value_or(99), ".", circuit.given.given(), ".",
                      circuit.sent() - circuit.completed());
      GivenChunks given = circuit.given;
      given.settle(given.given() - given.size(), [&text](const MessageRange& chunk) {
        absl::StrAppend(&text, "g", chunk.message, ".", chunk.begin);
      });
      text += ")";
    }
    for (std::uint64_t message = sender.oldest_; message < sender.next_; ++message) {
      absl::StrAppend(&text, "m", sender.at(message).sent, sender.at(message).begun, ".",
                      sender.receives_[message % kMaxLandings].announced_on, ".",
                      sender.receives_[message % kMaxLandings].by_primary);
    }
    for (const auto& receive : sender.receives_) {
      if (receive.number > sender.announced_) absl::StrAppend(&text, "r", receive.number, ".", receive.announced_on);
    }
    ResendRanges again = sender.again_;
    for (; !again.empty(); again.take_from_first(again.first().end - again.first().begin)) {
      absl::StrAppend(&text, "a", again.first().message, ".", again.first().begin, "-", again.first().end);
    }
    return text;
  }
  static std::string of(const FlowReceiver& receiver) {
    std::string text = absl::StrCat("R", receiver.oldest_, ",", receiver.next_, ",", receiver.primary_.value_or(9), ",",
                                    receiver.live_, ",", receiver.bundle_, receiver.stripes_);
    for (std::size_t i = 0; i < receiver.used_; ++i) {
      const auto& circuit = receiver.circuits_[i];
      absl::StrAppend(&text, "(", circuit.generation, circuit.live, ".", circuit.bundle, ".", circuit.counted, ".",
                      circuit.reported, ".", circuit.newest, ".", circuit.landings, ".", circuit.acknowledged,
                      circuit.announced_beside, ")");
    }
    for (std::uint64_t message = receiver.oldest_; message < receiver.next_; ++message) {
      const auto& of = receiver.at(message);
      absl::StrAppend(&text, "m", of.begun, of.whole, ".", of.landed.prefix(), of.landed.has_islands());
    }
    return text;
  }
};

}  // namespace cableway

#endif  // CABLEWAY_TESTS_CORE_FLOW_FLOW_STATE_H_
