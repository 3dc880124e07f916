#include "core/event/recent_names.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace cableway {
namespace {

class RecentNamesTest : public ::testing::Test {
 protected:
  void note(int from, int to) {
    for (int i = from; i < to; ++i) names_.note("n" + std::to_string(100 + i), now_);
  }

  RecentNames names_;
  Instant now_{std::chrono::seconds(100)};
};

TEST_F(RecentNamesTest, AreAllNamedWhereTheyAreFew) {
  note(0, 1);
  EXPECT_EQ(names_.text(), "n100");
  EXPECT_EQ(names_.only(), "n100");
  note(0, 2);
  EXPECT_EQ(names_.text(), "n100 and n101");
  EXPECT_EQ(names_.only(), "");
  note(0, 8);
  EXPECT_EQ(names_.text(), "n100, n101, n102, n103, n104, n105, n106 and n107");
}

TEST_F(RecentNamesTest, AreCountedBeyondThose) {
  note(0, 9);
  EXPECT_EQ(names_.text(), "n100, n101, n102, n103, n104, n105, n106, n107 and 1 more");
  note(0, 64);
  EXPECT_EQ(names_.text(), "n100, n101, n102, n103, n104, n105, n106, n107 and 56 more");
  note(64, 1000);
  EXPECT_EQ(names_.text(), "n100, n101, n102, n103, n104, n105, n106, n107 and 56 or more others");
}

TEST_F(RecentNamesTest, AreForgottenWithTheirProblem) {
  note(0, 1000);
  now_ = now_ + std::chrono::seconds(3);
  note(1, 3);
  now_ = now_ + std::chrono::seconds(3);
  note(2, 3);
  EXPECT_EQ(names_.text(), "n101 and n102");
}

}  // namespace
}  // namespace cableway
