// Runs many seeds in several processes: a process that dies or hangs fails only its current seed.
#ifndef CABLEWAY_TOOLS_SIMTEST_CAMPAIGN_H_
#define CABLEWAY_TOOLS_SIMTEST_CAMPAIGN_H_

#include <functional>

#include "tools/simtest/options.h"
#include "tools/simtest/run_report.h"

namespace cableway::simtest {

// `report` is called for every seed when it ends. Progress goes to standard error after two seconds.
Summary run_campaign(const Options& options, const std::function<void(const SimtestReport&)>& report);

}  // namespace cableway::simtest

#endif  // CABLEWAY_TOOLS_SIMTEST_CAMPAIGN_H_
