// A plan as JSON: the view of `cableway plan addresses --json`, and a file of the plan's folder that `cableway up`
// reads.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLAN_RECORD_H_
#define CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLAN_RECORD_H_

#include <string>
#include <vector>

#include "tools/cableway/address_plan/plan_files.h"

namespace cableway::cli {

inline constexpr char kPlanRecordFile[] = "addresses.json";

//   format, mtu
//   tuner  the value of the setting that fits the plan on all hosts (expectation/fitting_tuner.h); null: none
//   hosts  {node, ports [{interface, plug, address (with its prefix's length), cable, neighbour, neighbour_interface}]}
//   cables {from and to (node, plug, interfaces), subnets}
//   files  {name, text}
// A plug without a name is null.
std::string address_plan_json(const AddressPlan& plan, const std::string& format, int mtu,
                              const std::vector<PlanFile>& files);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLAN_RECORD_H_
