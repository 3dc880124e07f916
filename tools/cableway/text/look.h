// How text for a terminal looks: its colours, and its names for cables.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_LOOK_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_LOOK_H_

#include <string>

#include "routing/topology/short_cable_names.h"
#include "tools/cableway/text/paint.h"

namespace cableway::cli {

struct Look {
  Paint paint = Paint();
  const routing::ShortCableNames* names = nullptr;  // null: the topology is not known, cables have their full names

  std::string cable(const std::string& full) const { return names == nullptr ? full : names->of_name(full); }
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_LOOK_H_
