// The cabling for which a process's tuner chooses, and the mark of it that ranks compare.
//
// NCCL hangs if ranks choose different algorithms. So each listen handle carries its process's mark, and a connect to
// another mark is refused.
#ifndef CABLEWAY_NCCL_ADAPTER_ALGORITHM_TUNER_CABLING_H_
#define CABLEWAY_NCCL_ADAPTER_ALGORITHM_TUNER_CABLING_H_

#include <string>

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/settings/settings.h"

namespace cableway::nccl {

// `has_ids`: NCCL names its communicators to the tuner (NCCL 2.28, version 5). Before that the tuner cannot tell which
// of a process's communicators use Cableway, and another choice on one rank is a hang: so it chooses only if the
// setting is given, in a job whose NCCL_NET (`net`, may be null) does not name another network.
TunerSetting tuner_cabling(const Settings& settings, bool has_ids, const char* net);

// Equal marks: equal choices. All zeros for kOff, as in handles of a Cableway without a tuner.
TunerMark tuner_mark(TunerSetting cabling);

// FailedPrecondition: the process of `node` chooses otherwise than one with `own`; says what to set.
absl::Status check_tuner_mark(const TunerMark& own, const TunerMark& peer, const std::string& node);

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_ALGORITHM_TUNER_CABLING_H_
