// Many seeds, in several processes: one that dies or hangs costs its own seed and says which.
#ifndef CABLEWAY_TOOLS_SIMTEST_CAMPAIGN_H_
#define CABLEWAY_TOOLS_SIMTEST_CAMPAIGN_H_

#include <functional>

#include "tools/simtest/options.h"
#include "tools/simtest/run_report.h"

namespace cableway::simtest {

// `report` is called for every seed as it ends. Progress goes to standard error from the second second on.
Summary run_campaign(const Options& options, const std::function<void(const SimtestReport&)>& report);

}  // namespace cableway::simtest

#endif  // CABLEWAY_TOOLS_SIMTEST_CAMPAIGN_H_
