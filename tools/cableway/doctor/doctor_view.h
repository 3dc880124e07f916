// The findings of doctor.h, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_VIEW_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_VIEW_H_

#include <string>
#include <vector>

#include "tools/cableway/doctor/doctor.h"

namespace cableway::cli {

Severity worst_of(const std::vector<Finding>& findings);

// The worst first, each with its advice, then a line of counts.
std::string doctor_text(std::vector<Finding> findings);

//   worst     "ok", "info", "warning" or "error"
//   findings  {severity, code, about, what, advice (null where there is none)}
std::string doctor_json(const std::vector<Finding>& findings);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_VIEW_H_
