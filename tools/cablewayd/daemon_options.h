// The command line of cablewayd, which its manual page lists, too.
#ifndef CABLEWAY_TOOLS_CABLEWAYD_DAEMON_OPTIONS_H_
#define CABLEWAY_TOOLS_CABLEWAYD_DAEMON_OPTIONS_H_

#include <vector>

#include "core/settings/settings.h"
#include "routing/text/exit_meaning.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}

namespace cableway {

struct DaemonOptions {
  bool session = false;
  bool check_config = false;
  bool sample_config = false;
  bool json = false;
  int ready_fd = -1;
  std::vector<GivenSetting> given;  // settings, in the order of the arguments
};

std::vector<routing::ExitMeaning> daemon_exit_statuses();

// Describes the program and its options to `app`, which stores what it parses in `options`.
void add_options(CLI::App& app, DaemonOptions& options);

}  // namespace cableway

#endif  // CABLEWAY_TOOLS_CABLEWAYD_DAEMON_OPTIONS_H_
