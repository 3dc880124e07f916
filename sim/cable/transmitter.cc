#include "sim/cable/transmitter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cableway::sim {

void Transmitter::enqueue(Sender& sender) {
  queue_.push_back(&sender);
  if (!working_) start_next();
}

void Transmitter::withdraw(Sender& sender) {
  if (leaving_ == &sender) leaving_ = nullptr;
  queue_.erase(std::remove(queue_.begin(), queue_.end(), &sender), queue_.end());
}

void Transmitter::start_next() {
  if (queue_.empty()) {
    working_ = false;
    return;
  }
  working_ = true;
  leaving_ = queue_.front();
  queue_.pop_front();
  leaving_bytes_ = leaving_->begin_parcel();
  const double exact = static_cast<double>(leaving_bytes_) * 1e9 / bytes_per_second_ + rest_;
  const double whole = std::floor(exact);
  rest_ = exact - whole;
  leaving_time_ = Duration(static_cast<Duration::rep>(whole));
  clock_.schedule(clock_.now() + leaving_time_, *this);
}

void Transmitter::occur(std::uint64_t) {
  bytes_ += leaving_bytes_;
  busy_ += leaving_time_;
  ++parcels_;
  // Still marked as working, so that the sender's next parcel queues behind those of other senders.
  if (Sender* const sender = std::exchange(leaving_, nullptr); sender != nullptr) sender->parcel_left();
  start_next();
}

}  // namespace cableway::sim
