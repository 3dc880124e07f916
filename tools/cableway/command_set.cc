#include "tools/cableway/command_set.h"

#include "tools/cableway/command/exit_status.h"
#include "tools/cableway/verb_table.h"

namespace cableway::cli {
namespace {

constexpr char kDescription[] =
    "cableway - shows the state of this host's Cableway node, plans jobs, sets up hosts, and diagnoses problems.\n"
    "It queries the node that runs in this network namespace; commands about a topology also accept a file or a shape.";

constexpr char kNotes[] =
    "cableway COMMAND --help has the options and examples of a command.\n\n"
    "Settings, as for cablewayd: CABLEWAY_CLUSTER and CABLEWAY_RUNTIME_DIR select the node in this network "
    "namespace\n(default: cableway, default), CABLEWAY_NODE the node of a topology file (default: the host's name).\n\n"
    "The exit statuses below are those of every command; some have others, too: see their --help.";

}  // namespace

Program cableway_program() {
  return {.name = "cableway",
          .version = CABLEWAY_VERSION,
          .description = kDescription,
          .notes = kNotes,
          .exit_statuses = {{kDone, "success"},
                            {kFailed, "failure"},
                            {kNotUsable, "invalid arguments or settings"},
                            {kNoNode, "no node runs here"},
                            {kNoAnswer, "the node here did not answer within 5 s"}},
          .examples = {"cableway doctor", "cableway topology --svg > topology.svg", "cableway path n0 n2",
                       "eval \"$(cableway env)\"", "cableway status --json | jq .relayed.bytes"},
          .groups = verb_groups()};
}

CommandSet::CommandSet() : verbs_(all_verbs()) {
  for (const std::unique_ptr<Verb>& verb : verbs_) {
    commands_.push_back(verb->describe());
    commands_.back().arguments.push_back(
        choice_option("--color", {"auto", "always", "never"}, color_,
                      "colours of severities and states; auto: on a terminal, unless NO_COLOR is set"));
    commands_.back().arguments.push_back(text_option("--config", "FILE", config_, "settings file (CABLEWAY_CONFIG)")
                                             .that_names(Argument::Names::kFiles));
  }
}

}  // namespace cableway::cli
