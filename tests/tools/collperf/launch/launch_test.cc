// The commands that start ranks.
#include "tools/collperf/launch/launch.h"

#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "routing/text/shell_text.h"
#include "tools/collperf/launch/remote_command.h"

namespace cableway::collperf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What a shell makes of a word.
std::string through_shell(const std::string& word) {
  std::FILE* const shell = popen(("printf %s " + routing::shell_quoted(word)).c_str(), "r");  // NOLINT(cert-env33-c)
  std::string text;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) text.push_back(static_cast<char>(c));
  pclose(shell);
  return text;
}

TEST(RemoteCommandTest, WordsSurviveAShell) {
  for (const char* word : {"", "a", "it's", "$HOME `id` $(id)", "a\nb", "\"\\", "''", "*", "-n;id", "~", "\xff"}) {
    EXPECT_EQ(through_shell(word), word);
  }
}

TEST(RemoteCommandTest, ForwardsTheVariablesOfNcclAndCableway) {
  const char* const environment[] = {"NCCL_DEBUG=INFO", "CABLEWAY_LOG=a b", "HOME=/root", "XNCCL_A=1", "NCCL_A;id=1",
                                     "NCCL_WITHOUT",    "NCCL_EMPTY=",      "RANK=3",     nullptr};
  EXPECT_THAT(forwarded_environment(environment), ElementsAre("NCCL_DEBUG=INFO", "CABLEWAY_LOG=a b", "NCCL_EMPTY="));
}

LaunchRequest request_for(std::vector<HostSlots> hosts) {
  LaunchRequest request;
  request.place = {.rank = 0, .local_ranks = 2, .ranks = 4, .host = "h0", .port = 9, .hosts = std::move(hosts)};
  request.program = "/opt/coll perf";
  request.arguments = {"--json=-"};
  request.ssh = {"ssh", "-p2222"};
  request.directory = "/work";
  request.environment = {"NCCL_DEBUG=it's"};
  return request;
}

TEST(LaunchTest, ARankIsAProcess) {
  LaunchRequest request = request_for({});
  request.place.rank = 2;
  request.place.host = "fe80::1";
  const auto members = members_of(request);
  ASSERT_TRUE(members.ok());
  ASSERT_EQ(members->size(), 2U);
  EXPECT_EQ((*members)[1].name, "rank 3");
  EXPECT_FALSE((*members)[1].is_remote);
  EXPECT_THAT((*members)[1].command, ElementsAre("/opt/coll perf", "--json=-", "--rank=3", "--ranks=4",
                                                 "--rendezvous=[fe80::1]:9", "--ngpus=1", "--launched"));
}

TEST(LaunchTest, AHostIsAProcessOfSsh) {
  const auto members = members_of(request_for({{"me@h0", 1}, {"h1", 3}}));
  ASSERT_TRUE(members.ok());
  ASSERT_EQ(members->size(), 2U);
  EXPECT_EQ((*members)[1].name, "host h1");
  EXPECT_EQ((*members)[1].prefix, "h1: ");
  EXPECT_THAT((*members)[0].command,
              ElementsAre("ssh", "-p2222", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "me@h0",
                          "cd /work && exec env 'NCCL_DEBUG=it'\\''s' '/opt/coll perf' --json=- --rank=0 --ranks=4 "
                          "--rendezvous=h0:9 --ngpus=1 --launched"));
  EXPECT_THAT((*members)[1].command.back(), HasSubstr("--rank=1 --ranks=4 --rendezvous=h0:9 --ngpus=3"));
}

TEST(LaunchTest, ACommandThatIsTooLongIsRefused) {
  LaunchRequest request = request_for({{"h0", 2}});
  request.environment.emplace_back("NCCL_X=" + std::string(100'000, 'x'));
  EXPECT_THAT(std::string(members_of(request).status().message()), HasSubstr("host h0 has 100"));
}

}  // namespace
}  // namespace cableway::collperf
