#include <variant>

#include "tools/collperf/launch/launch.h"
#include "tools/collperf/launch/starter_watch.h"
#include "tools/collperf/options.h"
#include "tools/collperf/rank_run.h"

int main(int argc, char** argv) {
  using cableway::collperf::Options;
  const std::variant<Options, int> parsed = cableway::collperf::parse_options(argc, argv);
  if (const int* const status = std::get_if<int>(&parsed)) return *status;
  const Options& options = std::get<Options>(parsed);
  if (options.launched) cableway::collperf::follow_starter();
  if (options.place.hosts.empty() && options.place.local_ranks == 1) {
    return cableway::collperf::RankRun(options).execute();
  }
  return cableway::collperf::launch(
      {.place = options.place,
       .program = {},
       .arguments = options.arguments,
       .ssh = options.ssh,
       .directory = {},
       .environment = {}},
      {.start = options.timeout, .after_failure = options.peer_grace + std::chrono::seconds(5)});
}
