// A mix in file form: text that parse_mix() parses back to an equal mix.
#ifndef CABLEWAY_TESTS_SIM_WORKLOAD_MIX_TEXT_H_
#define CABLEWAY_TESTS_SIM_WORKLOAD_MIX_TEXT_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/workload/mix_file.h"
#include "sim/workload/workload_text.h"

namespace cableway::workload::test {

inline std::string to_mix_file(const Mix& mix) {
  std::string text;
  for (const MixGroup& group : mix.groups) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", "[[group]]\nname = \"", group.name, "\"\nranks = [\n  ",
                    absl::StrJoin(group.ranks, ",\n  "), "]\nworkload = \"", workload_text(group.workload), "\"\n");
    if (group.repeat != 1) absl::StrAppend(&text, "repeat = ", group.repeat, "\n");
    if (group.after.empty()) continue;
    absl::StrAppend(&text, "after = [");
    for (const std::size_t place : group.after) absl::StrAppend(&text, "\n  \"", mix.groups[place].name, "\",");
    absl::StrAppend(&text, "]\n");
  }
  return text;
}

}  // namespace cableway::workload::test

#endif  // CABLEWAY_TESTS_SIM_WORKLOAD_MIX_TEXT_H_
