// `cableway doctor`: diagnoses this host, its node and its cables with tools/cableway/doctor.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_DOCTOR_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_DOCTOR_H_

#include <memory>

#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> doctor_verb();

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_DOCTOR_H_
