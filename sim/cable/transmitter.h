// The sending side of a port, or of a connector that several cables share, in virtual time. It has a rate and serves
// its senders round-robin, one parcel each, so circuits on one cable share it fairly, as TCP connections with equal
// windows do.
#ifndef CABLEWAY_SIM_CABLE_TRANSMITTER_H_
#define CABLEWAY_SIM_CABLE_TRANSMITTER_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "sim/virtual_clock.h"

namespace cableway::sim {

class Transmitter final : private Occurrence {
 public:
  // A sender of parcels. Not called after withdraw().
  class Sender {
   public:
    virtual ~Sender() = default;
    // Called at the sender's turn: returns the bytes on the wire of the parcel that leaves now.
    virtual std::uint64_t begin_parcel() = 0;
    // The parcel has left. The sender may call enqueue() again.
    virtual void parcel_left() = 0;
  };

  Transmitter(VirtualClock& clock, double bytes_per_second) : clock_(clock), bytes_per_second_(bytes_per_second) {}

  // Adds one parcel of the sender to the queue.
  void enqueue(Sender& sender);
  // Removes the sender and all its parcels; one that is leaving is lost.
  void withdraw(Sender& sender);

  double bytes_per_second() const { return bytes_per_second_; }
  // Of the parcels that begin to leave from now on; more than 0.
  void set_bytes_per_second(double rate) { bytes_per_second_ = rate; }
  // Totals of everything that has left; busy() is the time that it took.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t parcels() const { return parcels_; }
  Duration busy() const { return busy_; }

 private:
  void occur(std::uint64_t argument) override;
  void start_next();

  VirtualClock& clock_;
  double bytes_per_second_;
  std::deque<Sender*> queue_;
  Sender* leaving_ = nullptr;
  bool working_ = false;
  std::uint64_t leaving_bytes_ = 0;
  Duration leaving_time_{0};
  double rest_ = 0;  // rounding error carried over, below a nanosecond, so that it does not accumulate
  std::uint64_t bytes_ = 0;
  std::uint64_t parcels_ = 0;
  Duration busy_{0};
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_TRANSMITTER_H_
