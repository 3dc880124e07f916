// A finding of doctor as text.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FINDING_LINES_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FINDING_LINES_H_

#include <string>

#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/text/look.h"

namespace cableway::cli {

// What was found and its code, then its advice, in lines that fit.
std::string finding_lines(const Finding& finding, const Look& look);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FINDING_LINES_H_
