// `cableway drain NAME` and `cableway undrain NAME`: keep paths away from the node here, or from one of its cables, so
// that it can be taken out of use without a pause of any flow; and end that.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_DRAIN_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_DRAIN_H_

#include <memory>

#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> drain_verb();
std::unique_ptr<Verb> undrain_verb();

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_DRAIN_H_
