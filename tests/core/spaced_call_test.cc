#include "core/spaced_call.h"

#include <gtest/gtest.h>

#include "sim/virtual_clock.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;

TEST(SpacedCall, ThoseWithoutATokenAreOneWhenThereIsOne) {
  sim::VirtualClock clock;
  int calls = 0;
  SpacedCall call(clock, {milliseconds(100), 1}, [&] { ++calls; });
  call.request();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(call.waits());
  for (int i = 0; i < 10; ++i) {
    clock.run_for(milliseconds(9));
    call.request();
  }
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(call.waits());
  clock.run_for(milliseconds(20));
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(call.waits());
  clock.run_for(milliseconds(89));
  call.request();
  EXPECT_EQ(calls, 2) << "the last one was 99 ms ago";
  clock.run_for(milliseconds(500));
  EXPECT_EQ(calls, 3);
  call.request();
  EXPECT_EQ(calls, 4);
}

TEST(SpacedCall, AFewComeAtOnce) {
  sim::VirtualClock clock;
  int calls = 0;
  SpacedCall call(clock, {milliseconds(100), 3}, [&] { ++calls; });
  for (int i = 0; i < 10; ++i) call.request();
  EXPECT_EQ(calls, 3);
  clock.run_for(milliseconds(100));
  EXPECT_EQ(calls, 4);
  clock.run_for(milliseconds(1000));
  EXPECT_EQ(calls, 4) << "nothing was asked for";
  for (int i = 0; i < 10; ++i) call.request();
  EXPECT_EQ(calls, 7);
}

}  // namespace
}  // namespace cableway
