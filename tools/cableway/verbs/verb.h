// A verb: one thing that `cableway` can be told to do. verb_table.h lists them all.
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
#include "tools/cableway/verbs/surroundings.h"

namespace cableway::cli {

// What a verb runs with, beside its arguments.
struct Invocation {
  const Settings& settings;
  const Surroundings& surroundings;
  const std::string& command_line;  // all of it, as a shell reads it
  std::ostream& out;                // of what goes on until it is interrupted; everything else is an answer
  std::ostream& err;                // how far something is
};

struct Answer {
  std::string text;
  int exit_status = kDone;
  std::vector<std::string> remarks = {};  // for people, beside the text
};

class Verb {
 public:
  virtual ~Verb() = default;

  // Its name, help and arguments. These are put into the verb while a command line is parsed, so once for each verb.
  virtual Command describe() = 0;

  // What was asked for. An error's exit status is that of exit_status_of().
  virtual absl::StatusOr<Answer> run(const Invocation& invocation) = 0;
};

// "--json", which every verb has.
inline Argument json_flag(bool& target) {
  return flag("--json", target, "as JSON");
}

inline absl::StatusOr<Answer> as_answer(absl::StatusOr<std::string> text) {
  if (!text.ok()) return text.status();
  return Answer{*std::move(text)};
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_VERB_H_
