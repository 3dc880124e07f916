// Findings about NCCL's settings that keep a job from using the plugin, or from filling its cables.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_NCCL_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_NCCL_H_

#include <vector>

#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/nccl_settings.h"

namespace cableway::cli {

// For one cable's rate NCCL opens two channels, each with one flow to a neighbour and so with one path. With four, the
// flows fill both functions of a plug.
inline constexpr int kChannelsOfSplitPlugs = 4;

// Whether two of `ports`, as in core/view/ports_view.h, are functions of one plug.
bool has_split_plug(const Json& ports);

std::vector<Finding> examine_nccl(const NcclSettings& nccl, bool has_split_plug);

// A remark for the setting's line; usually empty.
std::string remark_on(const NcclSetting& setting);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_NCCL_H_
