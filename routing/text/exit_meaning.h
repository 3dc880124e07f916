// The exit statuses of a program, as its --help and its manual page list them.
#ifndef CABLEWAY_ROUTING_TEXT_EXIT_MEANING_H_
#define CABLEWAY_ROUTING_TEXT_EXIT_MEANING_H_

#include <string>
#include <vector>

namespace cableway::routing {

struct ExitMeaning {
  int status;
  std::string meaning;
};

// "Exit status: 0 success; 1 failure."; empty if there are none.
std::string exit_line(const std::vector<ExitMeaning>& statuses);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_EXIT_MEANING_H_
