#include "core/linux/os/own_library.h"

#include <gtest/gtest.h>

namespace cableway::host {
namespace {

TEST(OwnLibrary, IsTheProgramThatItIsLinkedInto) {
  EXPECT_EQ(own_library(), std::filesystem::canonical("/proc/self/exe").string());
}

}  // namespace
}  // namespace cableway::host
