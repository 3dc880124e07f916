// The values of the preset, and who comes before it.
#include "nccl_adapter/preset/preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace cableway::nccl {
namespace {

using testing::ElementsAre;
using testing::Key;
using testing::Pair;
using testing::StrEq;

PresetFacts spark() {
  return {.extent = PresetExtent::kAll,
          .library = "/usr/lib/cableway/libnccl-net-cableway.so",
          .cable_interfaces = {"enp1s0f0np0", "enp1s0f1np1"},
          .default_interfaces = {"enp1s0f0np0", "enP7s7", "wlan0"}};
}

Preset::Environment environment(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(Preset, HasWhatAJobOverCablesNeeds) {
  EXPECT_THAT(
      Preset(spark()).values(),
      ElementsAre(Pair("NCCL_MIN_NCHANNELS", "4"), Pair("NCCL_NET_PLUGIN", "/usr/lib/cableway/libnccl-net-cableway.so"),
                  Pair("NCCL_NET_PLUGIN_REF_COUNT", "1"), Pair("NCCL_SOCKET_IFNAME", "=enP7s7")));
}

TEST(Preset, SetsNothingOnAHostWithoutCables) {
  PresetFacts facts = spark();
  facts.extent = PresetExtent::kNothing;
  EXPECT_TRUE(Preset(facts).values().empty());
  EXPECT_EQ(Preset(facts).get("NCCL_NET_PLUGIN", environment({})), nullptr);
  EXPECT_EQ(Preset().get("NCCL_NET_PLUGIN", environment({})), nullptr);
}

// It would replace the application's choice, config.netName.
TEST(Preset, NamesNoNetwork) {
  EXPECT_FALSE(Preset(spark()).values().contains("NCCL_NET"));
}

TEST(Preset, LoadsThePluginAloneWhereItIsToReportAFault) {
  PresetFacts facts = spark();
  facts.extent = PresetExtent::kPluginAlone;
  EXPECT_THAT(Preset(facts).values(), ElementsAre(Pair("NCCL_NET_PLUGIN", facts.library)));
}

TEST(Preset, LeavesTheBootstrapToNcclWhereOnlyCablesHaveADefaultRoute) {
  PresetFacts facts = spark();
  for (const std::vector<std::string>& routes : {std::vector<std::string>{}, {"enp1s0f1np1", "enp1s0f0np0"}}) {
    facts.default_interfaces = routes;
    EXPECT_FALSE(Preset(facts).values().contains("NCCL_SOCKET_IFNAME"));
  }
}

TEST(Preset, SetsNothingIfNcclWouldNotReadThePath) {
  PresetFacts facts = spark();
  for (const std::string& path : {std::string(), std::string("/a,b/lib.so"), "/" + std::string(254, 'x')}) {
    facts.library = path;
    EXPECT_TRUE(Preset(facts).values().empty()) << path;
  }
  facts.library = "/" + std::string(253, 'x');
  EXPECT_TRUE(Preset(facts).values().contains("NCCL_NET_PLUGIN"));
}

TEST(Preset, TheEnvironmentComesFirst) {
  const Preset preset(spark());
  const auto set = environment({{"NCCL_MIN_NCHANNELS", "8"}, {"NCCL_SOCKET_IFNAME", ""}, {"NCCL_DEBUG", "INFO"}});
  EXPECT_THAT(preset.get("NCCL_MIN_NCHANNELS", set), StrEq("8"));
  EXPECT_THAT(preset.get("NCCL_SOCKET_IFNAME", set), StrEq(""));
  EXPECT_THAT(preset.get("NCCL_DEBUG", set), StrEq("INFO"));
  EXPECT_THAT(preset.get("NCCL_NET_PLUGIN_REF_COUNT", set), StrEq("1"));
  EXPECT_EQ(preset.get("NCCL_NET", set), nullptr);
  EXPECT_EQ(preset.get("NCCL_ALGO", set), nullptr);
  EXPECT_EQ(preset.get("", set), nullptr);
  EXPECT_EQ(preset.get(nullptr, set), nullptr);
}

// NCCL would raise the number above a maximum.
TEST(Preset, LeavesTheChannelsToAUserWhoLimitsThem) {
  const Preset preset(spark());
  for (const char* const name :
       {"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MIN_NRINGS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS"}) {
    const auto set = environment({{name, "2"}});
    EXPECT_EQ(preset.get("NCCL_MIN_NCHANNELS", set), nullptr) << name;
    EXPECT_THAT(preset.get("NCCL_NET_PLUGIN_REF_COUNT", set), StrEq("1")) << name;
  }
  EXPECT_THAT(preset.get("NCCL_MIN_NCHANNELS", environment({})), StrEq("4"));
}

TEST(Preset, SetsNothingForAJobThatNamesAnotherNetwork) {
  const Preset preset(spark());
  for (const auto& [name, value] :
       {std::pair{"NCCL_NET", "Socket"}, std::pair{"NCCL_NET", "IB"}, std::pair{"NCCL_NET_PLUGIN", "none"},
        std::pair{"NCCL_NET_PLUGIN", "aws-ofi"}, std::pair{"NCCL_NET_PLUGIN", ""},
        std::pair{"NCCL_NET_PLUGIN", "aws-ofi,cableway"}, std::pair{"NCCL_NET_PLUGIN", "cableway,aws-ofi"},
        std::pair{"NCCL_NET_PLUGIN", "/opt/cableway/libnccl-net-ofi.so"},
        std::pair{"NCCL_NET_PLUGIN", "not-cableway"}}) {
    const auto set = environment({{name, value}});
    for (const auto& [variable, ignored] : preset.values()) {
      if (variable == name) continue;
      EXPECT_EQ(preset.get(variable.c_str(), set), nullptr) << variable << " beside " << name << "=" << value;
    }
    EXPECT_THAT(preset.get(name, set), StrEq(value));
  }
}

TEST(Preset, HelpsAJobThatNamesThisOne) {
  const Preset preset(spark());
  for (const auto& [name, value] :
       {std::pair{"NCCL_NET", "Cableway"}, std::pair{"NCCL_NET", "cableway"}, std::pair{"NCCL_NET_PLUGIN", "cableway"},
        std::pair{"NCCL_NET_PLUGIN", "libnccl-net-cableway.so"},
        std::pair{"NCCL_NET_PLUGIN", "/opt/cableway/lib/libnccl-net-cableway.so"}}) {
    EXPECT_THAT(preset.get("NCCL_MIN_NCHANNELS", environment({{name, value}})), StrEq("4")) << name << "=" << value;
  }
}

}  // namespace
}  // namespace cableway::nccl
