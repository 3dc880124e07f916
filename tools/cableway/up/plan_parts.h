// The parts of a plan on this host, by which the journal knows what a step was for.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_PLAN_PARTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_PLAN_PARTS_H_

#include <string>

#include "tools/cableway/up/change.h"
#include "tools/cableway/up/host_plan.h"

namespace cableway::cli {

PlanPart address_part(const PlannedInterface& port);
PlanPart mtu_part(const std::string& interface);
PlanPart state_part(const std::string& interface);  // that it is up
PlanPart file_part(const std::string& path);        // or of a kernel's parameter
PlanPart unit_part();                               // that the unit of addresses is enabled

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_PLAN_PARTS_H_
