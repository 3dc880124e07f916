// Which setting counts, and what two ranks compare.
#include "nccl_adapter/algorithm/tuner_cabling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cableway::nccl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr TunerSetting kCablings[] = {TunerSetting::kOff, TunerSetting::kSparks, TunerSetting::kRing,
                                      TunerSetting::kLine, TunerSetting::kMesh};

Settings given(TunerSetting tuner) {
  Settings settings;
  settings.tuner = tuner;
  settings.origins["tuner"] = "CABLEWAY_TUNER";
  return settings;
}

TEST(TunerCabling, IsTheSettingWhereNcclNamesItsCommunicators) {
  EXPECT_EQ(tuner_cabling(Settings(), true, nullptr), TunerSetting::kSparks);
  for (const TunerSetting cabling : kCablings) EXPECT_EQ(tuner_cabling(given(cabling), true, nullptr), cabling);
}

TEST(TunerCabling, IsOffBeforeThatUnlessItIsGiven) {
  EXPECT_EQ(tuner_cabling(Settings(), false, nullptr), TunerSetting::kOff);
  EXPECT_EQ(tuner_cabling(Settings(), false, "cableway"), TunerSetting::kOff);
  for (const TunerSetting cabling : kCablings) {
    EXPECT_EQ(tuner_cabling(given(cabling), false, nullptr), cabling);
    EXPECT_EQ(tuner_cabling(given(cabling), false, "Cableway"), cabling);
    EXPECT_EQ(tuner_cabling(given(cabling), false, "Socket"), TunerSetting::kOff);
  }
}

TEST(TunerMark, DiffersWhereChoicesDo) {
  EXPECT_EQ(tuner_mark(TunerSetting::kOff), TunerMark()) << "as of a Cableway without a tuner";
  for (const TunerSetting own : kCablings) {
    for (const TunerSetting peer : kCablings) {
      EXPECT_EQ(check_tuner_mark(tuner_mark(own), tuner_mark(peer), "b").ok(), own == peer);
    }
  }
}

TEST(TunerMark, ARefusalSaysWhatToSet) {
  EXPECT_THAT(
      std::string(check_tuner_mark(tuner_mark(TunerSetting::kRing), tuner_mark(TunerSetting::kOff), "b").message()),
      AllOf(HasSubstr("the tuner of node b is off, this one's ring"), HasSubstr("set CABLEWAY_TUNER")));
  TunerMark other = tuner_mark(TunerSetting::kLine);
  ++other.sizes;
  EXPECT_THAT(std::string(check_tuner_mark(tuner_mark(TunerSetting::kLine), other, "b").message()),
              AllOf(HasSubstr("other sizes"), HasSubstr("install the same Cableway on all hosts")));
  EXPECT_THAT(std::string(check_tuner_mark(tuner_mark(TunerSetting::kLine), TunerMark{200, 1}, "b").message()),
              HasSubstr("unknown here"));
}

}  // namespace
}  // namespace cableway::nccl
