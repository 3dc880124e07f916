// The findings of doctor.h and NCCL's settings, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_VIEW_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_VIEW_H_

#include <string>
#include <vector>

#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/facts/nccl_settings.h"
#include "tools/cableway/text/look.h"

namespace cableway::cli {

Severity worst_of(const std::vector<Finding>& findings);

// The worst first, then NCCL's settings and a line of counts.
std::string doctor_text(std::vector<Finding> findings, const NcclSettings& nccl, const Look& look = {});

//   worst          "ok", "info", "warning" or "error"
//   findings       {severity, code, about, what, advice (null where there is none), measured (null without a speed
//                  test)}
//   nccl_settings  {name, value, source, overridden [texts], remark (null where there is none)}
//   nccl_files     those that NCCL reads after the environment, if they exist
std::string doctor_json(const std::vector<Finding>& findings, const NcclSettings& nccl);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_VIEW_H_
