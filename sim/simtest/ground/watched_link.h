// A hop's link as the party at one end uses it, which reports the frames that the party sends, and those that it takes:
// faults wait for such frames, and rules check them.
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
  // A chunk that has landed, or a frame without payload, which the party has accepted.
  using Takes = std::function<void(const Frame&)>;

  // `link` outlives this. Null `takes`: received frames are not reported.
  WatchedLink(ChunkLink& link, Sends sends, Takes takes = nullptr)
      : link_(link), sends_(std::move(sends)), takes_(std::move(takes)) {}

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
  absl::Status progress(Sink& sink) override {
    if (takes_ == nullptr) return link_.progress(sink);
    WatchedSink watched(sink, takes_);
    return link_.progress(watched);
  }
  absl::Status flush(Sink& sink) override {
    if (takes_ == nullptr) return link_.flush(sink);
    WatchedSink watched(sink, takes_);
    return link_.flush(watched);
  }
  std::uint64_t bytes_moved() const override { return link_.bytes_moved(); }
  void fail(absl::string_view reason, FailureScope scope) override { link_.fail(reason, scope); }
  void fence() override { link_.fence(); }

 private:
  class WatchedSink final : public Sink {
   public:
    WatchedSink(Sink& sink, const Takes& takes) : sink_(sink), takes_(takes) {}
    absl::Status on_landed(const Frame& chunk) override { return taken(chunk, sink_.on_landed(chunk)); }
    absl::Status on_chunk(const Frame& chunk, Slot& slot) override { return sink_.on_chunk(chunk, slot); }
    absl::Status on_control(const Frame& control) override { return taken(control, sink_.on_control(control)); }
    void on_sent(Slot* slot) override { sink_.on_sent(slot); }

   private:
    absl::Status taken(const Frame& frame, absl::Status status) const {
      if (status.ok()) takes_(frame);
      return status;
    }

    Sink& sink_;
    const Takes& takes_;
  };

  ChunkLink& link_;
  const Sends sends_;
  const Takes takes_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_WATCHED_LINK_H_
