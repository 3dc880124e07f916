#include "sim/cable/transmitter.h"

#include <chrono>
#include <string>

#include "gtest/gtest.h"

namespace cableway::sim {
namespace {

using namespace std::chrono_literals;

// Sends a number of parcels of one size, and appends its letter to a log for each.
class Sender final : public Transmitter::Sender {
 public:
  Sender(Transmitter& transmitter, std::string& log, char letter, std::uint64_t bytes, int parcels)
      : transmitter_(transmitter), log_(log), letter_(letter), bytes_(bytes), left_(parcels) {}

  void start() { transmitter_.enqueue(*this); }
  std::uint64_t begin_parcel() override { return bytes_; }
  void parcel_left() override {
    log_ += letter_;
    if (--left_ > 0) transmitter_.enqueue(*this);
  }

 private:
  Transmitter& transmitter_;
  std::string& log_;
  const char letter_;
  const std::uint64_t bytes_;
  int left_;
};

class TransmitterTest : public ::testing::Test {
 protected:
  VirtualClock clock_;
  Transmitter transmitter_{clock_, 1e9};
  std::string log_;
};

TEST_F(TransmitterTest, ParcelTimeIsBytesOverRate) {
  Sender a(transmitter_, log_, 'a', 1000, 1);
  a.start();
  clock_.run_for(999ns);
  EXPECT_EQ(log_, "");
  clock_.run_for(1ns);
  EXPECT_EQ(log_, "a");
  EXPECT_EQ(transmitter_.parcels(), 1U);
}

TEST_F(TransmitterTest, ServesSendersRoundRobin) {
  Sender a(transmitter_, log_, 'a', 1000, 4);
  Sender b(transmitter_, log_, 'b', 1000, 2);
  Sender c(transmitter_, log_, 'c', 1000, 3);
  a.start();
  b.start();
  c.start();
  clock_.run_for(1ms);
  EXPECT_EQ(log_, "abcabcaca");
}

TEST_F(TransmitterTest, AChangedRateIsThatOfTheNextParcel) {
  Sender a(transmitter_, log_, 'a', 1000, 3);
  a.start();
  clock_.run_for(500ns);
  transmitter_.set_bytes_per_second(1e8);
  clock_.run_for(500ns);
  EXPECT_EQ(log_, "a");
  clock_.run_for(9999ns);
  EXPECT_EQ(log_, "a");
  clock_.run_for(1ns);
  EXPECT_EQ(log_, "aa");
  transmitter_.set_bytes_per_second(1e9);
  clock_.run_for(10us);
  EXPECT_EQ(log_, "aaa");
}

TEST_F(TransmitterTest, FractionsOfANanosecondAddUp) {
  Transmitter odd(clock_, 3e9);
  Sender a(odd, log_, 'a', 1, 3'000'000);
  a.start();
  clock_.run_for(1ms - 1ns);
  EXPECT_EQ(log_.size(), 2'999'999U);
  clock_.run_for(1ns);
  EXPECT_EQ(log_.size(), 3'000'000U);
}

TEST_F(TransmitterTest, AWithdrawnSenderIsNotCalledAgain) {
  Sender a(transmitter_, log_, 'a', 1000, 1);
  Sender b(transmitter_, log_, 'b', 1000, 1);
  Sender c(transmitter_, log_, 'c', 1000, 1);
  a.start();
  b.start();
  c.start();
  transmitter_.withdraw(a);  // is leaving
  transmitter_.withdraw(b);  // waits
  clock_.run_for(1ms);
  EXPECT_EQ(log_, "c");
}

}  // namespace
}  // namespace cableway::sim
