// One step of `cableway up`, as data: what is shown, and what is done.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_CHANGE_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_CHANGE_H_

#include <string>
#include <variant>
#include <vector>

#include "tools/cableway/system/host_root.h"

namespace cableway::cli {

struct ChangeRow {
  std::string what;
  std::string is;
  std::string would_be;
};

struct FileChange {
  std::string path;
  HostFile wanted;
};

// Of a kernel's parameter.
struct ValueChange {
  std::string path;
  std::string wanted;
};

struct CommandChange {
  std::vector<std::string> run;   // empty: nothing is run now; the step is there for its `undo`
  std::vector<std::string> undo;  // empty: nothing is to be taken back
  bool starts_node = false;       // which then has read the settings
};

// Steps are taken in their order and taken back in the opposite one. So what has to follow the restoring of a file is
// the `undo` of a step before that file's.
struct Change {
  std::vector<ChangeRow> rows;  // none: the step belongs to another one
  std::variant<FileChange, ValueChange, CommandChange> action;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_CHANGE_H_
