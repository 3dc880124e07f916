#include "tools/cableway/verbs/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

namespace cableway::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

HostFacts host_with_lan() {
  HostFacts host;
  host.plugin = "/usr/lib/cableway/libnccl-net-cableway.so";
  host.installation = "/usr/lib/cableway";
  host.default_interfaces = {"eth1", "wlan0"};
  host.has_verbs_files = true;
  host.rdma_device_rules = {"c 231:* rwm", "c 10:121 rwm"};
  return host;
}

Settings settings_of_a_lab() {
  Settings settings;
  settings.node = "spark0";
  settings.cluster = "lab 1";
  settings.relay_port = 7470;
  settings.config = "/etc/cableway/cableway.toml";
  // The relay port was set explicitly to its default.
  settings.origins = {{"cluster", "CABLEWAY_CLUSTER"}, {"relay_port", "x:1"}, {"config", "CABLEWAY_CONFIG"}};
  return settings;
}

TEST(JobEnvironment, AsShell) {
  JobEnvironment environment = job_environment(settings_of_a_lab(), host_with_lan(), {{"eth1"}});
  environment.rank_order = {"n0", "n2"};
  EXPECT_EQ(as_shell(environment),
            "export NCCL_NET_PLUGIN=/usr/lib/cableway/libnccl-net-cableway.so\n"
            "export NCCL_NET=cableway\n"
            "export NCCL_NET_PLUGIN_REF_COUNT=1\n"
            "export NCCL_SOCKET_IFNAME='=wlan0'\n"
            "export GLOO_SOCKET_IFNAME=wlan0\n"
            "export CABLEWAY_CLUSTER='lab 1'\n"
            "# nodes by rank, so that neighbours share cables: n0,n2\n");
}

TEST(JobEnvironment, AsDocker) {
  Settings settings;
  EXPECT_EQ(as_docker(job_environment(settings, host_with_lan(), {})),
            "--network host --ulimit memlock=-1 -v /dev/infiniband:/dev/infiniband --device-cgroup-rule 'c 231:* rwm' "
            "--device-cgroup-rule 'c 10:121 rwm' -v /usr/lib/cableway:/usr/lib/cableway:ro "
            "-e NCCL_NET_PLUGIN=/usr/lib/cableway/libnccl-net-cableway.so -e NCCL_NET=cableway "
            "-e NCCL_NET_PLUGIN_REF_COUNT=1 -e NCCL_SOCKET_IFNAME==eth1 -e GLOO_SOCKET_IFNAME=eth1\n");
}

TEST(JobEnvironment, DockerWordsAreQuotedForAShell) {
  EXPECT_THAT(as_docker(job_environment(settings_of_a_lab(), host_with_lan(), {})),
              HasSubstr(" -e 'CABLEWAY_CLUSTER=lab 1'\n"));
}

TEST(JobEnvironment, SeveralCablesNeedMoreChannels) {
  const auto shell = [](bool has_several) {
    return as_shell(job_environment(Settings(), host_with_lan(), {{}, false, has_several}));
  };
  EXPECT_THAT(shell(false), Not(HasSubstr("NCHANNELS")));
  EXPECT_THAT(shell(true), HasSubstr("export NCCL_MIN_NCHANNELS=4\n"));
  EXPECT_THAT(shell(true), Not(HasSubstr("NCCL_NCHANNELS_PER_NET_PEER")));
}

TEST(JobEnvironment, SplitPlugsNeedMoreFlows) {
  for (const auto& [variable, least, more] :
       {std::tuple("NCCL_MIN_NCHANNELS", "4", "8"), std::tuple("NCCL_NCHANNELS_PER_NET_PEER", "4", "5")}) {
    HostFacts host = host_with_lan();
    const auto printed = [&, name = std::string(variable)](bool has_split_plug) {
      for (const auto& [each, value] :
           job_environment(Settings(), host, {{}, has_split_plug, has_split_plug}).variables) {
        if (each == name) return value;
      }
      return std::string("not set");
    };
    EXPECT_EQ(printed(false), "not set");
    EXPECT_EQ(printed(true), least);
    const std::string words = std::string(variable) + "=" + least;
    EXPECT_THAT(as_docker(job_environment(Settings(), host, {{}, true, true})), HasSubstr(" -e " + words + " "));
    EXPECT_THAT(as_shell(job_environment(Settings(), host, {{}, true, true})), HasSubstr("export " + words + "\n"));
    // What is set already is not lowered.
    host.nccl.settings = {{variable, more, "environment", {}}};
    EXPECT_EQ(printed(true), more);
    host.nccl.settings.front().value = "1";
    EXPECT_EQ(printed(true), least);
    host.nccl.settings.front().value = "many";
    EXPECT_EQ(printed(true), least);
  }
}

TEST(JobEnvironment, AMaximumThatSplitPlugsExceedIsRemarked) {
  HostFacts host = host_with_lan();
  host.nccl.settings = {{"NCCL_MAX_NCHANNELS", "2", "/etc/nccl.conf:1", {}}};
  EXPECT_THAT(job_environment(Settings(), host, {{}, true, true}).remarks,
              Contains(StartsWith("NCCL_MAX_NCHANNELS=2 (/etc/nccl.conf:1): too few flows")));
  EXPECT_THAT(job_environment(Settings(), host, {{}, false, true}).remarks, IsEmpty());
  host.nccl.settings.front().value = "4";
  EXPECT_THAT(job_environment(Settings(), host, {{}, true, true}).remarks, IsEmpty());
}

TEST(JobEnvironment, MountsTheFolderOfASystemNodesSocket) {
  HostFacts host = host_with_lan();
  host.sessions.has_socket = true;
  EXPECT_THAT(as_docker(job_environment(Settings(), host, {})), HasSubstr(" -v /run/cableway:/run/cableway "));
}

TEST(JobEnvironment, ReportsMissingVariables) {
  HostFacts host;
  host.plugin_sought = "/x/lib/libnccl-net-cableway.so";
  host.default_interfaces = {"eth1"};
  const JobEnvironment environment = job_environment(Settings(), host, {{"eth1"}});
  EXPECT_THAT(environment.variables, Not(Contains(Pair("NCCL_NET_PLUGIN", ::testing::_))));
  EXPECT_THAT(environment.variables, Not(Contains(Pair("NCCL_SOCKET_IFNAME", ::testing::_))));
  EXPECT_THAT(as_shell(environment), HasSubstr("# NCCL_NET_PLUGIN is not set: no plugin found at /x/lib/"));
  EXPECT_THAT(as_shell(environment), HasSubstr("\n# NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME are not set"));
}

TEST(JobEnvironment, AsJson) {
  JobEnvironment environment = job_environment(settings_of_a_lab(), host_with_lan(), {});
  const nlohmann::json view = nlohmann::json::parse(as_json(environment));
  EXPECT_EQ(view.at("schema"), 1);
  EXPECT_EQ(view.at("variables").at("NCCL_NET"), "cableway");
  EXPECT_EQ(view.at("variables").at("CABLEWAY_CLUSTER"), "lab 1");
  EXPECT_EQ(view.at("docker").at(0), "--network");
  EXPECT_EQ(view.at("docker").at(7), "c 231:* rwm");
  EXPECT_EQ(view.at("rank_order"), nullptr);
  EXPECT_THAT(view.at("remarks"), IsEmpty());
  environment.rank_order = {"n1", "n0"};
  EXPECT_EQ(nlohmann::json::parse(as_json(environment)).at("rank_order"), (nlohmann::json{"n1", "n0"}));
}

}  // namespace
}  // namespace cableway::cli
