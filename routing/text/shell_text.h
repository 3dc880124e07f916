// Words as a POSIX shell reads them.
#ifndef CABLEWAY_ROUTING_TEXT_SHELL_TEXT_H_
#define CABLEWAY_ROUTING_TEXT_SHELL_TEXT_H_

#include <string>

namespace cableway::routing {

// The word itself if it has no character special to a shell, else in single quotes.
std::string shell_quoted(const std::string& word);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_SHELL_TEXT_H_
