#include "tools/cableway/doctor/doctor_nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Finding> nccl_findings(const std::vector<std::pair<std::string, std::string>>& settings, bool split = false,
                                   const std::string& source = "environment") {
  NcclSettings nccl;
  for (const auto& [name, value] : settings) nccl.settings.push_back({name, value, source, {}});
  return examine_nccl(nccl, split);
}

auto nccl_finding(Severity severity, const std::string& code, const std::string& what) {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::code, code), Field(&Finding::about, "NCCL"),
               Field(&Finding::what, HasSubstr(what)));
}

TEST(DoctorNccl, SettingsForThePluginHaveNoFinding) {
  EXPECT_THAT(nccl_findings({}), IsEmpty());
  EXPECT_THAT(
      nccl_findings({{"NCCL_NET", "cableway"}, {"NCCL_NET_PLUGIN", "/opt/cableway/lib/libnccl-net-cableway.so"}}),
      IsEmpty());
  EXPECT_THAT(
      nccl_findings({{"NCCL_NET", "Cableway"}, {"NCCL_NET_PLUGIN", "other,cableway"}, {"NCCL_IB_DISABLE", "1"}}),
      IsEmpty());
}

TEST(DoctorNccl, NamesWhatKeepsAJobFromThePlugin) {
  for (const char* const net : {"Socket", "IB", "AWS Libfabric", ""}) {
    EXPECT_THAT(nccl_findings({{"NCCL_NET", net}}), ElementsAre(nccl_finding(Severity::kWarning, "NCCL_PLUGIN_UNUSED",
                                                                             "uses that network, not the plugin")));
  }
  for (const char* const plugin : {"none", "libnccl-net-ofi.so", "a,b", ""}) {
    EXPECT_THAT(nccl_findings({{"NCCL_NET_PLUGIN", plugin}}),
                ElementsAre(nccl_finding(Severity::kWarning, "NCCL_PLUGIN_UNUSED", "does not load the plugin")));
  }
}

TEST(DoctorNccl, AdviceDependsOnTheSource) {
  EXPECT_THAT(nccl_findings({{"NCCL_NET", "IB"}}).front().advice, ::testing::StartsWith("unset it"));
  EXPECT_THAT(nccl_findings({{"NCCL_NET", "IB"}}, false, "/etc/nccl.conf:2").front().advice,
              ::testing::StartsWith("remove the line"));
}

TEST(DoctorNccl, SplitPlugsNeedSeveralFlows) {
  const std::pair<const char*, int> limits[] = {{"NCCL_MIN_NCHANNELS", 4},
                                                {"NCCL_MAX_NCHANNELS", 4},
                                                {"NCCL_MAX_CTAS", 4},
                                                {"NCCL_MAX_P2P_NCHANNELS", 4},
                                                {"NCCL_NCHANNELS_PER_NET_PEER", 4}};
  for (const auto& [name, least] : limits) {
    const std::string low = std::to_string(least - 1);
    EXPECT_THAT(nccl_findings({{name, low}}, true), ElementsAre(nccl_finding(Severity::kWarning, "NCCL_CHANNELS_FEW",
                                                                             name + ("=" + low + " (environment)"))));
    EXPECT_THAT(nccl_findings({{name, low}}, false), IsEmpty());
    EXPECT_THAT(nccl_findings({{name, std::to_string(least)}}, true), IsEmpty());
    EXPECT_THAT(nccl_findings({{name, "0x10"}}, true), IsEmpty());
    EXPECT_THAT(nccl_findings({{name, "many"}}, true).size(), 1U) << "NCCL reads 0";
  }
}

TEST(DoctorNccl, NumbersAreThoseThatNcclReads) {
  EXPECT_EQ(nccl_number("4"), 4);
  EXPECT_EQ(nccl_number("0x10"), 16);
  EXPECT_EQ(nccl_number("010"), 8);
  EXPECT_EQ(nccl_number("1 # few"), 1);
  EXPECT_EQ(nccl_number("-1"), -1);
  EXPECT_EQ(nccl_number("many"), 0);
  EXPECT_EQ(nccl_number("99999999999999999999"), std::nullopt);
}

TEST(DoctorNccl, AJobsEnvironmentShouldNameThem) {
  EXPECT_THAT(
      nccl_findings({{"NCCL_NET", "cableway"}}, true),
      ElementsAre(nccl_finding(Severity::kInfo, "NCCL_CHANNELS_FEW", "NCCL_MIN_NCHANNELS is not set"),
                  nccl_finding(Severity::kInfo, "NCCL_CHANNELS_FEW", "NCCL_NCHANNELS_PER_NET_PEER is not set")));
  EXPECT_THAT(
      nccl_findings({{"NCCL_MAX_CTAS", "8"}, {"NCCL_NET", "cableway"}}, true),
      ElementsAre(nccl_finding(Severity::kInfo, "NCCL_CHANNELS_FEW", "NCCL_NCHANNELS_PER_NET_PEER is not set")));
  EXPECT_THAT(nccl_findings({}, true), IsEmpty()) << "not the environment of a job";
}

TEST(DoctorNccl, NamesFaultyLines) {
  NcclSettings nccl;
  nccl.faults = {{"/etc/nccl.conf:3", "NCCL skips \"NCCL_X\"", true}, {"/etc/nccl.conf:4", "NCCL skips \"x\"", false}};
  EXPECT_THAT(examine_nccl(nccl, false),
              ElementsAre(AllOf(Field(&Finding::severity, Severity::kWarning), Field(&Finding::code, "NCCL_FILE_FAULT"),
                                Field(&Finding::about, "/etc/nccl.conf:3")),
                          Field(&Finding::severity, Severity::kInfo)));
}

TEST(DoctorNccl, ASplitPlugHasTwoPorts) {
  Json ports = Json::array({{{"plug", "p0"}}, {{"plug", nullptr}}, {{"plug", "p1"}}, {{"plug", nullptr}}});
  EXPECT_FALSE(has_split_plug(ports));
  ports[1]["plug"] = "p0";
  EXPECT_TRUE(has_split_plug(ports));
  EXPECT_FALSE(has_split_plug(Json::array()));
}

}  // namespace
}  // namespace cableway::cli
