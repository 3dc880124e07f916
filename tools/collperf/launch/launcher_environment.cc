#include "tools/collperf/launch/launcher_environment.h"

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

constexpr LauncherVariables kOpenMpi = {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"};
constexpr LauncherVariables kTorchrun = {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", nullptr};
constexpr LauncherVariables kPmi = {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "PMI_JOBID"};
constexpr LauncherVariables kSlurm = {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", nullptr, "SLURM_JOB_ID"};
// From this value on, SLURM_STEP_ID is not that of a step with tasks, but of a batch script, an interactive shell, ..
constexpr std::uint32_t kFirstSpecialStep = 0xfffffff0;
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
  // A batch script has a job and a rank, and is no step; the shell of an interactive job is a step without tasks.
  const auto step = value_of(lookup, "SLURM_STEP_ID");
  std::uint32_t number = 0;
  if (step && absl::SimpleAtoi(routing::absl_view(*step), &number)) return number < kFirstSpecialStep;
  return step.has_value() || !value_of(lookup, kSlurm.job).has_value();
}

struct FoundProcess {
  LaunchedProcess process;
  const LauncherVariables* by;
};

absl::Status disagreement(const FoundProcess& one, const FoundProcess& other) {
  const auto place = [](const FoundProcess& found) {
    return absl::StrCat("rank ", found.process.rank, " of ", found.process.size);
  };
  return absl::InvalidArgumentError(absl::StrCat(
      one.by->rank, " and ", one.by->size, " say ", place(one), ", ", other.by->rank, " and ", other.by->size, " ",
      place(other), "; expected one launcher, or the same from both: unset those that are not meant"));
}

bool agree(const FoundProcess& one, const FoundProcess& other) {
  return one.process.rank == other.process.rank && one.process.size == other.process.size;
}

absl::StatusOr<std::optional<FoundProcess>> process_by_launchers(const EnvironmentLookup& lookup) {
  // torchrun's agents may themselves be processes of another launcher.
  const bool by_torchrun = value_of(lookup, "TORCHELASTIC_RUN_ID").has_value();
  std::optional<FoundProcess> first;
  for (const LauncherVariables* variables : {&kOpenMpi, &kTorchrun, &kPmi}) {
    if (by_torchrun && variables != &kTorchrun) continue;
    absl::StatusOr<std::optional<LaunchedProcess>> process = process_by(lookup, *variables);
    if (!process.ok()) return process.status();
    if (!process->has_value()) continue;
    FoundProcess found{**std::move(process), variables};
    if (first && !agree(*first, found)) return disagreement(*first, found);
    if (!first) first = std::move(found);
  }
  return first;
}

// Slurm sets the variables of PMI for its tasks, too, and tells the host of rank 0, which PMI does not.
absl::Status prefer_slurm(const EnvironmentLookup& lookup, std::optional<FoundProcess>& found) {
  LauncherVariables variables = kSlurm;
  // A step may have fewer tasks than the job.
  if (value_of(lookup, "SLURM_STEP_NUM_TASKS")) variables.size = "SLURM_STEP_NUM_TASKS";
  absl::StatusOr<std::optional<LaunchedProcess>> process = process_by(lookup, variables);
  if (!process.ok()) return process.status();
  FoundProcess task{**std::move(process), &kSlurm};
  if (found && !agree(*found, task)) return disagreement(*found, task);
  found = std::move(task);
  return absl::OkStatus();
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

absl::Status find_rendezvous(const EnvironmentLookup& lookup, const LauncherVariables& variables,
                             LaunchedProcess& process) {
  const bool is_slurm = std::string_view(variables.rank) == kSlurm.rank;
  const char* const nodes = value_of(lookup, "SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  if (const auto host = value_of(lookup, "MASTER_ADDR")) {
    process.host = std::string(*host);
  } else if (is_slurm && value_of(lookup, nodes)) {
    absl::StatusOr<std::string> first = first_slurm_host(*value_of(lookup, nodes));
    if (!first.ok()) return absl::InvalidArgumentError(absl::StrCat(nodes, ": ", first.status().message()));
    process.host = *std::move(first);
  } else if (process.size == 1 || (value_of(lookup, variables.local_size) &&
                                   value_of(lookup, variables.local_size) == value_of(lookup, variables.size))) {
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
  absl::StatusOr<std::optional<FoundProcess>> found = process_by_launchers(lookup);
  if (!found.ok()) return found.status();
  if (is_slurm_task(lookup) && (!found->has_value() || (*found)->by == &kPmi)) {
    if (absl::Status status = prefer_slurm(lookup, *found); !status.ok()) return status;
  }
  if (!found->has_value()) return std::nullopt;
  LaunchedProcess process = std::move((*found)->process);
  if (absl::Status status = find_rendezvous(lookup, *(*found)->by, process); !status.ok()) return status;
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
