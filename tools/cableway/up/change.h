// One step of `cableway up`, as data: what is shown, and what is done.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_CHANGE_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_CHANGE_H_

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "tools/cableway/system/host_root.h"

namespace cableway::cli {

struct ChangeRow {
  std::string what;
  std::string is;
  std::string would_be;

  friend bool operator==(const ChangeRow&, const ChangeRow&) = default;
};

struct FileChange {
  std::string path;
  HostFile wanted;

  friend bool operator==(const FileChange&, const FileChange&) = default;
};

// Of a kernel's parameter.
struct ValueChange {
  std::string path;
  std::string wanted;

  friend bool operator==(const ValueChange&, const ValueChange&) = default;
};

struct CommandChange {
  std::vector<std::string> run;   // empty: nothing is run now; the step is there for its `undo`
  std::vector<std::string> undo;  // empty: nothing is to be taken back
  bool starts_node = false;       // which then has read the settings

  friend bool operator==(const CommandChange&, const CommandChange&) = default;
};

// Takes back one record of the journal, of an earlier plan.
struct TakenBack {
  std::size_t record = 0;  // its place in the journal
  bool is_there = false;   // else there is nothing left of the step, and the record alone goes

  friend bool operator==(const TakenBack&, const TakenBack&) = default;
};

// What of a plan a step is for. A later plan without it takes the step back (up/earlier_plan.h).
struct PlanPart {
  std::string name = {};       // "address 10.10.0.1/24 of eth1"; empty: the step is of no plan
  std::string interface = {};  // of commands: the one that their `undo` names
  std::string address = {};    // likewise

  friend bool operator==(const PlanPart&, const PlanPart&) = default;
};

// Steps are taken in their order and taken back in the opposite one. So what has to follow the restoring of a file is
// the `undo` of a step before that file's.
struct Change {
  std::vector<ChangeRow> rows;  // none: the step belongs to another one
  std::variant<FileChange, ValueChange, CommandChange, TakenBack> action;
  PlanPart part = {};

  friend bool operator==(const Change&, const Change&) = default;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_CHANGE_H_
