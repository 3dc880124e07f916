// `cableway up`: sets up this host for its cables, and takes that back.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_UP_UP_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_UP_UP_H_

#include <memory>

#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> up_verb();

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_UP_UP_H_
