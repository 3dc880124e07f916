#include "tools/cableway/doctor/facts/device_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/core/linux/fake_sysfs.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;

class DeviceRulesTest : public testing::Test {
 protected:
  std::vector<std::string> rules() const {
    return read_rdma_device_rules(host::Sysfs(tree_.root()), tree_.root() + "/proc");
  }

  const host::test::FakeSysfs tree_;
};

TEST_F(DeviceRulesTest, NamesTheKernelsNumbers) {
  tree_.write("proc/devices",
              "Character devices:\n  1 mem\n 10 misc\n231 infiniband_mad\n231 infiniband_verbs\n510 infiniband_verbs\n"
              "231 infiniband_verbs\n\nBlock devices:\n  8 sd\n600 infiniband_verbs");
  tree_.write("class/misc/rdma_cm/dev", "10:121");
  EXPECT_THAT(rules(), ElementsAre("c 231:* rwm", "c 510:* rwm", "c 10:121 rwm"));
}

TEST_F(DeviceRulesTest, KnowsTheReservedNumberWithoutTheKernelsList) {
  EXPECT_THAT(rules(), ElementsAre("c 231:* rwm"));
  tree_.write("proc/devices", "Character devices:\n  1 mem\nx infiniband_verbs\n");
  EXPECT_THAT(rules(), ElementsAre("c 231:* rwm"));
}

TEST_F(DeviceRulesTest, TakesNoOtherTextForNumbers) {
  for (const char* const text : {"", "10", "10:", ":121", "10:121:1", "10:* rwm", "a 10:1"}) {
    tree_.write("class/misc/rdma_cm/dev", text);
    EXPECT_THAT(rules(), ElementsAre("c 231:* rwm")) << text;
  }
}

}  // namespace
}  // namespace cableway::cli
