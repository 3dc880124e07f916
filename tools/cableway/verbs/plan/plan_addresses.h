// `cableway plan addresses`: addresses, cabling list and expected topology of a cluster of direct cables.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_ADDRESSES_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_ADDRESSES_H_

#include <memory>
#include <string>
#include <vector>

#include "tools/cableway/address_plan/plan_files.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> plan_addresses_verb();

//   format, mtu
//   hosts  {node, ports [{interface, plug, address (with its prefix's length), cable, neighbour, neighbour_interface}]}
//   cables {from and to (node, plug, interfaces), subnets}
//   files  {name, text}
// A plug without a name is null.
std::string address_plan_json(const AddressPlan& plan, const std::string& format, int mtu,
                              const std::vector<PlanFile>& files);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_ADDRESSES_H_
