#include "tools/cableway/verbs/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace cableway::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
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
            "export NCCL_MIN_NCHANNELS=4\n"
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
            "-e NCCL_NET_PLUGIN_REF_COUNT=1 -e NCCL_MIN_NCHANNELS=4 -e NCCL_SOCKET_IFNAME==eth1 -e "
            "GLOO_SOCKET_IFNAME=eth1\n");
}

TEST(JobEnvironment, DockerWordsAreQuotedForAShell) {
  EXPECT_THAT(as_docker(job_environment(settings_of_a_lab(), host_with_lan(), {})),
              HasSubstr(" -e 'CABLEWAY_CLUSTER=lab 1'\n"));
}

const std::string* find_variable(const JobEnvironment& environment, const std::string& name) {
  for (const auto& [each, value] : environment.variables) {
    if (each == name) return &value;
  }
  return nullptr;
}

// As the preset does: ranks must agree on their channels, whatever the ports of their hosts.
TEST(JobEnvironment, TheLeastChannelsAreTheSameOnEveryHost) {
  for (const bool has_split_plug : {false, true}) {
    const JobEnvironment environment = job_environment(Settings(), host_with_lan(), {{}, has_split_plug});
    EXPECT_THAT(as_shell(environment), HasSubstr("export NCCL_MIN_NCHANNELS=4\n"));
    EXPECT_THAT(environment.remarks, IsEmpty());
  }
}

TEST(JobEnvironment, LeavesTheChannelsToAUserWhoLimitsThem) {
  HostFacts host = host_with_lan();
  for (const char* const name :
       {"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MIN_NRINGS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS"}) {
    host.nccl.settings = {{name, "8", "/etc/nccl.conf:1", {}}};
    const JobEnvironment environment = job_environment(Settings(), host, {{}, true});
    EXPECT_EQ(find_variable(environment, "NCCL_MIN_NCHANNELS"), nullptr) << name;
    EXPECT_THAT(environment.remarks, ElementsAre(StartsWith("NCCL_MIN_NCHANNELS is not set beside " +
                                                            std::string(name) + "=8 (/etc/nccl.conf:1)")));
    // Both of the user's.
    host.nccl.settings.insert(host.nccl.settings.begin(), {"NCCL_MIN_NCHANNELS", "2", "environment", {}});
    EXPECT_THAT(job_environment(Settings(), host, {}).variables, Contains(Pair("NCCL_MIN_NCHANNELS", "2"))) << name;
  }
}

TEST(JobEnvironment, SplitPlugsNeedMoreFlows) {
  const char* const peer = "NCCL_NCHANNELS_PER_NET_PEER";
  EXPECT_EQ(find_variable(job_environment(Settings(), host_with_lan(), {{}, false}), peer), nullptr);
  const JobEnvironment environment = job_environment(Settings(), host_with_lan(), {{}, true});
  EXPECT_THAT(as_docker(environment), HasSubstr(" -e NCCL_NCHANNELS_PER_NET_PEER=4 "));
  EXPECT_THAT(as_shell(environment), HasSubstr("export NCCL_NCHANNELS_PER_NET_PEER=4\n"));
}

TEST(JobEnvironment, KeepsTheFlowsOfTheUser) {
  HostFacts host = host_with_lan();
  for (const std::string name : {"NCCL_MIN_NCHANNELS", "NCCL_NCHANNELS_PER_NET_PEER"}) {
    for (const std::string value : {"8", "1", "many"}) {
      host.nccl.settings = {{name, value, "environment", {}}};
      const JobEnvironment environment = job_environment(Settings(), host, {{}, true});
      EXPECT_THAT(environment.variables, Contains(Pair(name, value)));
      if (value == "8") {
        EXPECT_THAT(environment.remarks, IsEmpty());
      } else {
        EXPECT_THAT(environment.remarks, ElementsAre(StartsWith(name + "=" + value + " (environment): too few flows")));
      }
    }
  }
}

TEST(JobEnvironment, AMaximumThatSplitPlugsExceedIsRemarked) {
  HostFacts host = host_with_lan();
  const auto too_few = Contains(StartsWith("NCCL_MAX_NCHANNELS=2 (/etc/nccl.conf:1): too few flows"));
  host.nccl.settings = {{"NCCL_MAX_NCHANNELS", "2", "/etc/nccl.conf:1", {}}};
  EXPECT_THAT(job_environment(Settings(), host, {{}, true}).remarks, too_few);
  EXPECT_THAT(job_environment(Settings(), host, {{}, false}).remarks, Not(too_few));
  host.nccl.settings.front().value = "4";
  EXPECT_THAT(job_environment(Settings(), host, {{}, true}).remarks, Not(Contains(HasSubstr("too few"))));
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
