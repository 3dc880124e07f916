#include "tools/collperf/launch/launch.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/collperf/launch/free_port.h"
#include "tools/collperf/launch/remote_command.h"

extern char** environ;

namespace cableway::collperf {
namespace {

constexpr int kExitRefused = 2;
constexpr int kExitNoLaunch = 3;

// Of the process with these ranks.
std::vector<std::string> command_of(const LaunchRequest& request, int rank, int local_ranks) {
  const Placement& place = request.place;
  const bool is_v6 = place.host.find(':') != std::string::npos;
  std::vector<std::string> command = {request.program};
  command.insert(command.end(), request.arguments.begin(), request.arguments.end());
  command.push_back(absl::StrCat("--rank=", rank));
  command.push_back(absl::StrCat("--ranks=", place.ranks));
  command.push_back(absl::StrCat("--rendezvous=", is_v6 ? "[" : "", place.host, is_v6 ? "]" : "", ":", place.port));
  command.push_back(absl::StrCat("--ngpus=", local_ranks));
  command.emplace_back("--launched");
  return command;
}

}  // namespace

absl::StatusOr<std::vector<GroupMember>> members_of(const LaunchRequest& request) {
  const Placement& place = request.place;
  std::vector<GroupMember> members;
  for (int rank = place.rank; place.hosts.empty() && rank < place.rank + place.local_ranks; ++rank) {
    members.push_back({.name = absl::StrCat("rank ", rank), .prefix = {}, .command = command_of(request, rank, 1)});
  }
  int rank = 0;
  for (const HostSlots& host : place.hosts) {
    absl::StatusOr<std::vector<std::string>> command =
        remote_command({.ssh = request.ssh,
                        .host = host.host,
                        .directory = request.directory,
                        .environment = request.environment,
                        .command = command_of(request, rank, host.slots)});
    if (!command.ok()) return command.status();
    members.push_back({.name = absl::StrCat("host ", host.host),
                       .prefix = absl::StrCat(host.host, ": "),
                       .command = *std::move(command),
                       .is_remote = true});
    rank += host.slots;
  }
  return members;
}

int launch(LaunchRequest request, const GroupLimits& limits) {
  std::error_code error;
  request.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (!error) request.directory = std::filesystem::current_path(error).string();
  if (error) {
    std::fprintf(stderr, "collperf: cannot find its own program or folder: %s\n", error.message().c_str());
    return kExitNoLaunch;
  }
  request.environment = forwarded_environment(environ);
  if (request.place.port == 0) request.place.port = free_port();
  absl::StatusOr<std::vector<GroupMember>> members = members_of(request);
  if (!members.ok()) {
    std::fprintf(stderr, "collperf: %s\n", std::string(members.status().message()).c_str());
    return kExitRefused;
  }
  return ProcessGroup(*std::move(members), limits).run();
}

}  // namespace cableway::collperf
