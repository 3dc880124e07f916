// The value of the setting `tuner` that fits a cabling: it has to be the same on all hosts of a job.
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_FITTING_TUNER_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_FITTING_TUNER_H_

#include <optional>
#include <string>

#include "core/settings/settings.h"
#include "routing/topology/topology.h"

namespace cableway::cli {

//   kSparks  a ring whose cables join plugs of two functions each; three hosts cabled to each other are a ring
//   kRing    a ring whose cables join one port each
//   kLine    a line, whatever its plugs
//   kMesh    a cable between any two of four hosts or more
// nullopt: none of these, as other shapes, other numbers of hosts, a switch, rings with several cables between two
// hosts or different plugs, and a topology with a cable that is not in use now: its shape without that cable is not its
// cabling. Pure.
std::optional<TunerSetting> fitting_tuner(const routing::Topology& topology);

// "sparks"
std::string tuner_name(TunerSetting tuner);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_FITTING_TUNER_H_
