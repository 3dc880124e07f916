// Findings about NCCL's settings that keep a job from using the plugin, or from filling its cables.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_NCCL_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_NCCL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nccl_adapter/preset/least_channels.h"
#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/facts/nccl_settings.h"

namespace cableway::cli {

// A variable of NCCL's that limits the number of a job's flows, and the least value with which these fill both
// functions of a plug.
struct FlowLimit {
  const char* name;
  int least;
  bool is_minimum;  // `cableway env` sets it; the others are maxima, not set by default
};

// For the rate of one cable NCCL opens one or two channels, each with one flow to a neighbour, and a flow sends over
// one path at a time while it carries little, or with CABLEWAY_MULTIPATH=off. To fill both functions takes four
// channels. Sends and receives use two flows to a peer, and from nine ranks on only one, unless
// NCCL_NCHANNELS_PER_NET_PEER is set (ncclTopoGetNchannels in NCCL's graph/paths.cc). Between the opposite nodes of a
// ring there are two ways round with two functions each, so four flows. Four channels also share equal paths more
// evenly than two (docs/benchmarks.md, all_gather by PAT); over its own sockets, with a device for each interface,
// NCCL opens as many by itself.
inline constexpr FlowLimit kFlowLimits[] = {{nccl::kLeastChannelsVariable, nccl::kLeastChannels, true},
                                            {"NCCL_MAX_NCHANNELS", 4, false},
                                            {"NCCL_MAX_CTAS", 4, false},
                                            {"NCCL_MAX_P2P_NCHANNELS", 4, false},
                                            {"NCCL_NCHANNELS_PER_NET_PEER", 4, true}};

// The number that NCCL reads from a setting's value: the one it begins with, decimal, octal or hexadecimal, else 0.
// nullopt if it does not fit: NCCL then keeps its default.
std::optional<std::int64_t> nccl_number(const std::string& value);

// The setting if NCCL reads a number lower than the limit's least value from it, else nullptr.
const NcclSetting* find_too_low(const NcclSettings& nccl, const FlowLimit& limit);

// Whether two of `ports`, as in core/view/ports_view.h, are functions of one plug.
bool has_split_plug(const Json& ports);

std::vector<Finding> examine_nccl(const NcclSettings& nccl, bool has_split_plug);

// A remark for the setting's line; usually empty.
std::string remark_on(const NcclSetting& setting);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_NCCL_H_
