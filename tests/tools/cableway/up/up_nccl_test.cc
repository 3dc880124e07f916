// `cableway up --nccl`: the line of the preset in NCCL's settings file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/cableway/up/fake_host.h"
#include "tools/cableway/up/nccl_file.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLine[] = "NCCL_ENV_PLUGIN=libnccl-net-cableway.so\n";

class UpNcclTest : public ::testing::Test {
 protected:
  // The other changes are made, so that this one is alone.
  UpNcclTest() { run({"--yes"}); }

  Outcome run(std::vector<std::string> arguments) { return run_up(host_, std::move(arguments), in_, in_is_terminal_); }

  FakeHost host_;
  std::istringstream in_;
  bool in_is_terminal_ = false;
};

TEST_F(UpNcclTest, AddsTheLineOnceAndUndoRemovesTheFile) {
  const auto before = host_.tree();
  const Outcome first = run({"--nccl", "--yes"});
  EXPECT_EQ(first.exit_status, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("NCCL_ENV_PLUGIN in /etc/nccl.conf"), HasSubstr("not set")));
  EXPECT_THAT(first.err, AllOf(HasSubstr("jobs need no environment variables"), HasSubstr("on all")));
  EXPECT_EQ(host_.read("/etc/nccl.conf"), kLine);
  const Outcome second = run({"--nccl"});
  EXPECT_EQ(second.out, "nothing to change\n");
  EXPECT_THAT(second.err, Not(HasSubstr("NCCL")));
  EXPECT_EQ(run({}).out, "nothing to change\n") << "the line stays without the option";
  EXPECT_EQ(run({"--undo", "--yes"}).exit_status, 0);
  EXPECT_FALSE(host_.has("/etc/nccl.conf"));
  EXPECT_NE(host_.tree(), before);  // all other changes are taken back, too
}

TEST_F(UpNcclTest, OtherLinesStayAndUndoRestoresEveryByte) {
  const std::string mine = "# mine\nNCCL_DEBUG=WARN\n#NCCL_ENV_PLUGIN=x\n NCCL_ENV_PLUGIN=y";
  host_.write("/etc/nccl.conf", mine, 0640);
  ASSERT_EQ(run({"--nccl", "--yes"}).exit_status, 0);
  EXPECT_EQ(host_.read("/etc/nccl.conf"), mine + "\n" + kLine);
  EXPECT_EQ(std::filesystem::status(host_.at("/etc/nccl.conf")).permissions(), std::filesystem::perms{0640});
  ASSERT_EQ(run({"--undo", "--yes"}).exit_status, 0);
  EXPECT_EQ(host_.read("/etc/nccl.conf"), mine);
}

TEST_F(UpNcclTest, AnotherEnvPluginIsRefusedAndNothingChanged) {
  host_.write("/etc/nccl.conf", "NCCL_DEBUG=WARN\nNCCL_ENV_PLUGIN=other\n");
  const auto before = host_.tree();
  for (const char* force : {"--json", "--force"}) {
    const Outcome refused = run({"--nccl", "--yes", force});
    EXPECT_EQ(refused.exit_status, 1);
    EXPECT_THAT(refused.err, HasSubstr("/etc/nccl.conf:2: NCCL_ENV_PLUGIN is \"other\", and NCCL loads one env plugin "
                                       "only; remove that line, or leave out --nccl"));
  }
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(UpNcclTest, DryRunShowsIt) {
  const auto before = host_.tree();
  const Outcome shown = run({"--nccl", "--dry-run", "--json"});
  ASSERT_EQ(shown.exit_status, 0) << shown.err;
  EXPECT_EQ(nlohmann::json::parse(shown.out)["changes"],
            nlohmann::json::array({{{"what", "NCCL_ENV_PLUGIN in /etc/nccl.conf"},
                                    {"is", "not set"},
                                    {"would_be", "libnccl-net-cableway.so"}}}));
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(UpNcclTest, AsksWhereSomethingElseChangesToo) {
  in_is_terminal_ = true;
  EXPECT_THAT(run({}).err, Not(HasSubstr("Add it?"))) << "nothing else to change";
  ASSERT_EQ(run({"--undo", "--yes"}).exit_status, 0);
  in_.str("y\ny\n");
  const Outcome done = run({});
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_THAT(done.err, AllOf(HasSubstr("jobs need no environment\nvariables"), HasSubstr("Add it? [y/N]")));
  EXPECT_EQ(host_.read("/etc/nccl.conf"), kLine);
  std::filesystem::remove(host_.at("/etc/security/limits.d/cableway.conf"));
  in_.clear();
  in_.str("y\n");
  EXPECT_THAT(run({}).err, AllOf(HasSubstr("apply?"), Not(HasSubstr("Add it?")))) << "the line is there";
}

TEST(NcclFile, TheFirstLineThatSetsItCounts) {
  EXPECT_EQ(env_plugin_in(""), std::nullopt);
  EXPECT_EQ(env_plugin_in("NCCL_ENV_PLUGINS=a\nNCCL_ENV_PLUGIN\nexport NCCL_ENV_PLUGIN=b\n"), std::nullopt);
  EXPECT_EQ(env_plugin_in("NCCL_ENV_PLUGIN=a\r\nNCCL_ENV_PLUGIN=b\n"), "a");
  const std::string path = "NCCL_ENV_PLUGIN=/usr/lib/cableway/libnccl-net-cableway.so";
  EXPECT_EQ(*with_env_plugin(path), std::nullopt);
  EXPECT_FALSE(with_env_plugin(path + " ").ok()) << "NCCL takes the space as part of the name";
  EXPECT_FALSE(with_env_plugin("NCCL_ENV_PLUGIN=\n").ok());
}

}  // namespace
}  // namespace cableway::cli
