// A hop's link as the party at one end uses it, which reports the frames that the party sends: faults wait for such
// frames, and rules check them.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_WATCHED_LINK_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_WATCHED_LINK_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "core/flow/chunk_link.h"

namespace cableway::sim {

class WatchedLink final : public ChunkLink {
 public:
  using Sends = std::function<void(const Frame&)>;

  // `link` outlives this.
  WatchedLink(ChunkLink& link, Sends sends) : link_(link), sends_(std::move(sends)) {}

  bool can_send() const override { return link_.can_send(); }
  void send(const Frame& chunk, SendBuffer payload) override {
    sends_(chunk);
    link_.send(chunk, payload);
  }
  void send(const Frame& chunk, Slot& slot) override {
    sends_(chunk);
    link_.send(chunk, slot);
  }
  absl::Status send_control(const Frame& control) override {
    sends_(control);
    return link_.send_control(control);
  }
  bool has_queued_controls() const override { return link_.has_queued_controls(); }
  absl::Status post_landing(std::uint64_t message, const Landing& landing) override {
    return link_.post_landing(message, landing);
  }
  bool needs_announcements() const override { return link_.needs_announcements(); }
  void end_landing(std::uint64_t message) override { link_.end_landing(message); }
  void post_slot(Slot& slot) override { link_.post_slot(slot); }
  bool withdraw_slot(Slot& slot) override { return link_.withdraw_slot(slot); }
  void widen() override { link_.widen(); }
  bool narrow() override { return link_.narrow(); }
  absl::Status progress(Sink& sink) override { return link_.progress(sink); }
  absl::Status flush(Sink& sink) override { return link_.flush(sink); }
  std::uint64_t bytes_moved() const override { return link_.bytes_moved(); }
  void fail(absl::string_view reason, FailureScope scope) override { link_.fail(reason, scope); }
  void fence() override { link_.fence(); }

 private:
  ChunkLink& link_;
  const Sends sends_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_WATCHED_LINK_H_
