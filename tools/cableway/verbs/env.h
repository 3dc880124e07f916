// `cableway env`: the environment of a job here, for shells, for Docker and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_ENV_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_ENV_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/settings/settings.h"
#include "tools/cableway/doctor/facts/host_facts.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> env_verb();

struct JobEnvironment {
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::string> docker_options;
  std::vector<std::string> rank_order;  // nodes by rank; empty: not known
  std::vector<std::string> remarks;     // missing variables, and what to do
};

// What the cables require of a job.
struct CablePorts {
  std::vector<std::string> interfaces;  // which a job's bootstrap must not use
  bool has_split_plug = false;          // two of them are functions of one plug
};

JobEnvironment job_environment(const Settings& settings, const HostFacts& host, const CablePorts& ports);

// Lines for a POSIX shell, remarks and the rank order as comments: eval "$(cableway env)".
std::string as_shell(const JobEnvironment& environment);
// Words for docker run, for a shell to parse: eval "docker run $(cableway env --docker) IMAGE .."
std::string as_docker(const JobEnvironment& environment);
//   variables {NAME: value}, docker [words], rank_order [nodes] or null, remarks [texts]
std::string as_json(const JobEnvironment& environment);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_ENV_H_
