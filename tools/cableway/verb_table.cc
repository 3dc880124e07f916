#include "tools/cableway/verb_table.h"

#include "tools/cableway/verbs/doctor.h"
#include "tools/cableway/verbs/drain.h"
#include "tools/cableway/verbs/env.h"
#include "tools/cableway/verbs/events.h"
#include "tools/cableway/verbs/flows.h"
#include "tools/cableway/verbs/key/key_verbs.h"
#include "tools/cableway/verbs/path.h"
#include "tools/cableway/verbs/plan/plan_addresses.h"
#include "tools/cableway/verbs/plan/plan_ranks.h"
#include "tools/cableway/verbs/ports.h"
#include "tools/cableway/verbs/routes.h"
#include "tools/cableway/verbs/sim.h"
#include "tools/cableway/verbs/status.h"
#include "tools/cableway/verbs/topology.h"
#include "tools/cableway/verbs/up/up.h"

namespace cableway::cli {
namespace {

using MakeVerb = std::unique_ptr<Verb> (*)();

constexpr MakeVerb kVerbs[] = {topology_verb,       routes_verb,   path_verb,    status_verb,  ports_verb,
                               flows_verb,          events_verb,   drain_verb,   undrain_verb, plan_ranks_verb,
                               plan_addresses_verb, env_verb,      doctor_verb,  sim_verb,     up_verb,
                               key_new_verb,        key_copy_verb, key_show_verb};

}  // namespace

std::vector<std::unique_ptr<Verb>> all_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  for (const MakeVerb make : kVerbs) verbs.push_back(make());
  return verbs;
}

std::vector<CommandGroup> verb_groups() {
  return {{"plan", "plan jobs and addresses"}, {"key", "the secret of a cluster"}};
}

}  // namespace cableway::cli
