// What an earlier plan has set on this host, and a later one does not have.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_EARLIER_PLAN_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_EARLIER_PLAN_H_

#include "tools/cableway/up/up_changes.h"
#include "tools/cableway/up/up_facts.h"

namespace cableway::cli {

// Adds the steps that take it back, as --undo would. What was changed since by other means stays, with a remark. Pure.
void add_earlier_plan(const HostPlan& plan, const UpFacts& facts, UpChanges& all);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_EARLIER_PLAN_H_
