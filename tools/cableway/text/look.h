// How text for a terminal looks: its colours, its names for cables, and the width of its prose.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_LOOK_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_LOOK_H_

#include <cstddef>
#include <string>

#include "routing/topology/short_cable_names.h"
#include "tools/cableway/text/paint.h"
#include "tools/cableway/text/prose.h"

namespace cableway::cli {

struct Look {
  Paint paint = Paint();
  const routing::ShortCableNames* names = nullptr;  // null: the topology is not known, cables have their full names

  std::size_t columns = kProseColumns;  // of prose; tables have their own width

  std::string cable(const std::string& full) const { return names == nullptr ? full : names->of_name(full); }
  // A text with its full names of cables as tables have them.
  std::string prose(const std::string& text) const { return names == nullptr ? text : names->in_text(text); }
  // The same in lines that fit, as prose_lines().
  std::string lines(const std::string& lead, const std::string& text) const {
    return prose_lines(lead, prose(text), columns);
  }
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_LOOK_H_
