// A verb: one command of `cableway`. tools/cableway/verb_table.h lists them all.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_VERB_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_VERB_H_

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/settings/settings.h"
#include "tools/cableway/command/command.h"
#include "tools/cableway/command/exit_status.h"
#include "tools/cableway/text/look.h"
#include "tools/cableway/text/paint.h"
#include "tools/cableway/verbs/surroundings.h"

namespace cableway::cli {

// The inputs and outputs of a verb, beside its arguments.
struct Invocation {
  const Settings& settings;
  const Surroundings& surroundings;
  const std::string& command_line;  // complete, quoted for a shell
  std::ostream& out;                // for output that continues until interrupted; other output is the Answer
  std::ostream& err;                // progress
  Paint paint = Paint();            // colours of text on `out`

  Look look() const { return {.paint = paint, .columns = prose_columns(surroundings.out_columns)}; }
};

struct Answer {
  std::string text;
  int exit_status = kDone;
  std::vector<std::string> remarks = {};  // printed to standard error
};

class Verb {
 public:
  virtual ~Verb() = default;

  // Its name, help and arguments. Call it once: the arguments refer to the verb's members, which the parser sets.
  virtual Command describe() = 0;

  // Runs the command. An error's exit status is that of exit_status_of().
  virtual absl::StatusOr<Answer> run(const Invocation& invocation) = 0;
};

// "--json", which every verb has.
inline Argument json_flag(bool& target) {
  return flag("--json", target, "as JSON");
}

// "--all", of the verbs that show all nodes.
inline Argument all_nodes_flag(bool& target) {
  return flag("--all", target, "of all nodes of the cluster, which the node here asks over the cables");
}

// What --help and the manual page say of it; `shows`: of this verb's views.
inline std::string all_nodes_notes(const std::string& shows) {
  return "With --all, " + shows +
         " Nodes that do not answer come last, each with one cause; they delay no other node. They are asked along the "
         "paths that flows take, and no other network is needed.";
}

inline absl::StatusOr<Answer> as_answer(absl::StatusOr<std::string> text) {
  if (!text.ok()) return text.status();
  return Answer{*std::move(text)};
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_VERB_H_
