#include "sim/simtest/ground/setup_wire.h"

#include <algorithm>

#include "sim/simtest/ground/cable_plant.h"

namespace cableway::sim {
namespace {

constexpr std::chrono::milliseconds kSilentRecheck{50};  // while the cable does not carry

}  // namespace

// One end of the wire.
class SimConnection final : public SetupConnection {
 public:
  SimConnection(std::shared_ptr<SetupWire> wire, SetupWire::Side side, std::string own, std::string other)
      : wire_(std::move(wire)), side_(side), own_(std::move(own)), other_(std::move(other)) {}
  ~SimConnection() override {
    if (wire_ != nullptr) wire_->close(side_);
  }

  void read(std::size_t bytes, HaveBytes have) override { wire_->read(side_, {bytes, std::move(have)}); }
  void send(std::vector<std::byte> bytes, Sent sent) override {
    wire_->send(side_, std::move(bytes));
    wire_->clock_.post_at(wire_->clock_.now(), [wire = wire_, side = side_, sent = std::move(sent)] {
      if (wire->ends_[side].present) sent(absl::OkStatus());
    });
  }
  absl::Status send_first(const std::vector<std::byte>& bytes) override {
    if (!wire_->ends_[side_].ended.ok()) return wire_->ends_[side_].ended;
    wire_->send(side_, bytes);
    return absl::OkStatus();
  }
  void end_with(const std::vector<std::byte>& final_frame) override { wire_->send(side_, final_frame); }
  std::string own_address() const override { return own_; }
  std::string other_address() const override { return other_; }
  std::string other_end() const override { return other_; }

  PlantHop& hop() const { return wire_->hop(); }
  PlantHop& take_hop() {
    wire_->ends_[side_].present = false;
    return std::exchange(wire_, nullptr)->hop();
  }

 private:
  std::shared_ptr<SetupWire> wire_;  // null once the hop has been taken
  const SetupWire::Side side_;
  const std::string own_;
  const std::string other_;
};

PlantHop& take_hop(std::unique_ptr<SetupConnection> connection) {
  return static_cast<SimConnection&>(*connection).take_hop();
}

PlantHop& hop_of(const SetupConnection& connection) {
  return static_cast<const SimConnection&>(connection).hop();
}

std::pair<std::unique_ptr<SetupConnection>, std::unique_ptr<SetupConnection>> SetupWire::make_ends(
    const std::string& from, const std::string& to) {
  return {std::make_unique<SimConnection>(shared_from_this(), kDialer, from, to),
          std::make_unique<SimConnection>(shared_from_this(), kAcceptor, to, from)};
}

void SetupWire::send(Side from, std::vector<std::byte> bytes) {
  const Side to = from == kDialer ? kAcceptor : kDialer;
  const Instant due = clock_.now() + takes_;
  in_flight_[to].push_back({std::move(bytes), due});
  if (in_flight_[to].size() == 1) deliver_at(to, due);
}

void SetupWire::read(Side side, Reading reading) {
  ends_[side].reading = std::move(reading);
  clock_.post_at(clock_.now(), [self = shared_from_this(), side] { self->serve(side); });
}

// The link of this end reports the close too, since the other end may already use its link.
void SetupWire::close(Side side) {
  End& end = ends_[side];
  end.present = false;
  end.reading.reset();
  send(side, {});
  (side == kDialer ? hop_.connection->source() : hop_.connection->destination()).fence();
}

void SetupWire::cut(Side side, const absl::Status& reason) {
  End& end = ends_[side];
  in_flight_[side].clear();
  if (end.ended.ok()) end.ended = reason;
  serve(side);
}

void SetupWire::deliver_at(Side to, Instant when) {
  clock_.post_at(when, [self = shared_from_this(), to] { self->deliver(to); });
}

void SetupWire::deliver(Side to) {
  std::deque<Parcel>& parcels = in_flight_[to];
  if (parcels.empty() || hop_.lost) return;  // cut in the meantime
  if (hop_.silent_since.has_value()) {
    hop_.setup_held_at = clock_.now();
    return deliver_at(to, clock_.now() + kSilentRecheck);
  }
  const Parcel parcel = std::move(parcels.front());
  parcels.pop_front();
  if (!parcels.empty()) deliver_at(to, std::max(parcels.front().due, clock_.now()));
  End& end = ends_[to];
  end.arrived.insert(end.arrived.end(), parcel.bytes.begin(), parcel.bytes.end());
  if (parcel.bytes.empty() && end.ended.ok()) end.ended = absl::UnavailableError("End of file");
  serve(to);
}

void SetupWire::serve(Side side) {
  End& end = ends_[side];
  if (!end.present || !end.reading.has_value()) return;
  const std::size_t wanted = end.reading->bytes;
  if (end.arrived.size() < wanted) {
    if (!end.ended.ok()) std::exchange(end.reading, std::nullopt)->have(end.ended, {});
    return;
  }
  const auto last = end.arrived.begin() + static_cast<std::ptrdiff_t>(wanted);
  const std::vector<std::byte> bytes(end.arrived.begin(), last);
  end.arrived.erase(end.arrived.begin(), last);
  std::exchange(end.reading, std::nullopt)->have(absl::OkStatus(), bytes);
}

}  // namespace cableway::sim
