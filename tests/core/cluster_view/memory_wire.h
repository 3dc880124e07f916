// A connection in memory and virtual time: what one end sends arrives at the other after a delay, in order.
#ifndef CABLEWAY_TESTS_CORE_CLUSTER_VIEW_MEMORY_WIRE_H_
#define CABLEWAY_TESTS_CORE_CLUSTER_VIEW_MEMORY_WIRE_H_

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/setup_connection.h"
#include "sim/virtual_clock.h"

namespace cableway::test {

class MemoryWire : public std::enable_shared_from_this<MemoryWire> {
 public:
  MemoryWire(sim::VirtualClock& clock, Duration takes) : clock_(clock), takes_(takes) {}

  // The dialer's end, and the acceptor's.
  std::pair<std::unique_ptr<SetupConnection>, std::unique_ptr<SetupConnection>> make_ends(const std::string& from,
                                                                                          const std::string& to) {
    return {std::make_unique<End>(shared_from_this(), 0, from, to),
            std::make_unique<End>(shared_from_this(), 1, to, from)};
  }

 private:
  struct Side {
    std::deque<std::byte> arrived;
    std::size_t wanted = 0;
    SetupConnection::HaveBytes have;
    bool present = true;      // its object exists
    bool other_left = false;  // and all that it sent has arrived
  };

  class End final : public SetupConnection {
   public:
    End(std::shared_ptr<MemoryWire> wire, std::size_t side, std::string own, std::string other)
        : wire_(std::move(wire)), side_(side), own_(std::move(own)), other_(std::move(other)) {}
    ~End() override { wire_->leave(side_); }

    void read(std::size_t bytes, HaveBytes have) override {
      wire_->sides_[side_].wanted = bytes;
      wire_->sides_[side_].have = std::move(have);
      wire_->later([wire = wire_, side = side_] { wire->serve(side); }, Duration{0});
    }
    void send(std::vector<std::byte> bytes, Sent sent) override {
      wire_->send(side_, std::move(bytes));
      const auto tell = [wire = wire_, side = side_, sent = std::move(sent)] {
        if (wire->sides_[side].present) sent(absl::OkStatus());
      };
      wire_->later(tell, Duration{0});
    }
    absl::Status send_first(const std::vector<std::byte>& bytes) override {
      wire_->send(side_, bytes);
      return absl::OkStatus();
    }
    void end_with(const std::vector<std::byte>& final_frame) override {
      wire_->send(side_, final_frame);
      wire_->leave(side_);
    }
    std::string own_address() const override { return own_; }
    std::string other_address() const override { return other_; }
    std::string other_end() const override { return other_; }

   private:
    const std::shared_ptr<MemoryWire> wire_;
    const std::size_t side_;
    const std::string own_;
    const std::string other_;
  };

  void later(std::function<void()> work, Duration delay) { clock_.post_at(clock_.now() + delay, std::move(work)); }
  void send(std::size_t from, std::vector<std::byte> bytes) {
    later(
        [wire = shared_from_this(), to = 1 - from, bytes = std::move(bytes)] {
          wire->sides_[to].arrived.insert(wire->sides_[to].arrived.end(), bytes.begin(), bytes.end());
          wire->serve(to);
        },
        takes_);
  }
  void leave(std::size_t side) {
    if (!std::exchange(sides_[side].present, false)) return;
    sides_[side].have = nullptr;
    const auto tell = [wire = shared_from_this(), other = 1 - side] {
      wire->sides_[other].other_left = true;
      wire->serve(other);
    };
    later(tell, takes_);
  }
  void serve(std::size_t side) {
    Side& at = sides_[side];
    if (!at.present || !at.have) return;
    if (at.arrived.size() < at.wanted) {
      if (at.other_left) std::exchange(at.have, nullptr)(absl::UnavailableError("the other end closed"), {});
      return;
    }
    const auto end = at.arrived.begin() + static_cast<std::ptrdiff_t>(at.wanted);
    const std::vector<std::byte> bytes(at.arrived.begin(), end);
    at.arrived.erase(at.arrived.begin(), end);
    std::exchange(at.have, nullptr)(absl::OkStatus(), bytes);
  }

  sim::VirtualClock& clock_;
  const Duration takes_;
  std::array<Side, 2> sides_;
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_CLUSTER_VIEW_MEMORY_WIRE_H_
