// What a picture of a topology marks: its difference from an expected one, or from what it was.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_PICTURE_MARKS_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_PICTURE_MARKS_H_

#include <map>
#include <string>

#include "tools/cableway/picture/node_look.h"

namespace cableway::cli {

struct CableMark {
  // kMissing: expected, but not there; kGone: was there (gone_drawing.h); both are drawn dashed. The last two are of
  // drawable_topology.h.
  enum class Kind { kWrong, kMissing, kGone, kUnused, kSwitchPort };
  Kind kind = Kind::kWrong;
  std::string label;       // "missing", "wrong plug"
  std::string about = {};  // of the last three kinds: all of its properties

  bool is_missing() const { return kind == Kind::kMissing || kind == Kind::kGone; }
};

struct PictureMarks {
  std::map<std::string, CableMark> cables;  // by name; others are as expected
  std::map<std::string, NodeLook> looks;    // by name, of every node
  std::string remark;                       // "2 differences from expected.toml"; empty: no topology is expected
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_PICTURE_MARKS_H_
