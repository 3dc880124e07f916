#include "tools/cableway/doctor/facts/nccl_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/core/linux/temporary_folder.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NcclSettingsTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { folder_.file(name, text); }
  std::string home() const { return std::filesystem::path(folder_.path("x")).parent_path(); }
  void write_system_file(const std::string& text) const { write("etc-nccl.conf", text); }
  void write_user_file(const std::string& text) const { write(".nccl.conf", text); }
  NcclSettings read(const std::vector<const char*>& environment = {}) const {
    std::vector<const char*> entries = environment;
    entries.push_back(nullptr);
    return read_nccl_settings({entries.data(), home(), folder_.path("etc-nccl.conf")});
  }
  // With the names of files only, "NCCL_NET=IB from .nccl.conf:1".
  std::vector<std::string> settings(const std::vector<const char*>& environment = {}) const {
    std::vector<std::string> texts;
    for (const NcclSetting& each : read(environment).settings) {
      texts.push_back(each.name + "=" + each.value + " from " + each.source.substr(each.source.rfind('/') + 1));
    }
    return texts;
  }
  std::vector<std::string> faults() const {
    std::vector<std::string> texts;
    for (const NcclFileFault& each : read().faults) {
      texts.push_back(each.source.substr(each.source.rfind('/') + 1) + " " + each.what);
    }
    return texts;
  }

  const host::test::TemporaryFolder folder_;
};

TEST_F(NcclSettingsTest, TheEnvironmentWinsOverTheUsersFileAndThatOverTheSystems) {
  write_system_file("NCCL_NET=IB\nNCCL_DEBUG=WARN\nNCCL_ALGO=Ring\n");
  write_user_file("NCCL_DEBUG=INFO\nNCCL_NET=Socket\n");
  EXPECT_THAT(settings({"NCCL_NET=cableway", "HOME=/x"}),
              ElementsAre("NCCL_ALGO=Ring from etc-nccl.conf:3", "NCCL_DEBUG=INFO from .nccl.conf:1",
                          "NCCL_NET=cableway from environment"));
  const NcclSettings all = read({"NCCL_NET=cableway"});
  EXPECT_THAT(all.find("NCCL_NET")->overridden, ElementsAre("Socket (" + folder_.path(".nccl.conf") + ":2)",
                                                            "IB (" + folder_.path("etc-nccl.conf") + ":1)"));
  EXPECT_EQ(all.find("NCCL_PROTO"), nullptr);
  EXPECT_THAT(all.files, ElementsAre(folder_.path(".nccl.conf"), folder_.path("etc-nccl.conf")));
  EXPECT_THAT(all.faults, IsEmpty());
}

TEST_F(NcclSettingsTest, TheFirstOfANameCounts) {
  write_system_file("NCCL_NET=IB\nNCCL_NET=Socket\n");
  EXPECT_THAT(settings(), ElementsAre("NCCL_NET=IB from etc-nccl.conf:1"));
  EXPECT_THAT(settings({"NCCL_NET=", "NCCL_NET=x"}), ElementsAre("NCCL_NET= from environment"));
}

TEST_F(NcclSettingsTest, AFileThatIsNamedReplacesTheUsers) {
  write_user_file("NCCL_DEBUG=INFO\n");
  write_system_file("NCCL_ALGO=Ring\n");
  write("named", "NCCL_PROTO=Simple\n");
  const std::string named = "NCCL_CONF_FILE=" + folder_.path("named");
  EXPECT_THAT(settings({named.c_str()}), ElementsAre("NCCL_ALGO=Ring from etc-nccl.conf:1",
                                                     "NCCL_CONF_FILE=" + folder_.path("named") + " from environment",
                                                     "NCCL_PROTO=Simple from named:1"));
  const NcclSettings missing = read({"NCCL_CONF_FILE=/none/here"});
  EXPECT_THAT(missing.faults,
              ElementsAre(Field(&NcclFileFault::what, HasSubstr("NCCL skips this file: it cannot be"))));
  EXPECT_EQ(missing.find("NCCL_DEBUG"), nullptr);
  // An empty name is none.
  EXPECT_NE(read({"NCCL_CONF_FILE="}).find("NCCL_DEBUG"), nullptr);
}

TEST_F(NcclSettingsTest, NamesLinesThatNcclSkipsOrTakesDifferently) {
  write_user_file(
      "# NCCL_A=1\n"
      "\n"
      "export NCCL_B=1\n"
      " NCCL_C=1\n"
      "NCCL_D = 1\n"
      "NCCL_E\n"
      "NCCL_F=\"Ring\"\n"
      "NCCL_G=Ring \n"
      "NCCL_H=Ring\r\n"
      "  # none\n"
      "=1\n"
      "OTHER=1");
  EXPECT_THAT(settings(), ElementsAre("NCCL_F=\"Ring\" from .nccl.conf:7", "NCCL_G=Ring  from .nccl.conf:8",
                                      "NCCL_H=Ring from .nccl.conf:9"));
  EXPECT_THAT(faults(),
              ElementsAre(HasSubstr(".nccl.conf:3 NCCL sets no such variable by \"export NCCL_B=1\": it takes "
                                    "\"export NCCL_B\" as the name"),
                          HasSubstr(".nccl.conf:4 NCCL sets no such variable by \" NCCL_C=1\""),
                          HasSubstr(".nccl.conf:5 NCCL sets no such variable by \"NCCL_D = 1\""),
                          ".nccl.conf:6 NCCL skips \"NCCL_E\": it has no =",
                          ".nccl.conf:7 the quotes are part of the value of NCCL_F",
                          ".nccl.conf:8 the spaces around the value of NCCL_G are part of it",
                          HasSubstr(".nccl.conf:11 NCCL sets no such variable by \"=1\"")));
  EXPECT_TRUE(read().faults.front().about_nccl);
  EXPECT_FALSE(read().faults.back().about_nccl);
}

TEST_F(NcclSettingsTest, ReadingIsBoundedAndPrintable) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "NCCL_X" + std::to_string(i) + "=" + std::string(40, 'x') + "\n";
  write_system_file(text + "\n");
  NcclSettings all = read();
  EXPECT_LT(all.settings.size(), 2000U);
  EXPECT_THAT(all.faults.front().what, HasSubstr("only its first 64 KiB"));
  write_system_file("NCCL_NET=a\x1b[31mb" + std::string(5000, 'c') + "\n");
  all = read();
  ASSERT_NE(all.find("NCCL_NET"), nullptr);
  EXPECT_THAT(all.find("NCCL_NET")->value, ::testing::StartsWith("a?[31mbccc"));
  EXPECT_EQ(all.find("NCCL_NET")->value.size(), 1023U) << "as NCCL cuts it";
  EXPECT_EQ(shortened(all.find("NCCL_NET")->value), "a?[31mb" + std::string(193, 'c') + "..");
  std::string broken;
  for (int i = 0; i < 3000; ++i) broken += "NCCL\n";
  write_system_file(broken);
  EXPECT_LE(read().faults.size(), 20U);
}

TEST_F(NcclSettingsTest, AFolderIsNoFile) {
  const std::string named = "NCCL_CONF_FILE=" + home();
  EXPECT_EQ(read({named.c_str()}).faults.size(), 1U);
}

}  // namespace
}  // namespace cableway::cli
