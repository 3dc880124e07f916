// Words as a POSIX shell reads them.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_SHELL_TEXT_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_SHELL_TEXT_H_

#include <string>

namespace cableway::cli {

// The word itself if it has no character special to a shell, else in single quotes.
std::string shell_quoted(const std::string& word);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_SHELL_TEXT_H_
