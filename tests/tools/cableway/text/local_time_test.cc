#include "tools/cableway/text/local_time.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <ctime>
#include <optional>
#include <string>

namespace cableway::cli {
namespace {

class LocalTime : public ::testing::Test {
 protected:
  LocalTime() {
    if (const char* const before = ::getenv("TZ"); before != nullptr) before_ = before;
  }
  ~LocalTime() override {
    before_ ? ::setenv("TZ", before_->c_str(), 1) : ::unsetenv("TZ");
    ::tzset();
  }
  static void zone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(LocalTime, HasTheDate) {
  zone("UTC0");
  EXPECT_EQ(local_time_text("2026-03-01T12:34:56.789Z"), "2026-03-01 12:34:56.789");
  zone("CET-1");
  EXPECT_EQ(local_time_text("2026-12-31T23:30:00.001Z"), "2027-01-01 00:30:00.001");
  zone("EST5");
  EXPECT_EQ(local_time_text("2026-03-01T04:00:00Z"), "2026-02-28 23:00:00");
}

TEST_F(LocalTime, OfAnotherFormIsKept) {
  zone("CET-1");
  for (const char* const other : {"", "yesterday", "2026-03-01", "2026-03-01T12:34:56.789+01:00"}) {
    EXPECT_EQ(local_time_text(other), other);
  }
}

}  // namespace
}  // namespace cableway::cli
