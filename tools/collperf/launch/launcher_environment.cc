#include "tools/collperf/launch/launcher_environment.h"

#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "routing/text/absl_view.h"
#include "routing/text/node_name.h"
#include "tools/collperf/launch/host_list.h"

namespace cableway::collperf {
namespace {

struct LauncherVariables {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_size;  // number of processes on this host
  const char* job;         // a text that all processes of the job have and no other job has; nullptr: none
};

constexpr std::array<LauncherVariables, 3> kLaunchers = {
    {{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
     {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", nullptr},
     {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "PMI_JOBID"}}};
constexpr LauncherVariables kSlurm = {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", nullptr, "SLURM_JOB_ID"};
constexpr int kMaxProcesses = 1 << 20;
// Below the ports that Linux gives to outgoing connections.
constexpr std::uint16_t kFirstJobPort = 20000;
constexpr std::uint16_t kJobPorts = 10000;

std::optional<std::string_view> value_of(const EnvironmentLookup& lookup, const char* name) {
  const char* const value = name == nullptr ? nullptr : lookup(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

absl::StatusOr<int> number_of(const EnvironmentLookup& lookup, const char* name, int least, int most) {
  const std::string_view text = value_of(lookup, name).value_or("");
  int number = 0;
  if (absl::SimpleAtoi(routing::absl_view(text), &number) && number >= least && number <= most) return number;
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", routing::in_quotes(text), "; expected a number from ", least, " to ", most));
}

// Rank and size by these variables; no value if neither is set.
absl::StatusOr<std::optional<LaunchedProcess>> process_by(const EnvironmentLookup& lookup,
                                                          const LauncherVariables& variables) {
  const bool has_rank = value_of(lookup, variables.rank).has_value();
  const bool has_size = value_of(lookup, variables.size).has_value();
  if (!has_rank && !has_size) return std::nullopt;
  if (!has_rank || !has_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        has_rank ? variables.rank : variables.size, " is set and ", has_rank ? variables.size : variables.rank,
        " is not; expected both, as ", variables.name, " sets them, or neither"));
  }
  const absl::StatusOr<int> size = number_of(lookup, variables.size, 1, kMaxProcesses);
  if (!size.ok()) return size.status();
  const absl::StatusOr<int> rank = number_of(lookup, variables.rank, 0, *size - 1);
  if (!rank.ok()) return rank.status();
  return LaunchedProcess{.launcher = variables.name, .rank = *rank, .size = *size, .host = {}, .port = {}};
}

bool is_slurm_task(const EnvironmentLookup& lookup) {
  if (!value_of(lookup, kSlurm.rank)) return false;
  // A batch script has a job and a rank, and is no step.
  return value_of(lookup, "SLURM_STEP_ID").has_value() || !value_of(lookup, kSlurm.job).has_value();
}

// FNV-1a, so that all processes of a job compute the same port.
std::uint16_t port_of_job(std::string_view job) {
  std::uint32_t hash = 2166136261U;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<std::uint16_t>(kFirstJobPort + hash % kJobPorts);
}

absl::StatusOr<std::optional<std::uint16_t>> master_port(const EnvironmentLookup& lookup) {
  if (!value_of(lookup, "MASTER_PORT")) return std::nullopt;
  // torchrun's agent listens at MASTER_PORT itself.
  const int after = value_of(lookup, "TORCHELASTIC_USE_AGENT_STORE") == "True" ? 1 : 0;
  const absl::StatusOr<int> port =
      number_of(lookup, "MASTER_PORT", 1, std::numeric_limits<std::uint16_t>::max() - after);
  if (!port.ok()) return port.status();
  return static_cast<std::uint16_t>(*port + after);
}

absl::Status find_meeting(const EnvironmentLookup& lookup, const LauncherVariables& variables,
                          LaunchedProcess& process) {
  const bool is_slurm = std::string_view(variables.rank) == kSlurm.rank;
  const char* const nodes = value_of(lookup, "SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  if (const auto host = value_of(lookup, "MASTER_ADDR")) {
    process.host = std::string(*host);
  } else if (is_slurm && value_of(lookup, nodes)) {
    absl::StatusOr<std::string> first = first_slurm_host(*value_of(lookup, nodes));
    if (!first.ok()) return absl::InvalidArgumentError(absl::StrCat(nodes, ": ", first.status().message()));
    process.host = *std::move(first);
  } else if (value_of(lookup, variables.local_size) &&
             value_of(lookup, variables.local_size) == value_of(lookup, variables.size)) {
    process.host = "127.0.0.1";
  }
  absl::StatusOr<std::optional<std::uint16_t>> port = master_port(lookup);
  if (!port.ok()) return port.status();
  process.port = *port;
  if (const auto job = value_of(lookup, variables.job); job && !process.port) {
    const std::string_view step = is_slurm ? value_of(lookup, "SLURM_STEP_ID").value_or("") : "";
    process.port = port_of_job(absl::StrCat(routing::absl_view(*job), ".", routing::absl_view(step)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<LaunchedProcess>> launched_process(const EnvironmentLookup& lookup) {
  std::optional<LaunchedProcess> process;
  const LauncherVariables* by = nullptr;
  for (const LauncherVariables& variables : kLaunchers) {
    absl::StatusOr<std::optional<LaunchedProcess>> found = process_by(lookup, variables);
    if (!found.ok()) return found.status();
    if (!found->has_value()) continue;
    if (!process.has_value()) {
      process = *std::move(found);
      by = &variables;
    } else if (process->rank != (*found)->rank || process->size != (*found)->size) {
      return absl::InvalidArgumentError(
          absl::StrCat(by->rank, " and ", by->size, " say rank ", process->rank, " of ", process->size, ", ",
                       variables.rank, " and ", variables.size, " rank ", (*found)->rank, " of ", (*found)->size,
                       "; expected one launcher, or the same from both: unset those that are not meant"));
    }
  }
  if (!process.has_value() && is_slurm_task(lookup)) {
    LauncherVariables variables = kSlurm;
    // A step may have fewer tasks than the job.
    if (value_of(lookup, "SLURM_STEP_NUM_TASKS")) variables.size = "SLURM_STEP_NUM_TASKS";
    absl::StatusOr<std::optional<LaunchedProcess>> found = process_by(lookup, variables);
    if (!found.ok()) return found.status();
    process = *std::move(found);
    by = &kSlurm;
  }
  if (!process.has_value()) return std::nullopt;
  if (absl::Status status = find_meeting(lookup, *by, *process); !status.ok()) return status;
  return process;
}

absl::StatusOr<std::optional<Meeting>> master_address(const EnvironmentLookup& lookup) {
  const auto host = value_of(lookup, "MASTER_ADDR");
  const absl::StatusOr<std::optional<std::uint16_t>> port = master_port(lookup);
  if (!port.ok()) return port.status();
  if (!host.has_value() || !port->has_value()) return std::nullopt;
  return Meeting{std::string(*host), **port};
}

}  // namespace cableway::collperf
