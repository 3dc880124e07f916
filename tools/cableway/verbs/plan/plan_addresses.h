// `cableway plan addresses`: addresses, cabling list and expected topology of a cluster of direct cables.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_ADDRESSES_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_ADDRESSES_H_

#include <memory>

#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> plan_addresses_verb();

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_ADDRESSES_H_
