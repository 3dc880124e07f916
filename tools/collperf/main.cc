#include <variant>

#include "tools/collperf/options.h"
#include "tools/collperf/rank_run.h"

int main(int argc, char** argv) {
  const std::variant<cableway::collperf::Options, int> parsed = cableway::collperf::parse_options(argc, argv);
  if (const int* const status = std::get_if<int>(&parsed)) return *status;
  return cableway::collperf::RankRun(std::get<cableway::collperf::Options>(parsed)).execute();
}
