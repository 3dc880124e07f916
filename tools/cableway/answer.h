// Finds what a request asks for: from a node, a file and the host, in the words of the views.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ANSWER_H_
#define CABLEWAY_TOOLS_CABLEWAY_ANSWER_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/settings/settings.h"
#include "tools/cableway/command_line.h"
#include "tools/cableway/request.h"

namespace cableway::cli {

struct Answer {
  std::string text;
  int exit_status = kDone;
  std::vector<std::string> remarks = {};  // for people, beside the text
};

// NotFound: no node runs here; DeadlineExceeded: it has not answered; other errors: see kFailed.
// While it takes long, `err` is told how far it is.
absl::StatusOr<Answer> find_answer(const Request& request, const Settings& settings, const Surroundings& surroundings,
                                   std::ostream& err);

// Of an error of find_answer().
int exit_status_of(const absl::Status& status);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ANSWER_H_
