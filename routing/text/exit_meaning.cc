#include "routing/text/exit_meaning.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway::routing {

std::string exit_line(const std::vector<ExitMeaning>& statuses) {
  const auto format = [](std::string* text, const ExitMeaning& each) {
    absl::StrAppend(text, each.status, " ", each.meaning);
  };
  return statuses.empty() ? "" : absl::StrCat("Exit status: ", absl::StrJoin(statuses, "; ", format), ".");
}

}  // namespace cableway::routing
