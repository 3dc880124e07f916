// Members of a node's answer as texts of tables and lines; "-" for what is not known. They throw Json::exception where
// a member is missing or of another type.
#ifndef CABLEWAY_TOOLS_CABLEWAY_NODE_ANSWER_TEXT_H_
#define CABLEWAY_TOOLS_CABLEWAY_NODE_ANSWER_TEXT_H_

#include <string>

#include "tools/cableway/text/json.h"

namespace cableway::cli {

// Of Mbit/s, with its unit: "10 Gbit/s"
std::string rate_or_dash(const Json& object, const char* name);
// The member "mbps", of what moves now, without a unit: "93.4"
std::string mbps_or_dash(const Json& carried);

// For how long a problem (docs/cli.md, `status`) has been there: "for 1 min 01 s"; "" where that is not known.
std::string problem_age(const Json& problem);
// Its text, with the age in brackets.
std::string problem_text(const Json& problem);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_ANSWER_TEXT_H_
