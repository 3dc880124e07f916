// The comparison of a found topology with an expected one, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_DIFFERENCE_VIEW_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_DIFFERENCE_VIEW_H_

#include <string>

#include "tools/cableway/expectation/comparison.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/look.h"

namespace cableway::cli {

// "expected (plan/expected.toml): 2 differences", and for each what is wrong and what to do.
std::string differences_text(const std::string& file, const Comparison& comparison, const Look& look = {});

//   file         as it was given
//   by           "interface", or "nodes" where only numbers of cables between nodes were compared
//   differences  {kind, about, what, advice, nodes, found_cables and expected_cables (names)}
Json differences_json(const std::string& file, const Comparison& comparison);

// "no difference", "1 difference", "2 differences"
std::string difference_count(const Comparison& comparison);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_DIFFERENCE_VIEW_H_
