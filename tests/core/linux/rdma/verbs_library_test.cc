#include "core/linux/rdma/verbs_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cableway::host {
namespace {

using testing::HasSubstr;

TEST(VerbsLibrary, NamesThePackageOfAMissingLibrary) {
  const auto loaded = VerbsLibrary::load("libibverbs.so.none");
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(loaded.status().message(),
              HasSubstr("this host has no libibverbs.so.none: install rdma-core (Debian: libibverbs1 "
                        "ibverbs-providers)"));
}

TEST(VerbsLibrary, NamesTheFirstMissingFunction) {
  const auto loaded = VerbsLibrary::load("libm.so.6");
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(loaded.status().message(), HasSubstr("libm.so.6 has no ibv_fork_init of IBVERBS_1.1"));
}

TEST(VerbsLibrary, ReturnsTheSameInstance) {
  const auto loaded = VerbsLibrary::of_this_process();
  if (!loaded.ok()) GTEST_SKIP() << loaded.status().message();
  EXPECT_EQ(*VerbsLibrary::of_this_process(), *loaded);
  EXPECT_NE((*loaded)->create_qp, nullptr);
}

}  // namespace
}  // namespace cableway::host
