// All verbs of `cableway`, in the order in which --help lists them.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERB_TABLE_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERB_TABLE_H_

#include <memory>
#include <vector>

#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::vector<std::unique_ptr<Verb>> all_verbs();

// The groups of the verbs whose names have two words.
std::vector<CommandGroup> verb_groups();

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERB_TABLE_H_
